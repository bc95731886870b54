package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// listingRaceCases: of any number at once, as many as may succeed do.
var listingRaceCases = []testCase[*Env]{
	// CON-03.
	{"Race for the first save", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newListing(t, e)
			won := raceSteps(t, contenders, func(int) error {
				_, err := e.ChangeListing(t.Context(), f.app.ID, f.first(f.draft(slug())))
				return err
			}, errStep)
			if won != 1 || f.slugs(t) != 1 {
				t.Fatalf("%d first saves, %d slugs", won, f.slugs(t))
			}
		}
	}},
	// CON-03.
	{"Race for a slug", func(t *testing.T, e *Env) {
		apps := make([]*listingFixture, contenders)
		for i := range apps {
			apps[i] = newListing(t, e)
		}
		for range max(1, rounds()/10) {
			wanted := slug()
			won := raceSteps(t, contenders, func(i int) error {
				_, err := e.ChangeListing(t.Context(), apps[i].app.ID, func(s console.ListingStanding) (console.Revision, error) {
					r := apps[i].draft(wanted)
					if s.Listing != nil {
						r.ID = s.Listing.Revision.ID // gives up the slug before
					}
					return r, nil
				})
				return err
			}, console.ErrSlugTaken)
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_listing_revision WHERE slug = $1", wanted); won != 1 || n != 1 {
				t.Fatalf("%d won, %d have it", won, n)
			}
		}
	}},
	// CON-03: from each state, all steps at once.
	{"Race of steps", func(t *testing.T, e *Env) {
		ways := map[console.RevisionState][]console.RevisionState{
			console.RevisionDraft:    {console.RevisionSubmitted},
			console.RevisionInReview: {console.RevisionApproved, console.RevisionRejected, console.RevisionChangesRequested},
			console.RevisionRejected: {console.RevisionDraft},
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
				if got := f.listing(t); won != 1 || f.isReviewed(t) != (got.Revision.State == console.RevisionApproved) || (got.Live != nil) != f.isReviewed(t) {
					t.Fatalf("from %s: %d won, %s, reviewed %v", from, won, got.Revision.State, f.isReviewed(t))
				}
			}
		}
	}},
	// CON-04: never a listing that shows what is gone.
	{"Race of a save against the deletion of what it shows", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newListing(t, e)
			won := raceSteps(t, 2, func(i int) error {
				if i == 0 {
					return e.DeleteAsset(t.Context(), f.app.ID, f.icon.ID)
				}
				_, err := e.ChangeListing(t.Context(), f.app.ID, f.first(f.draft(slug())))
				return err
			}, errStep, console.ErrAssetInUse)
			if won != 1 || f.hasListing(t) != f.hasAsset(t, f.icon.ID) {
				t.Fatalf("%d won; listing: %v, asset: %v", won, f.hasListing(t), f.hasAsset(t, f.icon.ID))
			}
		}
	}},
	{"Race for the last places", func(t *testing.T, e *Env) {
		adders := map[string]func(f *listingFixture) error{
			"assets": func(f *listingFixture) error {
				return e.AddAsset(t.Context(), f.asset(console.AssetIcon, noon), []byte("x"), maxItems+2)
			},
			"extensions": func(f *listingFixture) error {
				return e.AddExtension(t.Context(), f.extension(noon), maxItems, mayExtend)
			},
			"functions": func(f *listingFixture) error { return e.AddFunction(t.Context(), f.function(noon), maxItems) },
		}
		for name, add := range adders {
			for range max(1, rounds()/len(adders)) {
				f := newListing(t, e)
				if added := raceSteps(t, contenders, func(int) error { return add(f) }, console.ErrFull); added != maxItems {
					t.Fatalf("%d %s", added, name)
				}
			}
		}
	}},
}

// listingLockCases: what an act relies on stays until it has committed.
var listingLockCases = []testCase[*Env]{
	{"Narrowing an app waits for an extension", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		must(t, e.WithTx(tx).AddExtension(t.Context(), f.extension(noon), maxItems, mayExtend))
		wantWaits(t, "narrow the app", tx.Commit, func() error { return f.narrow(t, e.Store) }, nil)
	}},
	{"An extension waits for an app that is narrowed", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		kept := f.extension(noon)
		must(t, e.AddExtension(t.Context(), kept, maxItems, mayExtend))
		acts := map[string]func() error{
			"add": func() error { return e.AddExtension(t.Context(), f.extension(noon), maxItems, mayExtend) },
			"update": func() error {
				_, err := e.UpdateExtension(t.Context(), f.app.ID, kept.ID, func(a oauthserver.App, x console.Extension) (console.Extension, error) {
					return x, mayExtend(a)
				})
				return err
			},
		}
		for name, act := range acts {
			tx, err := e.BeginTx(t.Context())
			must(t, err)
			must(t, f.narrow(t, e.WithTx(tx)))
			wantWaits(t, name, tx.Commit, act, func(err error) bool { return errors.Is(err, errStep) })
			f.exec(t, `UPDATE partnerkit_app SET scopes = '["invoices:read"]' WHERE id = $1`, f.app.ID)
		}
	}},
}

// narrow takes invoices:read from the app.
func (f *listingFixture) narrow(t *testing.T, on *sqlstore.Store) error {
	t.Helper()
	_, err := on.UpdateApp(t.Context(), f.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.Scopes = identity.MustScopes("events:read")
		return a, nil
	})
	return err
}

// raceSteps lets n contend and counts who succeeded. All others must have been refused
// in one of these ways.
func raceSteps(t *testing.T, n int, contend func(i int) error, refusals ...error) int {
	t.Helper()
	var won atomic.Int64
	Race(n, func(i int) {
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
