package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// dbCases are the contract of storage.DB.
var dbCases = joinCases(actCases, cancelCases, openTxCases, closeCases)

// scratch is a table of the suite's own, of rows (act, step).
type scratch struct {
	db   storage.DB
	name string
}

func newScratch(t testing.TB, db storage.DB) scratch {
	t.Helper()
	s := scratch{db: db, name: "scratch"}
	if schema := db.Dialect().Schema; schema != "" {
		s.name = `"` + schema + `".scratch`
	}
	err := db.Migrate(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, "CREATE TABLE "+s.name+" (act BIGINT NOT NULL, step BIGINT NOT NULL, PRIMARY KEY (act, step))")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s scratch) insert(ctx context.Context, tx storage.Tx, act, step int) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+s.name+" (act, step) VALUES ($1, $2)", act, step)
	return err
}

// write is an operation of three rows.
func (s scratch) write(ctx context.Context, act int) error {
	return s.db.Write(ctx, func(ctx context.Context, tx storage.Tx) error { return s.three(ctx, tx, act) })
}

func (s scratch) three(ctx context.Context, tx storage.Tx, act int) error {
	for step := range 3 {
		if err := s.insert(ctx, tx, act, step); err != nil {
			return err
		}
	}
	return nil
}

func (s scratch) count(t testing.TB, from storage.Querier, act int) int {
	t.Helper()
	var n int
	err := storage.One(context.WithoutCancel(t.Context()), from, "SELECT COUNT(*) FROM "+s.name+" WHERE act = $1", []any{act}, &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s scratch) wantRows(t testing.TB, act, want int) {
	t.Helper()
	if got := s.count(t, s.db, act); got != want {
		t.Errorf("act %d left %d rows, want %d", act, got, want)
	}
}

var errRefused = errors.New("storetest: refused")

var actCases = []testCase[storage.DB]{
	{"A committed act is seen by the next read", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		for act := range 20 {
			if err := s.write(t.Context(), act); err != nil {
				t.Fatal(err)
			}
			s.wantRows(t, act, 3)
		}
	}},
	{"A single statement is an act", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		for _, want := range []bool{true, false} { // the second time the key is taken
			n, err := db.Exec(t.Context(), "INSERT INTO "+s.name+" (act, step) VALUES ($1, $2)", 1, 1)
			if (err == nil) != want || (n == 1) != want {
				t.Errorf("inserted %d rows, error %v", n, err)
			}
		}
		n, err := db.Exec(t.Context(), "DELETE FROM "+s.name+" WHERE act = $1", 1)
		if n != 1 || err != nil {
			t.Errorf("deleted %d rows, error %v", n, err)
		}
	}},
	{"A refusal undoes its own act only", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		const n = 60
		testdb.Race(n, func(i int) {
			err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
				if err := s.three(ctx, tx, i); err != nil {
					return err
				}
				switch i % 4 {
				case 1:
					return errRefused
				case 2:
					return s.insert(ctx, tx, i, 0) // the key is taken
				}
				return nil
			})
			if (err == nil) != (i%4 == 0 || i%4 == 3) || (i%4 == 1) != errors.Is(err, errRefused) {
				t.Errorf("act %d: %v", i, err)
			}
		})
		for i := range n {
			s.wantRows(t, i, map[int]int{0: 3, 3: 3}[i%4])
		}
	}},
	{"A fault at any statement undoes its own act only", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		for _, fault := range []testdb.Fault{testdb.FaultError, testdb.FaultCancel} {
			for step := 1; step <= 3; step++ {
				base := 1000*step + map[testdb.Fault]int{testdb.FaultError: 0, testdb.FaultCancel: 100}[fault]
				faultAmongNeighbours(t, s, fault, step, base)
			}
		}
	}},
	{"A panic reaches its caller and undoes the act", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		testdb.Race(10, func(i int) {
			defer func() {
				if got := recover(); (got != nil) != (i == 5) {
					t.Errorf("act %d: recovered %v", i, got)
				}
			}()
			err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
				if err := s.three(ctx, tx, i); err != nil {
					return err
				}
				if i == 5 {
					panic("of the act")
				}
				return nil
			})
			if err != nil {
				t.Errorf("act %d: %v", i, err)
			}
		})
		s.wantRows(t, 5, 0)
		s.wantRows(t, 6, 3)
	}},
	{"An act's transaction ends with it", func(t *testing.T, db storage.DB) {
		s := newScratch(t, db)
		var leaked storage.Tx
		err := db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
			leaked = tx
			return s.insert(ctx, tx, 1, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.insert(t.Context(), leaked, 1, 2); err == nil {
			t.Error("a statement ran after the act")
		}
		s.wantRows(t, 1, 1)
	}},
}

// faultAmongNeighbours runs ten operations at once, one of them with a fault.
func faultAmongNeighbours(t *testing.T, s scratch, fault testdb.Fault, step, base int) {
	t.Helper()
	tap := testdb.NewTap(s.db)
	ctx, cancel := tap.Cancellable(t.Context())
	defer cancel()
	tap.Arm(fault, step)
	faulty := scratch{db: tap, name: s.name}
	errs := make([]error, 10)
	testdb.Race(10, func(i int) {
		if i == 4 {
			errs[i] = faulty.write(ctx, base+i)
		} else {
			errs[i] = s.write(t.Context(), base+i)
		}
	})
	for i, err := range errs {
		if (err != nil) && (i != 4) || fault == testdb.FaultError && i == 4 && !errors.Is(err, testdb.ErrInjected) {
			t.Errorf("%s at %d: act %d: %v", fault, step, i, err)
		}
		want := 3
		if err != nil {
			want = 0
		}
		s.wantRows(t, base+i, want)
	}
	if err := s.write(t.Context(), base+50); err != nil {
		t.Error(fmt.Errorf("afterwards: %w", err))
	}
}
