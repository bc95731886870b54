// Package console is where partner developers look after their apps: credentials,
// webhooks and their deliveries, declared fields, the listing, what extends the
// service, how the app is used, and who did what.
//
// A [Console] has typed methods, which a host's pages call, and serves the same as
// JSON ([Console.ServeHTTP]). Every method takes an [Actor], whom only
// authentication makes, so that none can forget to ask whose app it is: another
// organization's app is not found. Whatever an actor changes is in the audit log.
package console
