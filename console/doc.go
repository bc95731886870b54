// Package console is where partner developers look after their apps: credentials,
// webhooks and their deliveries, declared fields, the listing, what extends the
// service, how the app is used, and who did what.
//
// A [Console] has typed methods, which a host's pages call, and serves the same as
// JSON ([Console.ServeHTTP]). Every method takes an [Actor], whom only
// authentication makes, so that none can forget to ask whose app it is: another
// organization's app is not found, and looks like one that does not exist.
//
// # Sessions
//
// The host says who is signed in and which organizations they are members of, once
// a request; an access token opens nothing here. Writes must come from a page of
// [Config.Origins], or from no page at all.
//
// # Console tokens
//
// A member of an organization can create a [Token] with which scripts call the JSON for
// that organization. It acts in the name of its creator, and stops working when it
// expires, is revoked, or its creator leaves the organization. The audit log has its name.
// It opens no page and creates no tokens.
//
// # Apps and their secrets
//
// A confidential app has one valid client secret, or two while its developer moves
// from one to the other; the last one cannot be ended. A suspended app can be changed,
// a deactivated one only be read.
//
// # Listings
//
// An app has one listing, of which a marketplace shows the live revision. Developers
// work on the latest one: they save drafts and submit them, a reviewer answers with
// [Console.ReviewListing], and after an approval the next save begins another revision.
// The first approval completes the review of the app. Images are uploaded as assets,
// and stay as long as either revision shows them.
//
// # Extensions and functions
//
// An extension is a page on the origin of the App URL that belongs to a type of records
// which the app may read. A function is an ES module; it is parsed here, and run by its
// host.
//
// # The audit log
//
// Every change of an actor is in the audit log of the app: the change and its entry
// commit in one transaction. The OAuth server records there what people decide about an
// app elsewhere. Developers see that it happened, and not who did it. The OAuth server
// also deletes entries that are older than audit.Retention.
package console
