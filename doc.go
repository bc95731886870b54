// Package partnerkit opens an accounting backend to partner apps: an OAuth 2.0 server, a guarded
// API, events and webhooks, rate limits, app data and a developer console. The packages plug
// into a backend that has its own users, sessions, businesses and database.
//
// # Terms
//
// The backend is the host. Its users are members of businesses. A partner is an organization
// whose developers create apps. A member of a business connects an app to the business by
// consenting to scopes on a page; the app is then installed in the business, and receives tokens
// to call the API and webhooks about events. Operators are the host's own staff, who review and
// suspend apps.
//
// A [Platform] serves two hosts with different origins: [Platform.API] is called by apps, and
// [Platform.App] shows pages to people.
//
// # Lifecycle
//
// A program opens a store, calls [New], which starts nothing, and calls [Platform.Serve] with a
// server for each of the two handlers. Serve also does the background work. When its context
// ends, it finishes the requests under way, stops that work and returns; the program then closes
// the store. A program that serves by other means calls [Platform.Run] in a goroutine of its own,
// and ends the context of Run after its servers have shut down. Both run the Run method of the
// store, if it has one.
//
// # Packages
//
// Each package can be used without this one. Imports point down only; a test checks this. The
// lowest layer:
//
//   - [github.com/partnerkit/partnerkit/apierror]: both error shapes, all error codes, handlers
//     that return errors
//   - [github.com/partnerkit/partnerkit/ratelimit]: fixed windows, lockouts, client addresses;
//     in memory, or in Redis with [github.com/partnerkit/partnerkit/ratelimit/redislimit]
//   - [github.com/partnerkit/partnerkit/identity]: the caller of a request, and the catalog of
//     scopes
//   - [github.com/partnerkit/partnerkit/theme] and
//     [github.com/partnerkit/partnerkit/locale]: the brand and the languages of pages
//   - [github.com/partnerkit/partnerkit/keyring]: encryption of secrets in the database
//   - [github.com/partnerkit/partnerkit/clock]: a clock that tests can move
//   - [github.com/partnerkit/partnerkit/optional]: members of a change that can be left out
//   - [github.com/partnerkit/partnerkit/storage]: the contract between features and a database
//   - [github.com/partnerkit/partnerkit/webhooks/signature]: signing webhooks and verifying them
//     in a receiver
//
// The records, which features, hosts and stores share:
//
//   - [github.com/partnerkit/partnerkit/partner]: apps, installations, events, webhooks and
//     deliveries
//   - [github.com/partnerkit/partnerkit/audit]: the entries of the audit log
//   - oauthserver/oauthstore, idempotency/keystore, events/eventstore, webhooks/webhookstore,
//     analytics/callstore, appdata/valuestore and console/consolestore: what each feature asks of
//     a [Store]
//
// The features, and above them the databases:
//
//   - [github.com/partnerkit/partnerkit/oauthserver]: apps, installations, consents, tokens, all
//     grants and endpoints. Default pages: [github.com/partnerkit/partnerkit/oauthserver/pages]
//   - [github.com/partnerkit/partnerkit/guard]: routes for apps, with scopes, permissions,
//     limits and API versions
//   - [github.com/partnerkit/partnerkit/idempotency]: writes that are safe to repeat
//   - [github.com/partnerkit/partnerkit/events]: the event catalog, recording in a host's
//     transaction, the Events API, notifications.
//     [github.com/partnerkit/partnerkit/events/schemacheck] checks the data of events
//   - [github.com/partnerkit/partnerkit/appdata]: values that apps attach to records
//   - [github.com/partnerkit/partnerkit/webhooks]: deliveries of events to apps
//   - [github.com/partnerkit/partnerkit/analytics]: counts of API calls
//   - [github.com/partnerkit/partnerkit/console]: the developer console, as JSON and, in
//     [github.com/partnerkit/partnerkit/console/pages], as pages.
//     [github.com/partnerkit/partnerkit/console/jscheck] checks uploaded functions
//   - [github.com/partnerkit/partnerkit/operator]: the operators' side, as JSON and, in
//     [github.com/partnerkit/partnerkit/operator/pages], as pages
//   - [github.com/partnerkit/partnerkit/storage/sqlite]: one file, one process
//   - [github.com/partnerkit/partnerkit/storage/postgres]: any number of processes
//   - [github.com/partnerkit/partnerkit/storage/sqlstore]: the SQL of both
//   - [github.com/partnerkit/partnerkit/storage/storetest]: certifies a [Store]
//
// [github.com/partnerkit/partnerkit/partnertest] runs a platform inside the tests of a host, with
// a manual clock, connected apps and a webhook receiver.
// [github.com/partnerkit/partnerkit/sandbox] makes a program of a host's platform, for the
// laptops and the tests of its partners.
//
// # Guarantees
//
// If any number of requests present the same code or refresh token, exactly one receives tokens:
// a single conditional statement in the database selects the winner.
//
// Writes of the library can join a host's transaction, and a rejected operation never aborts
// that transaction.
//
// When storage fails, the response is a 5xx and no change is left incomplete.
package partnerkit
