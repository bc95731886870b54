// Package console is the developer console: partner developers manage their apps, client
// secrets, webhooks and deliveries, declared fields, listings, extensions and functions, and
// read the analytics and the audit log of their apps.
//
// A [Console] has typed methods, which pages call, and serves the same methods as JSON
// ([Console.ServeHTTP]). Every method takes an [Actor]. Only authentication creates an Actor, so
// every call is checked against the organizations of a user. An app of another organization is
// not found, exactly like an app that does not exist. A Console starts no goroutines and needs
// no closing.
//
// # Sessions
//
// For each request the host returns the session of the user and the organizations that the user
// is a member of ([Host]). Access tokens of apps are not accepted. A write with a session must
// come from a page of [Config.Origins], or from a client that sends no Origin.
//
// # Console tokens
//
// A member of an organization can create a [consolestore.Token], with which scripts call the JSON for that
// organization. The token acts for the user who created it. It is invalid once it has expired,
// was revoked, or its creator has left the organization. The audit log contains the name of the
// token. It gives no access to pages and cannot create tokens.
//
// # Apps and their secrets
//
// A confidential app has one valid client secret, or two while its developer replaces one. The
// last valid secret cannot be ended. A suspended app can be changed; a deactivated app is
// read-only. Every change of an app, and of what belongs to it, is decided in the transaction of the
// change under the lock of the app.
//
// App, webhook, field and listing have a version that grows with each change. A change that is sent
// with the version it is based on is rejected with CONFLICT if that is not the last one, so that
// two people do not overwrite each other. A change without a version is not checked.
//
// # Listings
//
// An app has one listing with up to two revisions: the live one, which a marketplace shows, and
// the latest one, on which its developers work. The state of the latest revision:
//
//	draft ───── submit ──► submitted ── take ──► in_review ─┬─ approve ─────────► approved
//	                                                        ├─ request changes ─► changes_requested
//	                                                        └─ reject ──────────► rejected
//
//	draft, changes_requested, rejected ── save ──► draft
//	approved ── save ──► draft of a new revision; the approved one stays live
//
// Developers save and submit ([Console.SaveListing], [Console.SubmitListing]); a reviewer takes
// the revision and decides ([Console.ReviewListing]). Any other step is LISTING_STATE_INVALID.
// The first approval completes the review of the app. Images are uploaded as assets and cannot
// be deleted while one of the two revisions shows them.
//
// # Extensions and functions
//
// An extension is a page on the origin of the App URL that belongs to a type of record which the
// app may read. A function is source code that a developer uploads. [Options.FunctionChecker]
// accepts or rejects it. The console stores functions; running them is up to the host.
//
// # The audit log
//
// Each change by an actor is recorded in the audit log of the app; the change and its entry
// commit in one transaction. The OAuth server records there the decisions of people about the
// app, such as a consent. Developers see these entries without the name of the person. The OAuth
// server also deletes entries that are older than the retention of the audit log.
//
// # Files
//
// A noun has a file with its typed methods, such as deliveries.go, and a file with its routes and
// JSON, such as deliveries_api.go. They are one package because both are methods of a Console:
// a route is closed unless a method decides about the actor.
package console
