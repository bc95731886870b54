// Package guard protects a host's handlers and makes some of them available to
// partner apps. A [Surface] holds the routes that apps may call, each with a
// declaration of its callers; all other requests are rejected.
//
// # What a handler can rely on
//
// A handler of the surface finds an [identity.Principal] in its context: the app,
// the business, the user, the scopes that hold at this call and the API version of the
// response. By then the caller has been identified, counted and found to have the
// scope and the permission that the route declares.
//
// # Who calls
//
// An app sends Authorization: Bearer. A person has the host's session cookie; such requests
// go to the host's own handler ([Config.Fallback]), unless a route is declared for
// sessions. The host's own clients can send a bearer token of the host
// ([Config.ForeignTokens]), which counts like a session. A cookie beside a bearer token is
// ignored, even if the token is invalid.
//
// # Challenges
//
// The 401 of a route and the 403 of a token that lacks its scope say in WWW-Authenticate
// which scope to ask for, and where the metadata of the resource is. Clients of agents read
// the scope there. A handler that checks scopes by itself returns
// apierror.InsufficientScope.New(scope), which has the same challenge.
//
// # Counting
//
// Calls with a token count against the app in the business and against the app as a whole,
// and every response to them has the RateLimit headers. All other calls count against their
// address.
//
// # Repeating
//
// [idempotency.Keys] makes writes safe to repeat: a handler that calls [idempotency.Respond] in the
// transaction of its write does the work once, even after a crash or a lost response.
package guard
