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
// A DB may run an act more than once: PostgreSQL after a deadlock, SQLite when
// a batch of acts has to be repeated one by one. So an act has no effect other
// than its statements and the variables it assigns, and whatever is random, a
// token or an id, is made before it.
//
// # Joining a host's transaction
//
// A host that writes rows of its own together with ours has two ways. It may
// open the transaction here, with BeginTx of the store; then Commit also wakes
// whoever waits for what was written. Or it brings its own transaction, as
// [SQL] of a *sql.Tx or as postgres.Pgx of a pgx.Tx; what waits for the rows
// then finds them at its next look, a second later at most. WithTx of the store
// joins either one. An act that joins runs in a savepoint: when it fails, the
// host's transaction is as it was before.
//
// # Several acts in one transaction
//
// Transact of the store runs a function whose acts commit together, such as a change and
// its audit entry. The context that the function gets carries the transaction.
package storage
