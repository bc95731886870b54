package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// later returns the migrations with more files after them: those of a version to come.
func later(t *testing.T, more ...string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(sqlstore.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(sqlstore.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for i, text := range more {
		number := len(names) + 1 + i
		text += fmt.Sprintf("\nINSERT INTO partnerkit_migration (number, name, minimum) VALUES (%d, 'later', %d);\n", number, len(names))
		files[fmt.Sprintf("%04d_later.sql", number)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

const (
	addColumn = "-- +goose Up\nALTER TABLE partnerkit_event ADD COLUMN grown TEXT;"
	addIndex  = "-- +goose NO TRANSACTION\n-- +goose Up\n-- Nobody waits for it.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS pk_event_grown ON partnerkit_event (grown, id);"
)

var fillColumn = sqlstore.Backfill{Name: "event.grown", Update: `UPDATE partnerkit_event SET grown = type WHERE id IN
	(SELECT id FROM partnerkit_event WHERE id > $1 ORDER BY id LIMIT $2) RETURNING id`}

// OPER-03: a big table gets a column, an index and a backfill while nodes of the older version
// write to it, and a transaction that stays open is in the way of both. No writer waits for
// more than 3 seconds, and nothing fails.
func TestMigrationUnderLoad_OPER03(t *testing.T) {
	t.Parallel()
	rows := testenv.Rounds(20_000, 1_000_000)
	p := proof.Begin(t, fmt.Sprintf("A column, an index and a backfill for %d events under load", rows), "writes")
	url, schema := testenv.Postgres(t)
	older, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	if _, err := host.ExecContext(t.Context(), `INSERT INTO partnerkit_event (id, type, business_id, data, created_at)
		SELECT 'evt_0' || to_char(n, 'FM0000000000'), 'invoice.created', 'biz_' || n % 1000, '{}', 0 FROM generate_series(1, $1::int) n`, rows); err != nil {
		t.Fatal(err)
	}
	load := &eventWriters{t: t, store: older, proof: p}
	load.start(4)

	var log logtest.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 4, Logger: logger})
	began := time.Now()
	inTheWay := holdTable(t, host)
	opened := make(chan *sqlstore.Store, 1)
	go func() {
		newer, err := sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: later(t, addColumn, addIndex), Backfills: []sqlstore.Backfill{fillColumn}, Logger: logger})
		if err != nil {
			t.Error(err)
		}
		opened <- newer
	}()
	for log.Count("a migration got no lock") == 0 && !t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	inTheWay()
	newer := <-opened
	if newer == nil {
		t.FailNow()
	}
	migrated := time.Since(began)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- newer.Run(ctx) }()
	for log.Count("storage: backfilled") == 0 && !t.Failed() {
		time.Sleep(20 * time.Millisecond)
	}
	filled := time.Since(began) - migrated
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	worst := load.stop()
	p.Notef("tables after %v with one retry, rows filled in %v; the slowest write took %v", migrated.Round(time.Millisecond), filled.Round(time.Millisecond), worst.Round(time.Millisecond))
	if testenv.Proving() && worst > 3500*time.Millisecond {
		p.Violation("a write took %v, want 3 s at most, and what the write itself takes", worst)
	}
	var empty int
	var isValid bool
	err = errors.Join(
		host.QueryRowContext(t.Context(), "SELECT count(*) FROM partnerkit_event WHERE grown IS NULL AND created_at = 0").Scan(&empty),
		host.QueryRowContext(t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = 'pk_event_grown'::regclass").Scan(&isValid))
	if err != nil || empty != 0 || !isValid {
		t.Errorf("%d rows were not filled, the index is valid: %t, %v", empty, isValid, err)
	}
}

// holdTable reads from the table in a transaction that stays open.
func holdTable(t *testing.T, host *sql.DB) (end func()) {
	t.Helper()
	tx, err := host.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM partnerkit_event LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// eventWriters record events all the time.
type eventWriters struct {
	t     *testing.T
	store *sqlstore.Store
	proof *proof.Proof
	ended atomic.Bool
	worst atomic.Int64
	wg    sync.WaitGroup
}

func (w *eventWriters) start(n int) {
	for i := range n {
		w.wg.Go(func() {
			for !w.ended.Load() {
				began := time.Now()
				err := w.store.RecordEvents(w.t.Context(), partner.Event{
					ID: id.New(id.Event, began), Type: "invoice.created", BusinessID: fmt.Sprint("biz_w", i), Data: []byte("{}"), CreatedAt: began,
				})
				if err != nil {
					w.proof.Violation("a write failed: %v", err)
					return
				}
				took := int64(time.Since(began))
				for most := w.worst.Load(); took > most && !w.worst.CompareAndSwap(most, took); most = w.worst.Load() {
				}
				w.proof.Tried(1)
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func (w *eventWriters) stop() (worst time.Duration) {
	w.ended.Store(true)
	w.wg.Wait()
	return time.Duration(w.worst.Load())
}

// OPER-03: a statement_timeout of the URL does not end a migration, and an index whose building
// was interrupted is built again.
func TestMigrationDetails_OPER03(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	for _, text := range []string{
		"ALTER TABLE partnerkit_event ADD COLUMN grown TEXT",
		"INSERT INTO partnerkit_event (id, type, business_id, data, created_at, grown) VALUES ('evt_1', 't', 'b', '{}', 0, 'x'), ('evt_2', 't', 'b', '{}', 0, 'x')",
	} {
		if _, err := host.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := host.ExecContext(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY pk_event_grown ON partnerkit_event (grown)"); err == nil {
		t.Fatal("built an index of equal rows") // it leaves one that is not valid
	}
	slow := "-- +goose Up\nSELECT pg_sleep(0.5);"
	slowAlone := addIndex + "\nSELECT pg_sleep(0.5);"
	for _, conns := range []int{1, 4} { // another time there is nothing to do
		db := openDB(t, withOption(url, "statement_timeout=300"), postgres.Config{Schema: schema, MaxConns: conns})
		if _, err := sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: later(t, slow, slowAlone)}); err != nil {
			t.Fatal(err)
		}
		var timeout string
		if err := storage.One(t.Context(), db, "SHOW statement_timeout", nil, &timeout); err != nil || timeout != "300ms" {
			t.Errorf("statement_timeout afterwards is %s, %v", timeout, err)
		}
	}
	var isValid bool
	if err := host.QueryRowContext(t.Context(), "SELECT indisvalid FROM pg_index WHERE indexrelid = 'pk_event_grown'::regclass").Scan(&isValid); err != nil || !isValid {
		t.Errorf("the index is valid: %t, %v", isValid, err)
	}
}

// OPER-03: nodes that start together build an index once.
func TestMigrateAloneTogether_OPER03(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var log logtest.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	for range 4 {
		db := openDB(t, url, postgres.Config{Schema: schema, MaxConns: 2})
		wg.Go(func() {
			if _, err := sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: later(t, addColumn, addIndex), Logger: logger}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var n int
	host := hostDB(t, "pgx", withOption(url, "search_path="+schema))
	if err := host.QueryRowContext(t.Context(), "SELECT count(*) FROM partnerkit_migration WHERE name = 'later'").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d migrations, %v", n, err)
	}
}
