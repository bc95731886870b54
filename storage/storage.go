package storage

import "context"

// Tx runs statements inside a transaction. It is the part that *sql.Tx, pgx.Tx
// and our own transactions have in common, and it is for one goroutine.
//
// Placeholders are $1, $2 and so on, on both databases.
type Tx interface {
	// Exec runs a statement and reports how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query runs a statement that returns rows. Close them before the next
	// statement.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// Rows is the part of *sql.Rows that operations use. Closing twice is fine.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// OpenTx is a transaction that its holder ends, with Commit or with Rollback;
// cancelling the context that it was opened with rolls it back. After either,
// every method returns [ErrTxDone]; only Rollback, meant for a defer, is silent.
type OpenTx interface {
	Tx
	Commit(ctx context.Context) error
	Rollback() error
}

// Operation is the part of a [DB.Write] that runs in the transaction, see the package
// comment. It passes the context that it is given to its statements. An error that it
// returns rolls the transaction back and reaches the caller unchanged.
type Operation func(ctx context.Context, tx Tx) error

// DB is one database. All methods are safe for concurrent use; after Close they
// return [ErrClosed].
type DB interface {
	// Dialect returns the differences between databases.
	Dialect() Dialect
	// Write runs the operation in a transaction and returns after its commit.
	Write(ctx context.Context, act Operation) error
	// Exec runs one statement as an operation of its own.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query reads, outside any transaction. Close the rows before anything that takes long,
	// such as writing a response: while they are open, a database keeps what they may read,
	// and SQLite's log grows.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// BeginTx opens a transaction that the caller ends.
	BeginTx(ctx context.Context) (OpenTx, error)
	// Migrate runs the operation like Write, as the only migrator of this database.
	Migrate(ctx context.Context, act Operation) error
	// Announce tells other processes on this database that a topic has news.
	// It is a hint and may be lost. On a database of one process it does nothing.
	Announce(ctx context.Context, topic string) error
	// Listen calls heard with every topic that another process announces, and
	// with "" when some may have been missed, until ctx ends. It returns
	// [ErrNoListen] if this database does not support announcements.
	Listen(ctx context.Context, heard func(topic string)) error
	// Close ends the use of the database.
	Close() error
}

// Dialect describes the database to the SQL statements that run on it.
type Dialect struct {
	// Name is "sqlite" or "postgres".
	Name string
	// Schema qualifies our tables when it is not empty.
	Schema string
	// ForShare and ForUpdate end a SELECT that locks the rows it reads, with a
	// leading space. They are empty where one writer at a time is the rule.
	ForShare, ForUpdate string
	// SkipLocked, behind either, leaves out rows that another transaction holds, where
	// they would wait for it.
	SkipLocked string
	// Keyed ends a CREATE TABLE whose rows are best kept in the order of their
	// primary key, with a leading space. It is empty where that cannot be said.
	Keyed string
	// Now is an expression for the time of the database in Unix milliseconds. It is
	// for leases alone, which nodes with different clocks compare.
	Now string
	// IsOneProcess reports that only this process has the database open. Leases of an earlier
	// process are void.
	IsOneProcess bool
}

// ShareOf is ForShare for some tables of a join, locked in this order.
func (d Dialect) ShareOf(aliases string) string { return of(d.ForShare, aliases) }

// UpdateOf is ForUpdate for some tables of a join, locked in this order.
func (d Dialect) UpdateOf(aliases string) string { return of(d.ForUpdate, aliases) }

func of(lock, aliases string) string {
	if lock == "" {
		return ""
	}
	return lock + " OF " + aliases
}
