// Package storage is the contract between the features and a database.
//
// A feature package names the acts that it needs in a Store interface of its
// own. [github.com/partnerkit/partnerkit/storage/sqlstore] implements them all
// with one set of SQL statements, which run on a [DB]. Two packages open one:
// [github.com/partnerkit/partnerkit/storage/sqlite] and
// [github.com/partnerkit/partnerkit/storage/postgres].
//
// # Acts
//
// An act is one thing that happens to the business: a code is redeemed, an app
// is uninstalled. It is one function that runs in one transaction and ends in
// one of a few results. An act never reads, decides in Go and writes what it
// decided on the strength of what it read: one conditional statement picks the
// winner of a race.
//
// A DB may run an operation more than once: PostgreSQL after a deadlock, SQLite when a
// batch of operations is repeated one by one. An operation therefore has no effect other
// than its statements and the variables it assigns, and random values such as tokens and
// ids are created before it.
//
// # Joining a host's transaction
//
// A host that writes its own rows together with partnerkit's has two options. It may open
// the transaction with the store's BeginTx; Commit then also wakes the workers that wait
// for the written rows. Or it brings its own transaction, as [SQL] of a *sql.Tx or as
// postgres.Pgx of a pgx.Tx; workers then find the rows at their next poll, at most one
// second later. The store's WithTx joins either transaction. An operation that joins runs
// in a savepoint: if it fails, the host's transaction is unchanged.
//
// # Several acts in one transaction
//
// Transact of the store runs a function whose acts commit together, such as a change and
// its audit entry. The context that the function gets carries the transaction.
package storage
