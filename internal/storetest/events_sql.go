package storetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// sqlEventCases need what only sqlstore has.
var sqlEventCases = []testCase[*Env]{
	{"Recording waits for nobody", func(t *testing.T, e *Env) {
		if e.Tap.Dialect().ForUpdate == "" {
			t.Skip("one writer at a time")
		}
		business := newBusiness()
		both := happened(business, "a.b", 2)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		defer tx.Rollback()
		must(t, e.WithTx(tx).RecordEvents(t.Context(), both[0]))
		must(t, e.RecordEvents(t.Context(), both[1])) // beside the open one
		number(t, e, business)
		if got := idsOf(page(t, e, business, "a.b")); !slices.Equal(got, []string{both[1].ID}) {
			t.Errorf("%v is visible", got)
		}
		must(t, tx.Commit(t.Context()))
		number(t, e, business)
		if got := idsOf(page(t, e, business, "a.b")); !slices.Equal(got, []string{both[1].ID, both[0].ID}) {
			t.Errorf("order %v", got)
		}
	}},
	// A counter in the host's transaction would make these wait in a circle.
	{"Transactions over two businesses in opposite orders", func(t *testing.T, e *Env) {
		there := []string{newBusiness(), newBusiness()}
		back := []string{there[1], there[0]}
		var committed sync.WaitGroup
		for range testenv.Rounds(5, 50) {
			committed.Add(2)
			testdb.Race(4, func(i int) {
				if i >= 2 {
					for _, business := range there {
						if _, err := e.NumberEvents(t.Context(), business); err != nil {
							t.Error(err)
						}
					}
					return
				}
				defer committed.Done()
				order := there
				if i == 1 {
					order = back
				}
				tx, err := e.BeginTx(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer tx.Rollback()
				for _, business := range order {
					if err := e.WithTx(tx).RecordEvents(t.Context(), happened(business, "a.b", 1)...); err != nil {
						t.Error(err)
					}
				}
				if err := tx.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			})
			committed.Wait()
		}
		for _, business := range there {
			number(t, e, business)
			if n := len(page(t, e, business, "a.b")); n != 2*testenv.Rounds(5, 50) {
				t.Errorf("%d events of %s", n, business)
			}
		}
	}},
}
