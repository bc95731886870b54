package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

var cancelCases = []testCase[storage.DB]{
	{"A cancelled context starts nothing", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.write(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("write: %v", err)
		}
		if _, err := db.BeginTx(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("begin: %v", err)
		}
		if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
			t.Errorf("query: %v", err)
		}
		s.wantRows(t, 1, 0)
	}},
	{"A cancelled context stops a waiting writer", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		holder, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Rollback()
		if err := s.insert(t.Context(), holder, 1, 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error)
		go func() { waiting <- s.write(ctx, 1) }() // meets the holder's row, or its connection
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("the waiting write returned %v", err)
		}
		if err := holder.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantRows(t, 1, 1)
		if err := s.write(t.Context(), 2); err != nil {
			t.Errorf("the next write: %v", err)
		}
	}},
	{"A cancelled context ends an open transaction", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := db.BeginTx(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.insert(ctx, tx, 1, 0); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := s.write(t.Context(), 1); err != nil { // it waits for the end of tx
			t.Fatal(err)
		}
		s.wantRows(t, 1, 3)
		if err := tx.Commit(t.Context()); err == nil {
			t.Error("the commit of a cancelled transaction succeeded")
		}
		if err := tx.Rollback(); err != nil {
			t.Errorf("rollback: %v", err)
		}
	}},
}

var openTxCases = []testCase[storage.DB]{
	{"A transaction commits as a whole", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		tx, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.three(t.Context(), tx, 1); err != nil {
			t.Fatal(err)
		}
		s.wantRows(t, 1, 0)
		if got := s.count(t, tx, 1); got != 3 {
			t.Errorf("the transaction sees %d of its own 3 rows", got)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.wantRows(t, 1, 3)
		if _, err := tx.Exec(t.Context(), "SELECT 1"); !errors.Is(err, storage.ErrTxDone) {
			t.Errorf("exec after the end: %v", err)
		}
		if _, err := tx.Query(t.Context(), "SELECT 1"); !errors.Is(err, storage.ErrTxDone) {
			t.Errorf("query after the end: %v", err)
		}
		if err := tx.Commit(t.Context()); !errors.Is(err, storage.ErrTxDone) {
			t.Errorf("second commit: %v", err)
		}
		if err := tx.Rollback(); err != nil {
			t.Errorf("rollback after the end: %v", err)
		}
	}},
	{"A transaction rolls back as a whole", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		tx, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.three(t.Context(), tx, 1); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		s.wantRows(t, 1, 0)
	}},
	{"A savepoint keeps the transaction usable", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		tx, err := db.BeginTx(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		steps := []struct {
			act  int
			fail func(ctx context.Context, tx storage.Tx) error
		}{
			{act: 1},
			{act: 2, fail: func(context.Context, storage.Tx) error { return errRefused }},
			{act: 3, fail: func(ctx context.Context, tx storage.Tx) error { return s.insert(ctx, tx, 3, 0) }},
			{act: 4, fail: func(context.Context, storage.Tx) error { panic("of the act") }},
			{act: 5},
		}
		for _, step := range steps {
			func() {
				defer func() { _ = recover() }()
				err := storage.Savepoint(t.Context(), tx, func(ctx context.Context, tx storage.Tx) error {
					if err := s.three(ctx, tx, step.act); err != nil || step.fail == nil {
						return err
					}
					return step.fail(ctx, tx)
				})
				if (err != nil) != (step.fail != nil) {
					t.Errorf("act %d: %v", step.act, err)
				}
			}()
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		for act, want := range map[int]int{1: 3, 2: 0, 3: 0, 4: 0, 5: 3} {
			s.wantRows(t, act, want)
		}
	}},
}

var closeCases = []testCase[storage.DB]{
	{"A closed database answers an error", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		for range 2 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		calls := map[string]func() error{
			"write":   func() error { return s.write(t.Context(), 1) },
			"migrate": func() error { return db.Migrate(t.Context(), func(context.Context, storage.Tx) error { return nil }) },
			"exec":    func() error { _, err := db.Exec(t.Context(), "SELECT 1"); return err },
			"query":   func() error { _, err := db.Query(t.Context(), "SELECT 1"); return err },
			"begin":   func() error { _, err := db.BeginTx(t.Context()); return err },
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, storage.ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}},
	{"Close under load lets no act half-finish", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		testdb.Race(20, func(i int) {
			if i == 10 {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			_ = s.write(t.Context(), i) // done, or refused: no panic, no hang
		})
	}},
}
