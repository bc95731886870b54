// Package partnerkit opens an accounting backend to partner apps: an OAuth 2.0
// server, calls made with its tokens, events and webhooks, limits, app data and
// a developer console, as packages that plug into a host which has its own
// users, sessions, businesses and database.
//
// # The map
//
// Imports only go down, which a test checks. On the ground floor, each usable
// by itself:
//
//   - [github.com/partnerkit/partnerkit/apierror]: the two error shapes, every
//     code, handlers that return errors, request bodies
//   - [github.com/partnerkit/partnerkit/ratelimit]: fixed windows, lockouts,
//     client addresses; in memory, or in Redis with
//     [github.com/partnerkit/partnerkit/ratelimit/redislimit]
//   - [github.com/partnerkit/partnerkit/identity]: who makes a call, and the
//     catalog of scopes
//   - [github.com/partnerkit/partnerkit/keyring]: the host's keys, which seal
//     what must not lie open in the database
//   - [github.com/partnerkit/partnerkit/clock]: time that tests can move
//   - [github.com/partnerkit/partnerkit/storage]: the contract between features
//     and a database
//   - [github.com/partnerkit/partnerkit/webhooks/signature]: signing webhooks,
//     and all that their receivers need
//
// Above them stand the features, and above those the databases:
//
//   - [github.com/partnerkit/partnerkit/oauthserver]: apps, installations,
//     consents, every grant and endpoint, the pages of consent
//   - [github.com/partnerkit/partnerkit/guard]: calls made with a token: what is
//     open to apps, by scope and permission; limits; versions; writes that are
//     safe to repeat
//   - [github.com/partnerkit/partnerkit/events]: what apps get to know of: the
//     catalog, recording in a host's transaction, the Events API
//   - [github.com/partnerkit/partnerkit/appdata]: what apps attach to records
//   - [github.com/partnerkit/partnerkit/webhooks]: telling them, by deliveries
//     that survive crashes; [github.com/partnerkit/partnerkit/webhooks/signature]
//     is the receiver's side
//   - [github.com/partnerkit/partnerkit/analytics]: how apps use the API
//   - [github.com/partnerkit/partnerkit/console]: where developers look after their
//     apps, as JSON and, in [github.com/partnerkit/partnerkit/console/pages], as
//     pages
//   - [github.com/partnerkit/partnerkit/storage/sqlite]: one file, one process
//   - [github.com/partnerkit/partnerkit/storage/postgres]: any number of
//     processes
//   - [github.com/partnerkit/partnerkit/storage/sqlstore]: the SQL of both
//   - [github.com/partnerkit/partnerkit/storage/storetest]: the suite that every
//     database passes, and [github.com/partnerkit/partnerkit/storage/racetest],
//     which explores its races
//
// # Three promises
//
// One winner: of any number of requests that race for a code or a token exactly
// one gets it, because the database decides in one conditional statement, and a
// suite proves it on both databases.
//
// No surprises in a host's transaction: what the library writes can join it, and
// a refusal of ours never aborts it.
//
// A fault is a fault: when storage fails, the answer is a 5xx and nothing is
// half-done.
package partnerkit
