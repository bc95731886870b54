// Package guard stands in front of a host's handlers and opens some of them to
// partner apps. A [Surface] holds the routes that are open, each with a
// declaration of who may call it; everything else stays shut.
//
// # What a handler can rely on
//
// A handler of the surface finds an [identity.Principal] in its context: the app,
// the business, the user, the scopes that hold at this call and the API version to
// answer in. By then the caller has been identified, counted and found to have the
// scope and the permission that the route declares.
//
// # Who calls
//
// An app sends Authorization: Bearer. A person has a session cookie, which is the
// host's; their requests go on to the host's own handler ([Config.Fallback]),
// unless a route says otherwise. Beside a bearer token a cookie counts for nothing,
// also when the token is not valid.
//
// # Counting
//
// Calls with a token count for the app in the business and for the app as a whole,
// and their answers carry the RateLimit headers, whatever the answer is. Everything
// else counts for its address.
//
// # Repeating
//
// [Idempotency] makes writes safe to repeat: a handler that calls [Answer] in the
// transaction of its write does the work once, whatever happens in between.
package guard
