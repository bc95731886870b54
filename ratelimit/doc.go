// Package ratelimit decides whether a request is allowed: fixed windows that
// count requests, lockouts that count failures, the headers that inform the
// client, and the address a client is counted under.
//
// # One call a request
//
// A request is counted by several limits at once (by its address, by its
// address and client, …) and may be locked out. All of that is one [Request]
// and one call of [Limiter.Check], which counts the request and returns a [Result].
// Every request counts, even one that a counter or a lockout refuses.
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
// A [Lockout] counts failures that the caller reports with [Limiter.Fail]. Its window is
// any time of that length, wherever it begins, so each failure counts for exactly that long.
// The failure that exceeds the rule still
// gets the response of a failure; from then on Check rejects requests until the
// lockout has ended. Rejected requests do not extend it, and afterwards the
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
// Limiter should pass; [Decide], [Counter.Window] and the Validate methods help
// to implement one.
package ratelimit
