package sqlite_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	moderncsqlite "modernc.org/sqlite"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// batched runs the operations in one batch for certain: they queue up behind an open
// transaction, in a bubble that knows when all of them wait. Each operation inserts
// three rows under its number; it returns the error of each.
func batched(t *testing.T, db *sqlite.DB, acts []storage.Operation) []error {
	t.Helper()
	gate, err := db.BeginTx(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(acts))
	var wg sync.WaitGroup
	for i, act := range acts {
		wg.Go(func() { errs[i] = db.Write(context.Background(), act) })
		synctest.Wait() // so they queue in order
	}
	if err := gate.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return errs
}

// bubble opens a database with the table of these tests inside a bubble.
func bubble(t *testing.T, run func(t *testing.T, db *sqlite.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: sqlite.Memory})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(t.Context(), "CREATE TABLE rows_of (act BIGINT, step BIGINT, filler BYTEA, PRIMARY KEY (act, step))"); err != nil {
			t.Fatal(err)
		}
		run(t, db)
	})
}

func insertStep(ctx context.Context, tx storage.Tx, act, step int) error {
	_, err := tx.Exec(ctx, "INSERT INTO rows_of (act, step) VALUES ($1, $2)", act, step)
	return err
}

// threeSteps is an operation of three rows; meddle may break it before a step.
func threeSteps(act int, meddle func(ctx context.Context, tx storage.Tx, step int) error) storage.Operation {
	return func(ctx context.Context, tx storage.Tx) error {
		for step := range 3 {
			if meddle != nil {
				if err := meddle(ctx, tx, step); err != nil {
					return err
				}
			}
			if err := insertStep(ctx, tx, act, step); err != nil {
				return err
			}
		}
		return nil
	}
}

func wantRows(t *testing.T, db *sqlite.DB, act, want int) {
	t.Helper()
	var got int
	if err := storage.One(t.Context(), db, "SELECT COUNT(*) FROM rows_of WHERE act = $1", []any{act}, &got); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("act %d left %d rows, want %d", act, got, want)
	}
}

var errMeddled = errors.New("meddled")

// meddlers break one operation of a batch at one of its steps.
var meddlers = map[string]func(ctx context.Context, tx storage.Tx) error{
	"the act fails": func(context.Context, storage.Tx) error { return errMeddled },
	"its statement fails": func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO absent VALUES (1)")
		return err
	},
	// What SQLite does by itself on some errors, an I/O error for one.
	"its transaction is lost": func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, "ROLLBACK")
		return errors.Join(errMeddled, err)
	},
}

// A fault at any statement of any operation of a batch does not affect the other operations.
func TestFaultsInABatch(t *testing.T) {
	t.Parallel()
	const acts = 5
	for name, meddle := range meddlers {
		for victim := range acts {
			for at := range 3 {
				t.Run(fmt.Sprintf("%s, act %d, step %d", name, victim, at), func(t *testing.T) {
					t.Parallel()
					bubble(t, func(t *testing.T, db *sqlite.DB) {
						batch := make([]storage.Operation, acts)
						for i := range batch {
							batch[i] = threeSteps(i, nil)
						}
						batch[victim] = threeSteps(victim, func(ctx context.Context, tx storage.Tx, step int) error {
							if step != at {
								return nil
							}
							return meddle(ctx, tx)
						})
						for i, err := range batched(t, db, batch) {
							if (err != nil) != (i == victim) {
								t.Errorf("act %d: %v", i, err)
							}
							wantRows(t, db, i, map[bool]int{true: 0, false: 3}[i == victim])
						}
					})
				})
			}
		}
	}
}

// A caller that gives up while its operation runs gets the operation's true response, and the
// neighbours do not notice.
func TestCancelledInABatch(t *testing.T) {
	t.Parallel()
	for at := range 3 {
		bubble(t, func(t *testing.T, db *sqlite.DB) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			batch := []storage.Operation{
				threeSteps(0, nil),
				threeSteps(1, func(_ context.Context, tx storage.Tx, step int) error {
					if step == at {
						cancel()
						// the caller's context by mistake, instead of the operation's
						_, err := tx.Exec(ctx, "INSERT INTO rows_of (act, step) VALUES (1, 9)")
						return err
					}
					return nil
				}),
				threeSteps(2, nil),
			}
			for i, err := range batched(t, db, batch) {
				if err != nil {
					t.Errorf("act %d: %v", i, err)
				}
			}
			wantRows(t, db, 0, 3)
			wantRows(t, db, 1, 4)
			wantRows(t, db, 2, 3)
		})
	}
}

// A database that may not grow refuses the operation that needs room, not the others.
func TestFullInABatch(t *testing.T) {
	t.Parallel()
	for victim := range 4 {
		bubble(t, func(t *testing.T, db *sqlite.DB) {
			var pages int
			if err := storage.One(t.Context(), db, "PRAGMA page_count", nil, &pages); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)); err != nil {
				t.Fatal(err)
			}
			batch := make([]storage.Operation, 4)
			for i := range batch {
				batch[i] = threeSteps(i, nil)
			}
			batch[victim] = threeSteps(victim, func(ctx context.Context, tx storage.Tx, step int) error {
				if step != 1 {
					return nil
				}
				_, err := tx.Exec(ctx, "INSERT INTO rows_of (act, step, filler) VALUES (99, 99, zeroblob(1000000))")
				return err
			})
			for i, err := range batched(t, db, batch) {
				if i == victim && !errors.Is(err, storage.ErrFull) || i != victim && err != nil {
					t.Errorf("act %d: %v", i, err)
				}
				wantRows(t, db, i, map[bool]int{true: 0, false: 3}[i == victim])
			}
		})
	}
}

// refusingCommits opens connections whose commits fail once now is set.
type refusingCommits struct {
	driver.Connector
	now atomic.Bool
}

type (
	refusingConn struct {
		driver.Conn
		of *refusingCommits
	}
	refusingStmt struct {
		driver.Stmt
		of *refusingCommits
	}
)

var errCommit = errors.New("disk I/O error")

func (d *refusingCommits) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := d.Connector.Connect(ctx)
	return refusingConn{conn, d}, err
}

func (c refusingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if query == "COMMIT" {
		return refusingStmt{stmt, c.of}, err
	}
	return stmt, err
}

func (s refusingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if s.of.now.Load() {
		return nil, errCommit
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// When the outcome of a commit is unknown, every operation of the batch returns the error of the
// commit, even an operation that failed with its own error: what another operation wrote may have
// caused that error.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	d := &refusingCommits{}
	connector := func(dsn string) (_ driver.Connector, err error) {
		if d.Connector != nil { // the readers come second
			return moderncsqlite.NewConnector(dsn)
		}
		d.Connector, err = moderncsqlite.NewConnector(dsn)
		return d, err
	}
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: sqlite.Memory, Connector: connector})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(t.Context(), "CREATE TABLE rows_of (act BIGINT, step BIGINT)"); err != nil {
			t.Fatal(err)
		}
		refusal := func(ctx context.Context, tx storage.Tx) error {
			var seen int
			if err := storage.One(ctx, tx, "SELECT COUNT(*) FROM rows_of", nil, &seen); err != nil || seen != 3 {
				t.Errorf("it saw %d rows: %v", seen, err)
			}
			d.now.Store(true)
			return errMeddled
		}
		for i, err := range batched(t, db, []storage.Operation{threeSteps(0, nil), refusal}) {
			if !errors.Is(err, errCommit) || errors.Is(err, errMeddled) {
				t.Errorf("act %d: %v", i, err)
			}
		}
	})
}

// A panic in a batched operation reaches only that operation's caller, even if another
// goroutine ran the batch.
func TestPanicInABatch(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		recovered := make([]any, 3)
		gate, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range recovered {
			wg.Go(func() {
				defer func() { recovered[i] = recover() }()
				_ = db.Write(t.Context(), threeSteps(i, func(_ context.Context, _ storage.Tx, step int) error {
					if i == 1 && step == 2 {
						panic("of act 1")
					}
					return nil
				}))
			})
			synctest.Wait()
		}
		if err := gate.Rollback(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for i, got := range recovered {
			if (got == "of act 1") != (i == 1) || (got == nil) != (i != 1) {
				t.Errorf("caller %d recovered %v", i, got)
			}
			wantRows(t, db, i, map[bool]int{true: 0, false: 3}[i == 1])
		}
	})
}

// An open transaction makes writers wait, five seconds by default. The error
// explains the remedy.
func TestBusy(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		tx, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), threeSteps(1, nil))
		if !errors.Is(err, storage.ErrBusy) || !strings.Contains(err.Error(), "a transaction is open; use WithTx") {
			t.Errorf("a write beside an open transaction: %v", err)
		}
		if err := insertStep(t.Context(), tx, 2, 0); err != nil {
			t.Errorf("inside: %v", err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantRows(t, db, 1, 0)
		if err := db.Write(t.Context(), threeSteps(1, nil)); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Close rejects the waiting jobs and ends a transaction that was left open.
func TestCloseWithWaiters(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		tx, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		waiters := []func() error{
			func() error { return db.Write(t.Context(), threeSteps(1, nil)) },
			func() error { _, err := db.BeginTx(t.Context()); return err },
		}
		for _, wait := range waiters {
			wg.Go(func() {
				if err := wait(); !errors.Is(err, storage.ErrClosed) {
					t.Errorf("a waiter got %v", err)
				}
			})
		}
		synctest.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := tx.Commit(t.Context()); !errors.Is(err, storage.ErrTxDone) {
			t.Errorf("commit after close: %v", err)
		}
	})
}

// Several transactions and operations take turns in the order in which they came.
func TestTurns(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		gate, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []int
		arrived := func(i int) { mu.Lock(); defer mu.Unlock(); order = append(order, i) }
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if i%3 != 1 {
					_ = db.Write(t.Context(), func(context.Context, storage.Tx) error { arrived(i); return nil })
					return
				}
				tx, err := db.BeginTx(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				arrived(i)
				_ = tx.Rollback()
			})
			synctest.Wait()
		}
		_ = gate.Rollback()
		wg.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4 5]" {
			t.Errorf("order %v", order)
		}
	})
}

// An operation that ends its goroutine, as t.FailNow does, does not take the
// connection with it.
func TestGoexitInAnAct(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, db *sqlite.DB) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
				_ = insertStep(ctx, tx, 1, 0)
				goexit()
				return nil
			})
		}()
		<-done
		wantRows(t, db, 1, 0)
		if err := db.Write(t.Context(), threeSteps(2, nil)); err != nil {
			t.Error(err)
		}
	})
}
