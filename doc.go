// Package partnerkit opens an accounting backend to partner apps: an OAuth 2.0
// server, calls made with its tokens, events and webhooks, limits, app data and
// a developer console, as packages that plug into a host which has its own
// users, sessions, businesses and database.
//
// # Packages
//
// Each package works without the assembly. Imports point down only; a test checks this.
// The lowest layer:
//
//   - [github.com/partnerkit/partnerkit/apierror]: the two error shapes, every
//     code, handlers that return errors, request bodies
//   - [github.com/partnerkit/partnerkit/ratelimit]: fixed windows, lockouts,
//     client addresses; in memory, or in Redis with
//     [github.com/partnerkit/partnerkit/ratelimit/redislimit]
//   - [github.com/partnerkit/partnerkit/identity]: who makes a call, and the
//     catalog of scopes
//   - [github.com/partnerkit/partnerkit/theme] and
//     [github.com/partnerkit/partnerkit/locale]: the brand and the languages of pages
//   - [github.com/partnerkit/partnerkit/keyring]: the host's keys, which encrypt
//     secrets in the database
//   - [github.com/partnerkit/partnerkit/clock]: time that tests can move
//   - [github.com/partnerkit/partnerkit/storage]: the contract between features
//     and a database
//   - [github.com/partnerkit/partnerkit/webhooks/signature]: signing webhooks
//     and verifying them in a receiver
//
// The features, and above them the databases:
//
//   - [github.com/partnerkit/partnerkit/oauthserver]: apps, installations,
//     consents, every grant and endpoint, the pages of consent
//   - [github.com/partnerkit/partnerkit/guard]: calls made with a token: what is
//     open to apps, by scope and permission; limits; versions; writes that are
//     safe to repeat
//   - [github.com/partnerkit/partnerkit/events]: the event catalog,
//     recording in a host's transaction, the Events API, notifications
//   - [github.com/partnerkit/partnerkit/appdata]: what apps attach to records
//   - [github.com/partnerkit/partnerkit/webhooks]: sending events to apps, by
//     deliveries that survive crashes
//   - [github.com/partnerkit/partnerkit/analytics]: how apps use the API
//   - [github.com/partnerkit/partnerkit/console]: the developer console,
//     as JSON and, in [github.com/partnerkit/partnerkit/console/pages], as
//     pages
//   - [github.com/partnerkit/partnerkit/operator]: the side of the platform's own
//     staff, as JSON and, in [github.com/partnerkit/partnerkit/operator/pages], as
//     pages
//   - [github.com/partnerkit/partnerkit/storage/sqlite]: one file, one process
//   - [github.com/partnerkit/partnerkit/storage/postgres]: any number of
//     processes
//   - [github.com/partnerkit/partnerkit/storage/sqlstore]: the SQL of both
//   - [github.com/partnerkit/partnerkit/storage/storetest]: certifies a
//     [Store], and [github.com/partnerkit/partnerkit/storage/racetest],
//     which explores its races
//
// For tests of a host there is
// [github.com/partnerkit/partnerkit/partnertest], which runs a platform with a manual
// clock, connected apps and a webhook receiver.
//
// # Guarantees
//
// Of any number of requests that present the same code or refresh token, exactly one
// receives tokens: a single conditional statement in the database selects the winner.
//
// Writes of the library can join a host's transaction, and a rejection never aborts that
// transaction.
//
// When storage fails, the response is a 5xx and no change is left incomplete.
package partnerkit
