package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

const (
	// lockWithin is how long a statement of a migration waits for a lock. Everybody who wants
	// the table waits behind it.
	lockWithin = 3 * time.Second
	// lockTries is how often a migration is tried that got no lock.
	lockTries = 100
	// lockPause is the pause before the next try, in which those who waited go on.
	lockPause = 2 * time.Second
	// migratorPause is how often to ask whether another migrator has finished.
	migratorPause = 100 * time.Millisecond
)

// errOtherMigrates reports that another process migrates.
var errOtherMigrates = errors.New("another process migrates")

// Migrate implements [storage.DB]: it creates the schema when it is absent and
// holds an advisory lock, so that exactly one of several nodes that start
// together migrates. A statement_timeout of the URL does not apply.
func (db *DB) Migrate(ctx context.Context, act storage.Operation) error {
	migrate := func(ctx context.Context, tx storage.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", lockWithin.Milliseconds())); err != nil {
			return err
		}
		if err := db.beMigrator(ctx, tx); err != nil {
			return err
		}
		if db.cfg.Schema != "" {
			if err := createSchema(ctx, tx, db.cfg.Schema); err != nil {
				return err
			}
		}
		return act(ctx, tx)
	}
	// Not as a pipeline, which takes one statement at a time.
	return db.insist(ctx, func() error {
		return db.repeat(ctx, func() error { return plainly(ctx, db.past(), migrate) })
	})
}

// MigrateAlone is Migrate for statements that cannot run in a transaction, such as CREATE INDEX
// CONCURRENTLY: each statement of act commits by itself. It waits for locks for as long as
// necessary, because nobody waits behind these statements.
func (db *DB) MigrateAlone(ctx context.Context, act storage.Operation) error {
	if db.closed.Load() {
		return storage.ErrClosed
	}
	on := db.past()
	if on.Stats().MaxOpenConnections == 1 {
		if db.pool == nil {
			return errors.New("postgres: a migration needs two connections, and the host's database allows one")
		}
		on.SetMaxOpenConns(2)
		defer on.SetMaxOpenConns(1)
	}
	return db.insist(ctx, func() error { return db.migrateAlone(ctx, on, act) })
}

func (db *DB) migrateAlone(ctx context.Context, on *sql.DB, act storage.Operation) (err error) {
	// The transaction that keeps other migrators away holds no snapshot: CREATE INDEX
	// CONCURRENTLY waits for those that do.
	lock, err := on.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer lock.Rollback()
	if err := db.beMigrator(ctx, storage.SQL(lock)); err != nil {
		return err
	}
	// This comes last: the result of a SELECT keeps its snapshot until the next statement.
	if _, err := lock.ExecContext(ctx, "SET LOCAL "+idleSetting+" = 0"); err != nil {
		return err
	}
	conn, err := on.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if db.direct != nil || db.pool == nil || !db.pool.server.isPooled { // else others would find the setting on their connection
		if _, err := conn.ExecContext(ctx, "SET statement_timeout = 0"); err != nil {
			return err
		}
		defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }() // closed, with its setting
	}
	return act(ctx, alone{conn})
}

// beMigrator takes the lock of migrators until the transaction ends, or returns
// errOtherMigrates. It does not wait in the database: a statement that waits has a snapshot.
func (db *DB) beMigrator(ctx context.Context, tx storage.Tx) error {
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
		return err
	}
	var isOurs bool
	err := storage.One(ctx, tx, "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", []any{"partnerkit migrations " + db.cfg.Schema}, &isOurs)
	if err == nil && !isOurs {
		err = errOtherMigrates
	}
	return err
}

// insist calls try until it is the only migrator and got the locks it needs.
func (db *DB) insist(ctx context.Context, try func() error) error {
	for n := 1; ; {
		err := try()
		wait := migratorPause
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errOtherMigrates):
		case sqlState(err) == lockNotAvailable && n < lockTries:
			db.cfg.Logger.WarnContext(ctx, "postgres: a migration got no lock, trying again; a transaction is open for long", "attempt", n, "err", err)
			wait = lockPause
			n++
		default:
			return fmt.Errorf("migrate %s: %w", db.name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("migrate %s: %w", db.name, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// alone is a connection without a transaction.
type alone struct{ conn *sql.Conn }

func (a alone) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := a.dropInvalid(ctx, query); err != nil {
		return 0, err
	}
	result, err := a.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (a alone) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	rows, err := a.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err // not a nil *sql.Rows in a non-nil Rows
	}
	return rows, nil
}

// concurrently matches the beginning of a statement that builds an index: its name, and its
// table with the schema.
var concurrently = regexp.MustCompile(`(?i)^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s+ON\s+([\w".]+)`)

// dropInvalid drops the remains of an index whose building was interrupted. IF NOT EXISTS would
// take them for the index.
func (a alone) dropInvalid(ctx context.Context, query string) error {
	parts := concurrently.FindStringSubmatch(query)
	if parts == nil {
		return nil
	}
	name, table := parts[1], parts[2]
	var isInvalid bool
	err := a.conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relname = $1 AND i.indrelid = to_regclass($2) AND NOT i.indisvalid)`, name, table).Scan(&isInvalid)
	if err != nil || !isInvalid {
		return err
	}
	schema := table[:strings.LastIndex(table, ".")+1]
	_, err = a.conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY "+schema+name)
	return err
}

// createSchema asks first: a user without the right to create schemas can use
// one that an administrator made.
func createSchema(ctx context.Context, tx storage.Tx, schema string) error {
	var one int
	err := storage.One(ctx, tx, "SELECT 1 FROM pg_namespace WHERE nspname = $1", []any{schema}, &one)
	if errors.Is(err, storage.ErrNoRows) {
		_, err = tx.Exec(ctx, `CREATE SCHEMA "`+schema+`"`)
	}
	return err
}
