// Package ratelimit decides whether a request may go on: fixed windows that
// count requests, lockouts that count failures, the headers that tell the
// client, and the address a client is counted under.
//
// # One call a request
//
// A request is counted by several limits at once (by its address, by its
// address and client, …) and may be locked out. All of that is one [Request]
// and one call of [Limiter.Check], which counts, judges and answers with a
// [Result]. Every request counts, those that are refused too, whatever it was
// that refused them.
//
// # Windows
//
// A [Limit] of 300 a minute means: at most 300 in each window of one minute.
// The windows of a key begin at an offset that is taken from the key, so that
// not all keys start afresh in the same instant; the offset is the same on
// every node and in every implementation. Nothing is remembered of a window
// but its number and its count.
//
// # Lockouts
//
// A [Lockout] counts failures that the caller reports with [Limiter.Fail]. The
// time it looks at runs from the first failure. The failure that exceeds the
// rule is still answered as a failure; from then on Check refuses until the
// lockout has run out. Refused requests do not extend it, and afterwards the
// count starts from zero.
//
// Where an attempt is expensive, or where many at once must not exceed the rule, count
// it in advance: call Fail before the attempt, refuse when its Result does, and call
// [Limiter.Forgive] when the attempt succeeds.
//
// # Time
//
// No clock is read: the caller passes the time in, and it is cut to
// milliseconds. Times may arrive slightly out of order, as they do from
// concurrent requests and from several nodes.
//
// # Implementations
//
// [Memory] serves one process in bounded memory. Package redislimit serves
// several nodes through Redis. Package limittest is the suite that any other
// Limiter should pass; [Decide], [Counter.Window] and the Validate methods are
// there for those who write one.
package ratelimit
