// Package sqlstore implements the Store interface of every feature with SQL.
// It holds the only SQL of the module, one set of statements for both
// databases; storage/sqlite and storage/postgres open a [Store].
//
// The statements keep to what both databases understand in the same way: $1
// placeholders, TEXT, BIGINT, BOOLEAN, BYTEA, partial indexes, ON CONFLICT,
// RETURNING. Times are Unix milliseconds that Go supplies, lists are JSON text,
// ids are text. What differs, row locks, comes from [storage.Dialect].
//
// Each operation runs in one transaction of its own. storage/sqlite commits operations that
// run at the same time together; that is not visible here.
package sqlstore
