package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/partnerkit/partnerkit/storage"
)

// An operation that lost against another runs again, at most maxAttempts times in
// all, after a pause that grows from firstPause and is spread at random.
const (
	maxAttempts = 8
	firstPause  = 2 * time.Millisecond
)

// DB is a PostgreSQL database. It implements [storage.DB].
type DB struct {
	sql    *sql.DB
	cfg    Config
	pool   *pool  // we opened it, so we close it; nil: the host's
	direct *pool  // past a pooler; nil: there is no other way
	name   string // host and database, for errors
	closed atomic.Bool
	ending chan struct{} // closed by Close
}

// NewDB uses a database that the host has opened and will close.
func NewDB(db *sql.DB, cfg Config) (*DB, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.DirectURL != "" {
		return nil, errors.New("postgres: Config.DirectURL is for Open, which opens the connections")
	}
	return &DB{sql: db, cfg: cfg, name: "the host's database", ending: make(chan struct{})}, nil
}

// Dialect implements [storage.DB].
func (db *DB) Dialect() storage.Dialect {
	return storage.Dialect{Name: "postgres", Schema: db.cfg.Schema, ForShare: " FOR SHARE", ForUpdate: " FOR UPDATE", SkipLocked: " SKIP LOCKED", Now: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"}
}

// Write implements [storage.DB], at READ COMMITTED: operations lock what they rely on.
func (db *DB) Write(ctx context.Context, act storage.Operation) error {
	return db.repeat(ctx, func() error { return db.once(ctx, act) })
}

// once runs the operation in one transaction: as a pipeline on a connection of pgx, and
// statement by statement on any other, such as that of a driver wrapped around it.
func (db *DB) once(ctx context.Context, act storage.Operation) error {
	isPgx, err := db.piped(ctx, act)
	if err != nil || isPgx {
		return err
	}
	return plainly(ctx, db.sql, act)
}

// piped reports whether it had a connection of pgx to run the operation on.
func (db *DB) piped(ctx context.Context, act storage.Operation) (isPgx bool, err error) {
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	err = conn.Raw(func(raw any) error {
		known, ok := raw.(*stdlib.Conn)
		if !ok {
			return nil
		}
		isPgx = true
		err := runPipeline(ctx, known.Conn(), act)
		if isFailover(err) {
			_ = known.Conn().Close(context.WithoutCancel(ctx)) // nothing good comes from that server
		}
		return err
	})
	return isPgx, err
}

// plainly runs the operation statement by statement.
func plainly(ctx context.Context, on *sql.DB, act storage.Operation) error {
	tx, err := on.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := act(ctx, storage.SQL(tx)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if ctx.Err() != nil && errors.Is(err, sql.ErrTxDone) {
			return ctx.Err() // database/sql rolled back when the context ended
		}
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Exec implements [storage.DB].
func (db *DB) Exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	err = db.repeat(ctx, func() error {
		result, err := db.sql.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// repeat calls attempt until it succeeds, fails with an error that is not repeatable, or has
// run maxAttempts times.
func (db *DB) repeat(ctx context.Context, attempt func() error) error {
	if db.closed.Load() {
		return storage.ErrClosed
	}
	pause := firstPause
	for n := 1; ; n++ {
		err := attempt()
		if err == nil || !repeatable(err) || n == maxAttempts {
			return db.explain(err)
		}
		db.cfg.Logger.DebugContext(ctx, "postgres: operation conflicted with another, repeating", "attempt", n, "sqlstate", sqlState(err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// Query implements [storage.DB].
func (db *DB) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if db.closed.Load() {
		return nil, storage.ErrClosed
	}
	rows, err := db.sql.QueryContext(ctx, query, args...)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // and not that the connection timed out
	}
	if err != nil {
		return nil, db.explain(err)
	}
	return rows, nil
}

// BeginTx implements [storage.DB].
func (db *DB) BeginTx(ctx context.Context) (storage.OpenTx, error) {
	if db.closed.Load() {
		return nil, storage.ErrClosed
	}
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return nil, db.explain(err)
	}
	return &openTx{Tx: storage.SQL(tx), tx: tx, db: db}, nil
}

// past returns the connections that go past a pooler, if there are such.
func (db *DB) past() *sql.DB {
	if db.direct != nil {
		return db.direct.sql
	}
	return db.sql
}

// explain adds the error of storage that a server's error amounts to. After a failover,
// connections that are open are not used again.
func (db *DB) explain(err error) error {
	if isFailover(err) && db.pool != nil {
		db.pool.generation.Add(1)
	}
	return explain(err)
}

// Close ends the use of the database, and closes it when [Open] opened it.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	close(db.ending)
	if db.pool == nil {
		return nil
	}
	err := db.sql.Close()
	if db.direct != nil {
		err = errors.Join(err, db.direct.sql.Close())
	}
	return err
}
