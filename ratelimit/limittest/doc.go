// Package limittest is the suite that every ratelimit.Limiter must pass. Call Run
// from a test of the implementation:
//
//	func TestLimiter(t *testing.T) {
//		limittest.Run(t, func(t *testing.T) ratelimit.Limiter { return newLimiter(t) })
//	}
package limittest
