// Package oauthserver is an OAuth 2.0 authorization server for partner apps that
// act in one business at a time: the user who consents decides in which.
//
// A host gives it a [Store], says through [Host] who is signed in and which
// businesses they belong to, and mounts two handlers: [Server.APIHandler] on the
// host that apps talk to, [Server.AppHandler] on the one that people see.
// [Server.Run] cleans up. Ending things is a library call each: [Server.Uninstall],
// [Server.RevokeAccess], [Server.RevokeConsent], [Server.SetAppStatus],
// [Server.SetUserStatus].
//
// # What hangs on what
//
// An [App] is installed in a business ([Installation]), where users consent
// ([Grant]). Codes and token families hang on a grant, tokens on a family. Ending
// one of these marks that row and nothing else: every redemption, refresh, poll,
// verification and introspection judges by all that is above, so that nothing
// outlives what it hangs on, and nobody has to go through tokens.
//
// # Who wins
//
// Of any number of requests for the same code, refresh token, device code or
// session token one gets tokens. The Store decides, in one transaction with one
// conditional write; see its methods for what happens to the others.
//
// # Standards
//
// RFC 6749, 6750, 7009, 7591, 7636 (S256 only), 7662, 8414, 8628, 8693 in part,
// 8707, 9700, 9728, and client id metadata documents.
package oauthserver
