// Package sqlstore implements the Store interface of every feature with SQL.
// It contains all SQL of the module, one set of statements for SQLite and PostgreSQL.
// Open a [Store] with storage/sqlite or storage/postgres.
//
// The statements use only SQL that both databases support with the same meaning: $1
// placeholders, TEXT, BIGINT, BOOLEAN, BYTEA, partial indexes, ON CONFLICT, RETURNING.
// Times are stored as Unix milliseconds of the caller's clock, lists as JSON text, ids as
// text. [storage.Dialect] has the few differences, such as row locks.
//
// Each operation runs in its own transaction. storage/sqlite commits concurrent operations
// together, each in a savepoint; this package does not depend on it.
//
// # Parts
//
// Each file has the statements of one noun, and is named after it:
//
//	the ground            store, transact, hints, migrate, backfill, partitions, clock; values, items
//	                      and many are what the other files share
//	apps and connections  apps, secrets, registration, import, assertions, parents, connections,
//	                      takeover, custom, erase, erase_business
//	approvals and tokens  approvals, devices, issue, tokens, janitor
//	API calls             idempotency, limits, analytics, call_groups, requests, uses
//	events                events, plans, news
//	webhooks              webhooks, challenges, health, shards, queue, gates, outcomes, deliveries,
//	                      delivery_list, redeliver, purge
//	app data              fields, appdata, spaces
//	consoles              console, app_events, listings, assets, submissions, operator, extensions,
//	                      functions, console_tokens, audit, owners
//
// It is one package because an operation is one transaction and reaches over parts: uninstalling
// an app ends its tokens, records an event and puts its values out of sight, under locks that
// parents takes in one order. Divided by feature, the packages would share these tables, locks and
// statements through exported names, which no other package may use.
package sqlstore
