package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"sync"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Config of a [Store]. The zero value is right for most.
type Config struct {
	// SkipMigrations leaves the tables to the host's own migration tool, which applies
	// [Migrations]. New then only checks that this code can work with the tables, and
	// returns storage.ErrOlderSchema if migrations are missing.
	SkipMigrations bool
	// Shards is how many parts the planning and the sending of webhooks each have, which
	// nodes share among them: 1 to 1024, 0 means webhookstore.DefaultShards. It counts when the
	// database is made; later a database keeps its number.
	Shards int
	// Partitions puts deliveries and attempts into a table for each day, on PostgreSQL; see
	// postgres.Config.
	Partitions bool
	// Migrations replaces the built-in ones, in tests of the migrator.
	Migrations fs.FS
	// Backfills are more than the built-in ones, in tests.
	Backfills []Backfill
	// Logger receives messages about migrations and lost hints; nil discards them.
	Logger *slog.Logger
}

var (
	_ oauthstore.Store   = (*Store)(nil)
	_ webhookstore.Store = (*Store)(nil)
)

// Store is every feature's store. It is safe for concurrent use.
type Store struct {
	db  storage.DB
	log *slog.Logger
	sql *sqlText
	hub *hub

	// shards is how many shards of each kind the database has.
	shards    int
	backfills []Backfill

	// isPartitioned reports that deliveries are in a table for each day.
	isPartitioned bool

	// purged has where the purge of a table goes on.
	purged *sync.Map

	// process begins the owners of idempotency keys on a database that only one process has
	// open, and is empty on others. It is different after every start.
	process string

	// joined is the host's transaction in a Store that WithTx returned.
	joined *joined
}

// New returns a store on the database, whose tables it creates or brings up to
// date. Close of the store closes the database.
func New(ctx context.Context, db storage.DB, cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ours := cfg.Migrations == nil
	if ours {
		cfg.Migrations = Migrations()
		cfg.Backfills = append(backfills[:len(backfills):len(backfills)], cfg.Backfills...)
	}
	s := &Store{db: db, log: cfg.Logger, sql: newSQLText(db.Dialect()), hub: newHub(), purged: new(sync.Map), backfills: cfg.Backfills}
	if err := s.migrate(ctx, cfg); err != nil {
		return nil, err
	}
	if db.Dialect().IsOneProcess {
		s.process = rand.Text()
	}
	if ours {
		if err := s.makeShards(ctx, cmp.Or(cfg.Shards, webhookstore.DefaultShards)); err != nil {
			return nil, err
		}
	}
	if ours && !db.Dialect().IsOneProcess {
		if err := s.openDays(ctx, cfg.Partitions); err != nil {
			return nil, err
		}
	}
	if ours && db.Dialect().IsOneProcess {
		if err := s.freeShards(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close closes the database. What is under way finishes first.
func (s *Store) Close() error { return s.db.Close() }

// Dialect returns the differences between databases, for the host's own statements.
func (s *Store) Dialect() storage.Dialect { return s.db.Dialect() }

// Ping reports whether the database responds.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := storage.One(ctx, s.db, "SELECT 1", nil, &one); err != nil {
		return fmt.Errorf("ping database: %w", err)
	}
	return nil
}

// BeginTx opens a transaction for the host's own rows and for store operations, which join
// it through [Store.WithTx]. Commit wakes the workers that wait for the written rows. On
// SQLite every other write waits while the transaction is open, so keep it short.
func (s *Store) BeginTx(ctx context.Context) (storage.OpenTx, error) {
	tx, err := s.db.BeginTx(ctx)
	if err != nil {
		return nil, err
	}
	return &hintedTx{OpenTx: tx, hub: s.hub}, nil
}

// InTx runs do in a transaction of BeginTx, which it commits. When do fails, the transaction is
// rolled back, and the error of do is returned.
func (s *Store) InTx(ctx context.Context, do func(tx storage.Tx) error) error {
	tx, err := s.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// WithTx returns a store whose operations join a transaction, each in its own savepoint: an
// operation that fails is undone alone and the transaction continues. The store sees what
// the transaction wrote, and is for the goroutine that holds the transaction.
func (s *Store) WithTx(tx storage.Tx) *Store {
	inside := *s
	inside.joined = &joined{on: tx}
	if hinted, ok := tx.(*hintedTx); ok {
		inside.joined.hint = hinted.hint
	}
	return &inside
}

// Query reads rows of the host's own from the store's database, or from the
// transaction that the store has joined. SQL texts are taken as they are.
func (s *Store) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	from, err := s.from(ctx)
	if err != nil {
		return nil, err
	}
	return from.Query(ctx, query, args...)
}

// write runs an operation of several statements.
func (s *Store) write(ctx context.Context, act func(ctx context.Context, tx *tx) error) error {
	ours := tx{sql: s.sql, dialect: s.db.Dialect(), shards: s.shards}
	run := func(ctx context.Context, on storage.Tx) error {
		ours.on, ours.hints = on, ours.hints[:0] // it may run again
		return act(ctx, &ours)
	}
	if outer := s.transaction(ctx); outer != nil {
		return outer.run(ctx, run, &ours)
	}
	if err := s.db.Write(ctx, run); err != nil {
		return err
	}
	s.hub.publish(ours.hints...)
	return nil
}

// errStop rolls back a transaction whose result has the reason. It never leaves this
// package.
var errStop = errors.New("stop")

// exec runs one statement that is an operation by itself.
func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if s.transaction(ctx) == nil {
		return s.db.Exec(ctx, s.sql.of(query), args...)
	}
	var n int64
	err := s.write(ctx, func(ctx context.Context, tx *tx) (err error) {
		n, err = tx.exec(ctx, query, args...)
		return err
	})
	return n, err
}

// read scans the row that a query finds by a key.
func (s *Store) read(ctx context.Context, query string, args []any, dest ...any) error {
	from, err := s.from(ctx)
	if err != nil {
		return err
	}
	return storage.OneByKey(ctx, from, s.sql.of(query), args, dest...)
}

// tx is the transaction of an operation.
type tx struct {
	on      storage.Tx
	sql     *sqlText
	dialect storage.Dialect
	shards  int // of each kind
	hints   []storage.Hint
}

func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	return t.on.Exec(ctx, t.sql.of(query), args...)
}

// later is exec for a statement whose outcome the operation need not know.
func (t *tx) later(ctx context.Context, query string, args ...any) error {
	return storage.Later(ctx, t.on, t.sql.of(query), args...)
}

// one scans the only row of a statement; [storage.ErrNoRows] when there is none.
func (t *tx) one(ctx context.Context, query string, args []any, dest ...any) error {
	return storage.One(ctx, t.on, t.sql.of(query), args, dest...)
}

// hint makes the operation wake the watchers of a topic once it is committed.
func (t *tx) hint(hints ...storage.Hint) { t.hints = append(t.hints, hints...) }

// sqlText puts the schema into statements. They name our tables partnerkit_…;
// indexes have names that do not begin so, since an index follows its table.
type sqlText struct {
	schema              string
	known               sync.Map // statement → statement with schema
	lock, lockWithGrant string   // lock an artifact's parents
	sized               sync.Map // sized → statement with schema
}

// sized is a statement for a number of rows.
type sized struct {
	before, after string
	n             int
}

var ourTable = regexp.MustCompile(`\bpartnerkit_`)

func newSQLText(d storage.Dialect) *sqlText {
	q := &sqlText{schema: d.Schema}
	q.lock, q.lockWithGrant = q.qualified(lockStatement(d, false)), q.qualified(lockStatement(d, true))
	return q
}

func (q *sqlText) of(statement string) string {
	if q.schema == "" {
		return statement
	}
	if text, ok := q.known.Load(statement); ok {
		return text.(string)
	}
	text := q.qualified(statement)
	q.known.Store(statement, text)
	return text
}

// many returns a statement whose middle, a list, depends on how many are in it and on
// nothing else that before and after do not tell. To write it out takes longer than to
// run it, so it is written once.
func (q *sqlText) many(before, after string, n int, middle func(n int) string) string {
	key := sized{before, after, n}
	if text, ok := q.sized.Load(key); ok {
		return text.(string)
	}
	text := q.qualified(before + middle(n) + after)
	q.sized.Store(key, text)
	return text
}

func (q *sqlText) qualified(statement string) string {
	if q.schema == "" {
		return statement
	}
	return ourTable.ReplaceAllString(statement, `"`+q.schema+`".partnerkit_`)
}
