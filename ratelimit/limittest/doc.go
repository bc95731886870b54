// Package limittest is the suite that every ratelimit.Limiter must pass. Those
// who write one call Run from a test of theirs:
//
//	func TestLimiter(t *testing.T) {
//		limittest.Run(t, func(t *testing.T) ratelimit.Limiter { return newLimiter(t) })
//	}
package limittest
