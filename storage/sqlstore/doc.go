// Package sqlstore implements the Store interface of every feature with SQL.
// It holds the only SQL of the module, one set of statements for both
// databases; storage/sqlite and storage/postgres open a [Store].
//
// The statements keep to what both databases understand in the same way: $1
// placeholders, TEXT, BIGINT, BOOLEAN, BYTEA, partial indexes, ON CONFLICT,
// RETURNING. Times are Unix milliseconds that Go supplies, lists are JSON text,
// ids are text. What differs, row locks, comes from [storage.Dialect].
//
// An act has a transaction of its own. Where the database has its writers share them, as
// storage/sqlite does, nothing more is needed; on PostgreSQL refreshes and code exchanges
// that come in numbers share some here, see shared.go.
package sqlstore
