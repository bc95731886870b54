package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// listingFaultCases: each operation under a fault at each of its statements and with a lost
// response to its commit.
var listingFaultCases = []testCase[*Env]{
	{"First save under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var r console.Revision
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newListing(t, e); r = f.draft(slug()) },
			Act:     func(ctx context.Context) error { return change(ctx, f, f.first(r)) },
			Check: func(t *testing.T, happened bool) {
				if f.hasListing(t) != happened || (e.slugs(t, f.app.ID) == 1) != happened {
					t.Errorf("happened %v: listing %v, %d slugs", happened, f.hasListing(t), e.slugs(t, f.app.ID))
				}
			},
		})
	}},
	{"Another revision under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var r console.Revision
		var before console.Listing
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newListing(t, e); before = f.approve(t, f.draft(slug())); r = f.draft(slug()) },
			Act:     func(ctx context.Context) error { return change(ctx, f, next(r)) },
			Check: func(t *testing.T, happened bool) {
				want := before
				if happened {
					want.Revision = r
					want.Version++
				}
				if diff := cmp.Diff(want, f.listing(t)); diff != "" || (e.slugs(t, f.app.ID) == 2) != happened {
					t.Errorf("happened %v: %d slugs, (-want +got)\n%s", happened, e.slugs(t, f.app.ID), diff)
				}
			},
		})
	}},
	{"First approval under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newListing(t, e)
				r := f.draft(slug())
				r.State = console.RevisionInReview
				f.take(t, next(r))
			},
			Act: func(ctx context.Context) error {
				return change(ctx, f, move(console.RevisionInReview, console.RevisionApproved))
			},
			Check: func(t *testing.T, happened bool) {
				got := f.listing(t)
				if (got.Live != nil) != happened || (got.Revision.State == console.RevisionApproved) != happened {
					t.Errorf("happened %v: %+v", happened, got)
				}
			},
		})
	}},
	{"Second approval under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var r console.Revision
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newListing(t, e)
				f.approve(t, f.draft(slug()))
				r = f.draft(slug())
				r.State = console.RevisionInReview
				f.take(t, next(r))
			},
			Act: func(ctx context.Context) error {
				return change(ctx, f, move(console.RevisionInReview, console.RevisionApproved))
			},
			Check: func(t *testing.T, happened bool) {
				if got := f.listing(t); (got.Live.ID == r.ID) != happened || (e.slugs(t, f.app.ID) == 1) != happened {
					t.Errorf("happened %v: %+v, %d slugs", happened, got, e.slugs(t, f.app.ID))
				}
			},
		})
	}},
	{"Assets under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var a console.Asset
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newListing(t, e); a = f.asset(console.AssetIcon, noon) },
			Act:     func(ctx context.Context) error { return e.AddAsset(ctx, withData(a, []byte("x")), maxItems) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, f.hasAsset(t, a.ID), happened) },
		})
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newListing(t, e) },
			Act:     func(ctx context.Context) error { return e.DeleteAsset(ctx, f.app.ID, f.icon.ID) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, f.hasAsset(t, f.icon.ID), !happened) },
		})
	}},
	{"Extensions under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var x console.Extension
		read := func(t *testing.T) (console.Extension, bool) {
			t.Helper()
			got, err := oneExtension(e)(t.Context(), f.app.ID, x.ID)
			if !errors.Is(err, oauthserver.ErrNotFound) {
				must(t, err)
			}
			return got, err == nil
		}
		isThere := func(t *testing.T) bool { _, ok := read(t); return ok }
		absent := func(t *testing.T) { f = newListing(t, e); x = f.extension(noon) }
		added := func(t *testing.T) { absent(t); must(t, addExtension(t.Context(), e, x, mayExtend)) }
		EveryFault(t, e.Tap, Faulty{
			Prepare: absent,
			Act:     func(ctx context.Context) error { return addExtension(ctx, e, x, mayExtend) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, isThere(t), happened) },
		})
		EveryFault(t, e.Tap, Faulty{
			Prepare: added,
			Act: func(ctx context.Context) error {
				return updateExtension(ctx, e, f.app.ID, x.ID, func(_ oauthserver.App, x console.Extension) (console.Extension, error) {
					x.Label = "New"
					return x, nil
				})
			},
			Check: func(t *testing.T, happened bool) {
				if got, _ := read(t); (got.Label == "New") != happened {
					t.Errorf("happened %v: %q", happened, got.Label)
				}
			},
		})
		EveryFault(t, e.Tap, Faulty{
			Prepare: added,
			Act:     func(ctx context.Context) error { return deleteExtension(ctx, e, f.app.ID, x.ID) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, isThere(t), !happened) },
		})
	}},
	{"Functions under faults", func(t *testing.T, e *Env) {
		var f *listingFixture
		var fn console.Function
		isThere := func(t *testing.T) bool {
			return len(get[[]console.Function](t)(e.Functions(t.Context(), f.app.ID))) == 1
		}
		absent := func(t *testing.T) { f = newListing(t, e); fn = f.function(noon) }
		EveryFault(t, e.Tap, Faulty{
			Prepare: absent,
			Act:     func(ctx context.Context) error { return addFunction(ctx, e, fn) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, isThere(t), happened) },
		})
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { absent(t); must(t, addFunction(t.Context(), e, fn)) },
			Act:     func(ctx context.Context) error { return deleteFunction(ctx, e, f.app.ID, fn.ID) },
			Check:   func(t *testing.T, happened bool) { wantThere(t, isThere(t), !happened) },
		})
	}},
}

func change(ctx context.Context, f *listingFixture, s step) error {
	_, err := f.ChangeListing(ctx, f.app.ID, s)
	return err
}

func wantThere(t *testing.T, isThere, want bool) {
	t.Helper()
	if isThere != want {
		t.Errorf("is there: %v, want %v", isThere, want)
	}
}
