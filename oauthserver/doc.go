// Package oauthserver is an OAuth 2.0 authorization server for partner apps. An app acts in
// one business at a time, and the user who consents chooses the business.
//
// A host gives the server an [oauthstore.Store], tells it through [Host] who is signed in and which
// businesses a user belongs to, and mounts two handlers: [Server.APIHandler] on the host that
// apps call, and [Server.AppHandler] on the host that people visit. [Server.Run] does the
// periodic work. Access ends by library calls: [Server.Uninstall], [Server.RevokeAccess],
// [Server.RevokeConsent], [Server.SetAppStatus] and [Server.SetUserStatus]. What people see are
// the pages of package oauthserver/pages, or a host's own.
//
// # Model
//
// Each of these belongs to the one above it:
//
//	App                      one client_id for all businesses
//	└─ Installation          the app in one business
//	   └─ Grant              the consent of one user
//	      ├─ Code            an authorization code
//	      └─ token family    all tokens from one approval
//	         ├─ RefreshToken replaced at each refresh
//	         └─ AccessToken
//
// A device code joins a grant when it is approved. A token from token exchange belongs to the
// installation directly and needs no consent. The approval of a custom connection is a grant
// without a user; its access tokens have no family ([Options].CustomConnections).
//
// An installation, a grant, a family or a token is valid while it has not ended and everything
// above it is valid. Ending one of them marks its own row. Every redemption, refresh, poll,
// verification and introspection reads the rows above ([oauthstore.Standing]), so revocation takes effect
// on the next request. Nothing that has ended becomes valid again: connecting an app again
// creates new rows.
//
// # States
//
// The status of an app, which [Server.SetAppStatus] sets:
//
//	          suspend
//	ACTIVE ◄───────────► SUSPENDED
//	   │    reactivate       │
//	   └── deactivate ───────┴──► DEACTIVATED (final)
//
// The tokens of a suspended app are rejected. When the app is reactivated, tokens that have not
// expired work again. A user who is suspended or restricted has the same effect on the tokens of
// that user ([Server.SetUserStatus]).
//
// The status of an installation:
//
//	                          ┌── Server.Uninstall ────► UNINSTALLED
//	first approval ──► ACTIVE ┤
//	                          └── Server.RevokeAccess ─► ACCESS_REVOKED
//
// Both ends are final and end all tokens of the installation. They differ in the reason that a
// refresh returns. After [Lifetimes].RedactDelay the event business.redact is recorded, unless
// the app was connected again.
//
// A token family. Each refresh creates a new generation, which consists of one refresh token
// and one access token, and ends the generation before:
//
//	approval ──► generation 1 ── refresh ──► generation 2 ── refresh ──► …
//	                  │                           │
//	                  └───────────┬───────────────┘
//	                              ▼
//	   ended: an old refresh token or the code was presented again, the
//	   refresh token was revoked, or something above the family has ended
//
// A family expires with its newest refresh token. [Options].RefreshRetry allows a client that
// lost a response to repeat the last refresh.
//
// A device authorization:
//
//	               allow                first poll
//	PENDING ──┬────────────► APPROVED ────────────► COLLECTED (tokens were issued)
//	          │ deny            │ first poll, but the person may not use the app now,
//	          │                 │ or none of the scopes is allowed now
//	          └────► DENIED ◄───┘
//
// A pending or approved code expires after [Lifetimes].DeviceCode.
//
// invalid_grant is final. A refresh that is refused because of the person or the scopes
// returns access_denied and leaves the refresh token as it was, because the cause may pass.
//
// # Concurrency
//
// If any number of requests present the same code, refresh token, device code or session
// token, exactly one of them receives tokens. The Store selects it with a conditional write in
// one transaction. The methods of Store describe what happens to the other requests.
//
// # Session tokens
//
// A host page that embeds an app gives it a session token: [Server.IssueSessionToken]. The app
// exchanges it for an access token. The signing keys rotate; see [Server.RotateSigningKey].
//
// # Standards
//
// RFC 6749, 6750, 7009, 7591, 7636 (S256 only), 7662, 8414, 8628, 8693 in part, 8707, 9700,
// 9728, and client id metadata documents; by option, RFC 7523 for clients and RFC 9207.
package oauthserver
