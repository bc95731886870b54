package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
)

// dataRaceCases: of any number at once, as many as may succeed do.
var dataRaceCases = []testCase[partnerkit.Store]{
	{"Race to declare a field", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newData(t, e)
			var added, refused atomic.Int64
			testdb.Race(contenders, func(int) {
				switch err := createField(t.Context(), e, f.another("wanted"), maxFields); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, valuestore.ErrTaken):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			if added.Load() != 1 || refused.Load() != contenders-1 {
				t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
			}
		}
	}},
	{"Race to declare too many fields", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newData(t, e)
			var added, refused atomic.Int64
			testdb.Race(contenders, func(i int) {
				switch err := createField(t.Context(), e, f.another(fmt.Sprintf("k%d", i)), maxFields); {
				case err == nil:
					added.Add(1)
				case errors.Is(err, errTooManyFields):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			if added.Load() != maxFields-1 || refused.Load() != contenders-maxFields+1 {
				t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
			}
		}
	}},
	// APD-02: all succeed, there is one value, and what it is now was written last.
	{"Race to write a value", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newData(t, e)
			ids := make([]string, contenders)
			testdb.Race(contenders, func(i int) {
				w := f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": fmt.Sprint(i)}))
				written, err := e.WriteValues(t.Context(), w)
				if err != nil {
					t.Error(err)
					return
				}
				ids[i] = written[0].ID
			})
			seen := f.seen(t, "inv_1")
			if len(seen) != 1 || slices.ContainsFunc(ids, func(id string) bool { return id != seen[0].ID }) {
				t.Fatalf("%v is there, and was answered %v", seen, ids)
			}
			if n := f.recorded(t, events.AppDataUpdated); n != contenders {
				t.Errorf("%d of %d changes were recorded", n, contenders)
			}
		}
	}},
	// APD-02: a write is all or nothing, even if others write the same values in another order.
	{"Race to write values in opposite orders", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newData(t, e)
			testdb.Race(8, func(i int) {
				var all []valuestore.Draft
				for _, resource := range numbered(10) {
					all = append(all, drafts(f.field, noon, map[string]string{resource: fmt.Sprint(i)})...)
				}
				if i%2 == 1 {
					slices.Reverse(all)
				}
				if _, err := e.WriteValues(t.Context(), f.write(noon, all)); err != nil {
					t.Error(err)
				}
			})
			seen := f.seen(t, numbered(10)...)
			if len(seen) != 10 || slices.ContainsFunc(seen, func(v valuestore.Value) bool { return string(v.Value) != string(seen[0].Value) }) {
				t.Fatalf("a mixture of %v", seen)
			}
		}
	}},
	// APD-05: one finds it.
	{"Race to delete a value", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newData(t, e)
			v := f.put(t, "inv_1", `"a"`)
			var won, lost atomic.Int64
			testdb.Race(contenders, func(int) {
				switch err := e.DeleteValue(t.Context(), f.removal(v.ID)); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, partner.ErrNotFound):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
			if n := f.recorded(t, events.AppDataUpdated); won.Load() != 1 || lost.Load() != contenders-1 || n != 2 {
				t.Fatalf("%d won, %d lost, %d events", won.Load(), lost.Load(), n)
			}
		}
	}},
}

// dataLockCases: nothing is written to what is ending.
var dataLockCases = []testCase[*Env]{
	{"Deleting a field waits for a write to it", func(t *testing.T, e *Env) {
		f := newData(t, e)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		get[[]valuestore.Value](t)(e.WithTx(tx).WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": "1"}))))
		wantWaits(t, "delete", tx.Commit, func() error { return deleteField(t.Context(), e, f.app.ID, f.field.ID, noon) }, nil)
	}},
	{"A write waits for its field that is being deleted", func(t *testing.T, e *Env) {
		f := newData(t, e)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		must(t, deleteField(t.Context(), e.WithTx(tx), f.app.ID, f.field.ID, noon))
		wantWaits(t, "write", tx.Commit, func() error {
			_, err := e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": "1"})))
			return err
		}, func(err error) bool { return errors.Is(err, partner.ErrNotFound) })
	}},
	// APD-08: the next installation's values are none of the redacted ones.
	{"A write waits for the redaction of its space", func(t *testing.T, e *Env) {
		f := newData(t, e)
		old := f.put(t, "inv_1", `"old"`)
		must(t, f.end(t, partner.InstallationRemoved))
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		redacting := *f
		redacting.oauthFixture = new(*f.oauthFixture)
		redacting.Store = e.WithTx(tx)
		must(t, redacting.redact(t.Context()))
		wantWaits(t, "write", tx.Commit, func() error {
			_, err := e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": `"new"`})))
			return err
		}, nil)
		if seen := f.seen(t, "inv_1"); len(seen) != 1 || seen[0].ID == old.ID || string(seen[0].Value) != `"new"` {
			t.Errorf("%v is there", seen)
		}
	}},
}
