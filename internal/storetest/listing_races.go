package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// listingRaceCases: of any number at once, as many as may succeed do.
var listingRaceCases = []testCase[partnerkit.Store]{
	// CON-03: from each state, all steps at once.
	{"Race of steps", func(t *testing.T, e partnerkit.Store) {
		ways := map[consolestore.RevisionState][]consolestore.RevisionState{
			consolestore.RevisionDraft:    {consolestore.RevisionSubmitted},
			consolestore.RevisionInReview: {consolestore.RevisionApproved, consolestore.RevisionRejected, consolestore.RevisionChangesRequested},
			consolestore.RevisionRejected: {consolestore.RevisionDraft},
		}
		for from, to := range ways {
			for range max(1, rounds()/len(ways)) {
				f := newListing(t, e)
				r := f.draft(slug())
				r.State = from
				f.take(t, next(r))
				won := raceSteps(t, 8, func(i int) error {
					_, err := e.ChangeListing(t.Context(), f.app.ID, move(from, to[i%len(to)]))
					return err
				}, errStep)
				if got := f.listing(t); won != 1 || (got.Live != nil) != (got.Revision.State == consolestore.RevisionApproved) {
					t.Fatalf("from %s: %d won, %s, live %v", from, won, got.Revision.State, got.Live)
				}
			}
		}
	}},
	// CON-04: never a listing that shows what is gone.
	{"Race of a save against the deletion of what it shows", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newListing(t, e)
			won := raceSteps(t, 2, func(i int) error {
				if i == 0 {
					return e.DeleteAsset(t.Context(), f.app.ID, f.icon.ID)
				}
				_, err := e.ChangeListing(t.Context(), f.app.ID, f.first(f.draft(slug())))
				return err
			}, errStep, consolestore.ErrAssetInUse)
			if won != 1 || f.hasListing(t) != f.hasAsset(t, f.icon.ID) {
				t.Fatalf("%d won; listing: %v, asset: %v", won, f.hasListing(t), f.hasAsset(t, f.icon.ID))
			}
		}
	}},
	{"Race for the last places", func(t *testing.T, e partnerkit.Store) {
		adders := map[string]func(f *listingFixture) error{
			"assets": func(f *listingFixture) error {
				return e.AddAsset(t.Context(), withData(f.asset(consolestore.AssetIcon, noon), []byte("x")), maxItems+2)
			},
			"extensions": func(f *listingFixture) error {
				return addExtension(t.Context(), e, f.extension(noon), mayExtend)
			},
			"functions": func(f *listingFixture) error { return addFunction(t.Context(), e, f.function(noon)) },
		}
		for name, add := range adders {
			for range max(1, rounds()/len(adders)) {
				f := newListing(t, e)
				if added := raceSteps(t, contenders, func(int) error { return add(f) }, consolestore.ErrFull); added != maxItems {
					t.Fatalf("%d %s", added, name)
				}
			}
		}
	}},
}

// listingLockCases: what an operation relies on stays until it has committed.
var listingLockCases = []testCase[*Env]{
	{"Narrowing an app waits for an extension", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		must(t, addExtension(t.Context(), e.WithTx(tx), f.extension(noon), mayExtend))
		wantWaits(t, "narrow the app", tx.Commit, func() error { return f.narrow(t, e.Store) }, nil)
	}},
	{"An extension waits for an app that is narrowed", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		kept := f.extension(noon)
		must(t, addExtension(t.Context(), e, kept, mayExtend))
		acts := map[string]func() error{
			"add": func() error { return addExtension(t.Context(), e, f.extension(noon), mayExtend) },
			"update": func() error {
				return updateExtension(t.Context(), e, f.app.ID, kept.ID, func(a partner.App, x consolestore.Extension) (consolestore.Extension, error) {
					return x, mayExtend(a)
				})
			},
		}
		for name, act := range acts {
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			must(t, f.narrow(t, e.WithTx(tx)))
			wantWaits(t, name, tx.Commit, act, func(err error) bool { return errors.Is(err, errStep) })
			e.exec(t, `UPDATE partnerkit_app SET scopes = 'invoices:read' WHERE id = $1`, f.app.ID)
		}
	}},
}

// narrow takes invoices:read from the app.
func (f *listingFixture) narrow(t *testing.T, on *sqlstore.Store) error {
	t.Helper()
	_, err := on.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
		a.Scopes = identity.MustScopes("events:read")
		return a, nil
	})
	return err
}

// raceSteps runs n contenders and counts how many succeeded. All others must have failed
// with one of the refusals.
func raceSteps(t *testing.T, n int, contend func(i int) error, refusals ...error) int {
	t.Helper()
	var won atomic.Int64
	testdb.Race(n, func(i int) {
		err := contend(i)
		if err == nil {
			won.Add(1)
			return
		}
		for _, refusal := range refusals {
			if errors.Is(err, refusal) {
				return
			}
		}
		t.Error(err)
	})
	return int(won.Load())
}
