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
package sqlstore
