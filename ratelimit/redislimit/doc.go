// Package redislimit is a ratelimit.Limiter for several nodes that share one
// Redis, a Sentinel or a Redis Cluster. A check is at most one round trip for all counters and
// lockouts of a request, and so is a failure; a cluster needs more.
//
// # Shared round trips
//
// A limiter has at most four calls for checks in flight. Checks that arrive
// while they run wait for the next call and share it: the busier a node, the
// fewer round trips it makes for each check. One call takes up to 256 keys, since
// Redis does nothing else while a script runs. Config.Timeout bounds the wait and
// the call together. A caller whose context ends returns at once, and the call
// continues for the others; the caller's request may have been counted. The call
// carries the values of one caller's context, so it appears in that caller's trace.
//
// # What is kept
//
// A counter's key in Redis carries the number of its window. A lockout has two keys: when it
// ends, and a list of the times of its failures, no longer than its rule. Both
// hold times of the caller's clock in milliseconds: what has ended is checked
// by the time passed in. Expiry only cleans up. It runs in real time and comes
// after twice the length of the window, so a clock that stands still for
// longer than that loses counts. Keys are digests of fixed length. Give the
// limiter a Redis that does not evict keys which are still needed:
// maxmemory-policy noeviction, or enough memory.
//
// # Sentinel and Redis Cluster
//
// A client made by redis.NewFailoverClient (Sentinel) works like one of a single server. The keys of
// one check lie in different slots of a Redis Cluster. There a check is one round trip for each node
// that holds some of its keys, at the same time. A failure is more: the lockouts are read first,
// and then the failure is counted in one after the other. When a node of the cluster does not respond, the checks
// that share a call with one of its keys count as not answered.
//
// # When Redis does not respond
//
// With FailOpen, the default, the node continues with a limiter in its own
// memory. Each node then counts for itself and starts from zero, so a client
// gets at most one more allowance for each node. Failures are always noted in
// memory as well: a node keeps up the lockouts whose failures it saw itself.
// Those that begin during an outage end with it. With FailClosed, Check and
// Fail return an error that wraps ratelimit.ErrUnavailable.
//
// After three calls in a row that failed, however many shared them, Redis is
// left alone for a second; then one call asks again while the other requests go
// on without, and without waiting.
package redislimit
