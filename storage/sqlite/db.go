package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/partnerkit/partnerkit/storage"
)

// DB is an open SQLite file. It implements [storage.DB].
type DB struct {
	path    string
	lock    *fileLock
	writer  *writer
	readers *readers
	temp    string // directory to remove at Close
	closed  atomic.Bool
}

// OpenDB opens the file, creating it when it is absent, and takes its lock. It
// does not check the tables; [Open] does.
func OpenDB(ctx context.Context, cfg Config) (*DB, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	db := &DB{path: cfg.Path}
	if err := db.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, db.release())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, cfg Config) (err error) {
	file := cfg.Path
	if file == Memory {
		if db.temp, err = os.MkdirTemp("", "partnerkit-*"); err != nil {
			return fmt.Errorf("open %s: %w", cfg.Path, err)
		}
		file = filepath.Join(db.temp, "memory.db")
	}
	file = realPath(file)
	if db.lock, err = lockFor(file); err != nil {
		return err
	}
	createPrivate(file)
	writing, err := openSQL(cfg, dsn(file, "synchronous(FULL)", pragma("wal_autocheckpoint", checkpointPages)), 1)
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	conn, err := writing.Conn(ctx)
	if err != nil {
		err = explain(err)
		return errors.Join(fmt.Errorf("open %s: %w%s", db.path, err, hint(err)), writing.Close())
	}
	db.writer = newWriter(writing, conn, file, cfg)
	// 8 MB of cache hold the inner pages of indexes over millions of rows.
	reading, err := openSQL(cfg, dsn(file, "query_only(1)", "cache_size(-8000)"), cfg.Readers)
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	db.readers = &readers{db: reading, statements: statements{on: reading}}
	return nil
}

// readers is the pool of connections that read.
type readers struct {
	statements
	db *sql.DB
}

func (r *readers) close() error { return errors.Join(r.statements.close(), r.db.Close()) }

// openSQL returns a pool that keeps up to size connections open.
func openSQL(cfg Config, dsn string, size int) (*sql.DB, error) {
	connector, err := cfg.Connector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// createPrivate creates a file that only its owner can read. SQLite itself would create
// one that all users can read; it gives the files beside it the same mode. If
// createPrivate fails, SQLite reports the reason.
func createPrivate(file string) {
	if made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = made.Close()
	}
}

// realPath follows links, so that two names of one file share one lock. Hard
// links remain two files.
func realPath(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil { // a new file
		return filepath.Join(dir, filepath.Base(file))
	}
	return file
}

// dsn names the file, with what all connections need and some pragmas more.
func dsn(file string, more ...string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath(), RawQuery: url.Values{
		"_dqs": {"0"}, // "text" is a name and never a string
		"_pragma": append([]string{
			pragma("busy_timeout", busyTimeout.Milliseconds()), "journal_mode(WAL)", "foreign_keys(1)", pragma("journal_size_limit", keptLog), "temp_store(MEMORY)",
		}, more...),
	}.Encode()}
	return name.String()
}

func pragma(name string, value int64) string { return fmt.Sprintf("%s(%d)", name, value) }

// Dialect implements [storage.DB].
func (db *DB) Dialect() storage.Dialect {
	return storage.Dialect{Name: "sqlite", Keyed: " WITHOUT ROWID", Now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", IsOneProcess: true}
}

// Write implements [storage.DB]: the operation shares its commit with other operations that wait
// at the same time. The context is checked until the operation begins, not after.
func (db *DB) Write(ctx context.Context, act storage.Operation) error {
	return db.writer.write(&job{ctx: ctx, act: act})
}

// Migrate implements [storage.DB]. The file's lock keeps other migrators away.
func (db *DB) Migrate(ctx context.Context, act storage.Operation) error {
	if err := db.Write(ctx, act); err != nil {
		return fmt.Errorf("migrate %s: %w%s", db.path, err, hint(err))
	}
	return nil
}

// Exec implements [storage.DB].
func (db *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if mayBeSeveral(query) { // then not atomic by themselves
		var n int64
		err := db.Write(ctx, func(ctx context.Context, tx storage.Tx) (err error) {
			n, err = tx.Exec(ctx, query, args...)
			return err
		})
		return n, err
	}
	j := &job{ctx: ctx, query: query, args: args}
	err := db.writer.write(j)
	return j.changed, err
}

// mayBeSeveral reports whether a text could be more than one statement.
func mayBeSeveral(query string) bool {
	return strings.Contains(strings.TrimRight(query, "; \t\n"), ";")
}

// Query implements [storage.DB]: it reads what was committed last.
func (db *DB) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	if db.closed.Load() {
		return nil, storage.ErrClosed
	}
	found, err := db.readers.query(ctx, query, args)
	if err != nil {
		return nil, db.unlessClosed(err)
	}
	return found, nil
}

// One implements the short path of [storage.One]. The statement is not interrupted when
// ctx ends: it is short, and watching ctx would cost more than running it.
func (db *DB) One(ctx context.Context, query string, args, dest []any) error {
	if db.closed.Load() {
		return storage.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.unlessClosed(db.readers.one(uncancelled(ctx), query, args, dest))
}

// OneByKey implements [storage.OneByKey] for sqlstore. It reads over the writer's
// connection while that is free: its page cache is warm, whereas SQLite empties the
// caches of the readers after each commit. A refresh costs 1.6 times a commit of its own
// rows this way, and 2.0 times over the readers alone.
func (db *DB) OneByKey(ctx context.Context, query string, args, dest []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ran, err := db.writer.tryOne(uncancelled(ctx), query, args, dest); ran {
		return err
	}
	return db.One(ctx, query, args, dest)
}

// unlessClosed returns err, or [storage.ErrClosed] instead if the database was closed
// meanwhile.
func (db *DB) unlessClosed(err error) error {
	if err != nil && db.closed.Load() {
		return storage.ErrClosed
	}
	return err
}

// BeginTx implements [storage.DB]. While the transaction is open no other write
// happens: those that wait too long fail with [storage.ErrBusy].
func (db *DB) BeginTx(ctx context.Context) (storage.OpenTx, error) {
	tx, err := db.writer.lend(ctx)
	if err != nil {
		return nil, err
	}
	return tx, nil
}

// Announce implements [storage.DB]. It does nothing, since no other process uses the file.
func (db *DB) Announce(context.Context, string) error { return nil }

// Listen implements [storage.DB]. No other process uses the file, so there are no
// announcements.
func (db *DB) Listen(ctx context.Context, _ func(string)) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-db.writer.idle: // closed
		return storage.ErrClosed
	}
}

// Close waits for the operations under way, rolls back a transaction that was left
// open, and releases the file. A second Close does nothing.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	db.writer.close()
	return db.release()
}

func (db *DB) release() error {
	var errs []error
	if db.readers != nil {
		errs = append(errs, db.readers.close())
	}
	if db.writer != nil {
		errs = append(errs, db.writer.release())
	}
	if db.lock != nil {
		errs = append(errs, db.lock.release())
	}
	if db.temp != "" {
		errs = append(errs, os.RemoveAll(db.temp))
	}
	return errors.Join(errs...)
}
