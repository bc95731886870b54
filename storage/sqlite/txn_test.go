package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// Rows that are left open, or read after the end of their transaction, do not affect
// other transactions.
func TestRowsEndWithTheirTransaction(t *testing.T) {
	t.Parallel()
	const returning = "INSERT INTO rows_of (act, step) VALUES (50, 1), (50, 2), (50, 3) RETURNING step"
	ends := map[string]func(t *testing.T, db *sqlite.DB) storage.Rows{
		"an act": func(t *testing.T, db *sqlite.DB) (left storage.Rows) {
			err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) (err error) {
				left, err = tx.Query(ctx, returning)
				left.Next()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return left
		},
		"a commit": func(t *testing.T, db *sqlite.DB) storage.Rows {
			tx, left := openRows(t, db, t.Context(), returning)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			return left
		},
		"a cancelled request": func(t *testing.T, db *sqlite.DB) storage.Rows {
			ctx, cancel := context.WithCancel(t.Context())
			_, left := openRows(t, db, ctx, returning)
			cancel()
			return left
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, db *sqlite.DB) {
				left := end(t, db)
				for i, err := range batched(t, db, []storage.Operation{threeSteps(1, nil), threeSteps(2, nil), threeSteps(3, nil)}) {
					if err != nil {
						t.Errorf("act %d afterwards: %v", i, err)
					}
				}
				if left.Next() || !errors.Is(left.Err(), storage.ErrTxDone) {
					t.Errorf("the rows read on: %v", left.Err())
				}
				if err := left.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func openRows(t *testing.T, db *sqlite.DB, ctx context.Context, query string) (storage.OpenTx, storage.Rows) {
	t.Helper()
	tx, err := db.BeginTx(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	return tx, rows
}

// A transaction that SQLite has dropped runs nothing more, rather than each
// statement by itself.
func TestLostTransactionIsOver(t *testing.T) {
	t.Parallel()
	const conflict = "INSERT OR ROLLBACK INTO rows_of (act, step) VALUES (1, 0)"
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		for name, lose := range map[string]func(tx storage.Tx) error{
			"Exec": func(tx storage.Tx) error {
				_, err := tx.Exec(t.Context(), conflict)
				return err
			},
			"Query": func(tx storage.Tx) error {
				return storage.Each(t.Context(), tx, conflict+" RETURNING act", nil, func(func(...any) error) error { return nil })
			},
		} {
			tx, err := db.BeginTx(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := insertStep(t.Context(), tx, 1, 0); err != nil {
				t.Fatal(err)
			}
			if err := lose(tx); err == nil {
				t.Fatalf("%s: a conflict succeeded", name)
			}
			if err := insertStep(t.Context(), tx, 1, 1); !errors.Is(err, storage.ErrTxDone) {
				t.Errorf("%s: a statement after the loss: %v", name, err)
			}
			if err := tx.Commit(t.Context()); !errors.Is(err, storage.ErrTxDone) {
				t.Errorf("%s: commit after the loss: %v", name, err)
			}
			wantRows(t, db, 1, 0)
		}
		err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			_, _ = tx.Exec(ctx, "ROLLBACK")
			_, _ = tx.Exec(ctx, "INSERT INTO absent VALUES (1)")
			_ = insertStep(ctx, tx, 2, 0)
			return nil // does not hide that the transaction was lost
		})
		if err == nil {
			t.Error("an act without its transaction succeeded")
		}
		wantRows(t, db, 2, 0)
	})
}

// A commit that one operation makes impossible costs the others nothing.
func TestCommitRefusedByOneAct(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		if _, err := db.Exec(t.Context(), "CREATE TABLE child (parent BIGINT REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED); CREATE TABLE parent (id BIGINT PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		orphan := func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO child VALUES (7)")
			return err
		}
		for i, err := range batched(t, db, []storage.Operation{threeSteps(0, nil), orphan, threeSteps(2, nil)}) {
			if (err != nil) != (i == 1) {
				t.Errorf("act %d: %v", i, err)
			}
		}
		wantRows(t, db, 0, 3)
		wantRows(t, db, 2, 3)
	})
}

// Several statements in one text happen together or not at all.
func TestSeveralStatementsInOneExec(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		if _, err := db.Exec(t.Context(), "INSERT INTO rows_of (act, step) VALUES (1, 1); INSERT INTO absent VALUES (1)"); err == nil {
			t.Error("a statement on an absent table succeeded")
		}
		wantRows(t, db, 1, 0)
		for _, text := range []string{"", " ; ", "-- nothing"} {
			if _, err := db.Exec(t.Context(), text); err == nil || !strings.Contains(err.Error(), "empty statement") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// Reads see what was committed last, over the readers and over the writer's connection.
func TestReadsSeeCommits(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx := t.Context()
	if _, err := db.Exec(ctx, "CREATE TABLE r (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		var again int
		err := storage.OneByKey(ctx, db, "SELECT COUNT(*) FROM r", nil, &n)
		if err := errors.Join(err, storage.One(ctx, db, "SELECT COUNT(*) FROM r", nil, &again)); err != nil || again < n {
			t.Errorf("%d rows, then %d: %v", n, again, err)
		}
		return n
	}
	const writes = 200
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for before := 0; before < writes; {
				now := count()
				if now < before {
					t.Errorf("%d rows after %d", now, before)
				}
				before = now
			}
		})
	}
	for i := range writes {
		err := db.Write(ctx, func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO r VALUES ($1)", i)
			if seen := count(); seen != i {
				t.Errorf("%d rows are seen before the commit of row %d", seen, i)
			}
			return err
		})
		if seen := count(); err != nil || seen != i+1 {
			t.Fatalf("%d rows are seen after the commit of row %d: %v", seen, i, err)
		}
	}
	group.Wait()
	var n int
	for _, write := range []string{"INSERT INTO r VALUES (1) RETURNING n", "SELECT 1; DELETE FROM r", "SELECT 1; BEGIN; DELETE FROM r"} {
		if err := storage.One(ctx, db, write, nil, &n); err == nil && !strings.HasPrefix(write, "SELECT") || count() != writes {
			t.Errorf("%s: a read wrote: %v", write, err)
		}
	}
	if _, err := db.Exec(ctx, "INSERT INTO r VALUES (1)"); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	for _, read := range []error{storage.One(ended, db, "SELECT 1", nil, &n), storage.OneByKey(ended, db, "SELECT 1", nil, &n)} {
		if !errors.Is(read, context.Canceled) {
			t.Errorf("a read whose context has ended: %v", read)
		}
	}
}

// A host's query that takes long does not delay writers.
func TestHostQueryLeavesWriterFree(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory, WriteWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rows, err := store.Query(t.Context(), "SELECT 1 UNION ALL SELECT 2")
	if err != nil || !rows.Next() {
		t.Fatalf("no row: %v", err)
	}
	defer rows.Close() // open while the write runs
	tx, err := store.BeginTx(t.Context())
	if err != nil {
		t.Fatalf("a write beside an open query: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// Reading while the database is being closed is refused, not a panic.
func TestQueryAgainstClose(t *testing.T) {
	t.Parallel()
	for range 20 {
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: sqlite.Memory})
		if err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		testdb.Race(8, func(i int) {
			for n := range 20 {
				if i == 0 && n == 10 {
					once.Do(func() { _ = db.Close() })
				}
				var got int
				_ = storage.OneByKey(t.Context(), db, fmt.Sprintf("SELECT %d", 100*i+n), nil, &got)
			}
		})
	}
}

// A link to a file is the same file.
func TestLinksShareTheLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "real.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(filepath.Join(dir, "real.db"), link); err != nil {
		t.Skip(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: link}); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("open through a link: %v", err)
	}
}

func TestNegativeConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []sqlite.Config{{MaxBatch: -1}, {Readers: -1}, {WriteWait: -1}} {
		cfg.Path = sqlite.Memory
		if _, err := sqlite.OpenDB(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "negative") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
