// Package storage is the contract between the features and a database.
//
// Each feature package declares the operations that it needs in a Store interface of its own.
// [github.com/partnerkit/partnerkit/storage/sqlstore] implements all of them with one set of SQL
// statements, which run on a [DB]. Two packages open one:
// [github.com/partnerkit/partnerkit/storage/sqlite] and
// [github.com/partnerkit/partnerkit/storage/postgres].
//
// # Operations
//
// An operation is one change of the domain, such as redeeming a code or uninstalling an app. It
// is one function that runs in one transaction and has one of a few documented results. An
// operation does not read a row and then write a decision that was made in Go: a single
// conditional statement selects the winner of a race.
//
// A [DB] may run an operation more than once: PostgreSQL after a deadlock, SQLite when a batch
// of operations is repeated one by one. An operation therefore has no effect other than its
// statements and the variables it assigns, and random values such as tokens and ids are created
// before it.
//
// # Joining a host's transaction
//
// A host that writes its own rows together with partnerkit's has two options. It may open the
// transaction with the store's InTx or BeginTx; the commit then also wakes the workers that wait
// for the written rows. Or it brings its own transaction, as [SQL] of a *sql.Tx or as postgres.Pgx of a
// pgx.Tx; workers then find the rows at their next poll, at most one second later. The store's
// WithTx joins either transaction, and so does RecordIn of package events. An operation that joins runs in a savepoint: if it fails, the
// host's transaction is unchanged. A transaction must be used by one goroutine at a time, and
// ended with Commit or Rollback.
//
// # Several operations in one transaction
//
// Transact of the store runs a function whose operations commit together, such as a change and
// its audit entry. The context that the function gets carries the transaction.
package storage
