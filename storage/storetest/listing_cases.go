package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// listingCases are the acts on listings, one at a time. CON-03.
var listingCases = []testCase[*Env]{
	{"A listing comes back as it was", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		if f.hasListing(t) {
			t.Error("there is one before the first save")
		}
		want := console.Listing{Revision: f.draft(slug())}
		for range 2 {
			if diff := cmp.Diff(want, f.take(t, next(want.Revision))); diff != "" {
				t.Errorf("saved (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(want, f.listing(t)); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			want.Revision.ListingContent = console.ListingContent{Slug: slug(), ScreenshotAssetIDs: []string{}}
			want.Revision.State, want.Revision.Note, want.Revision.UpdatedAt = console.RevisionRejected, "No.", noon.Add(time.Hour)
		}
	}},
	{"A step sees how things stand, and its refusal changes nothing", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		saved := f.take(t, f.first(f.draft(slug())))
		other := newListing(t, e)
		_, err := e.ChangeListing(t.Context(), f.app.ID, func(s console.ListingStanding) (console.Revision, error) {
			if diff := cmp.Diff(console.ListingStanding{Listing: &saved, Assets: []console.Asset{f.icon, f.screenshot}}, s); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			return other.draft(slug()), errStep
		})
		if !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		if diff := cmp.Diff(saved, f.listing(t)); diff != "" || f.slugs(t) != 1 {
			t.Errorf("%d slugs, (-want +got)\n%s", f.slugs(t), diff)
		}
		if _, err := e.ChangeListing(t.Context(), "app_absent", f.first(f.draft(slug()))); !errors.Is(err, oauthserver.ErrNotFound) {
			t.Errorf("of an absent app: %v", err)
		}
	}},
	// AZ-16: the first approval completes the review, and no other does.
	{"The first approval completes the review of the app", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		first := f.draft(slug())
		for _, state := range []console.RevisionState{console.RevisionDraft, console.RevisionSubmitted, console.RevisionInReview, console.RevisionChangesRequested, console.RevisionRejected} {
			first.State = state
			if got := f.take(t, next(first)); got.Live != nil || f.isReviewed(t) {
				t.Errorf("%s: live %v, reviewed %v", state, got.Live, f.isReviewed(t))
			}
		}
		approved := f.approve(t, first)
		if approved.Live == nil || approved.Live.ID != first.ID || approved.Revision.ID != first.ID || !f.isReviewed(t) {
			t.Errorf("approved: %+v, reviewed: %v", approved, f.isReviewed(t))
		}
		_, err := e.UpdateApp(t.Context(), f.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
			a.Reviewed = false // somebody takes the review back
			return a, nil
		})
		must(t, err)
		second := f.draft(slug())
		if got := f.take(t, next(second)); got.Live.ID != first.ID || got.Revision.ID != second.ID {
			t.Errorf("a draft beside what is live: %+v", got)
		}
		if diff := cmp.Diff(f.listing(t), f.take(t, next(second))); diff != "" {
			t.Errorf("(-read +saved)\n%s", diff)
		}
		if got := f.approve(t, second); got.Live.ID != second.ID || f.isReviewed(t) {
			t.Errorf("live %s, reviewed %v", got.Live.ID, f.isReviewed(t))
		}
		if n := f.count(t, "SELECT COUNT(*) FROM partnerkit_listing_revision WHERE app_id = $1", f.app.ID); n != 1 {
			t.Errorf("%d revisions are kept", n)
		}
	}},
	{"A slug belongs to the app whose live or latest revision has it", func(t *testing.T, e *Env) {
		f, other := newListing(t, e), newListing(t, e)
		live, renamed, rejected := slug(), slug(), slug()
		isTaken := func(slug string) bool {
			_, err := e.ChangeListing(t.Context(), other.app.ID, func(console.ListingStanding) (console.Revision, error) {
				r := other.draft(slug)
				r.ID = "rev_of_the_other"
				return r, nil
			})
			if err != nil && !errors.Is(err, console.ErrSlugTaken) {
				t.Error(err)
			}
			return err != nil
		}
		f.approve(t, f.draft(live))
		second := f.draft(renamed)
		f.take(t, next(second))
		if !isTaken(live) || !isTaken(renamed) || f.slugs(t) != 2 {
			t.Errorf("beside what is live: %d slugs", f.slugs(t))
		}
		second.State, second.Slug = console.RevisionRejected, rejected
		f.take(t, next(second))
		if !isTaken(live) || !isTaken(rejected) || isTaken(renamed) {
			t.Error("after the slug of a draft was changed")
		}
		f.approve(t, second)
		if isTaken(live) || !isTaken(rejected) || f.slugs(t) != 1 {
			t.Errorf("after another one is live: %d slugs", f.slugs(t))
		}
		f.take(t, next(f.draft(rejected))) // its own
	}},
	{"What a console keeps goes with an app that is purged", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		f.take(t, f.first(f.draft(slug())))
		must(t, e.AddExtension(t.Context(), f.extension(noon), maxItems, mayExtend))
		must(t, e.AddFunction(t.Context(), f.function(noon), maxItems))
		f.exec(t, "UPDATE partnerkit_app SET origin = $2 WHERE id = $1", f.app.ID, string(oauthserver.OriginRegistered))
		get[int](t)(e.Purge(t.Context(), noon.Add(31*24*time.Hour), 100))
		for _, table := range []string{"listing_revision", "listing_slug", "asset", "extension", "function"} {
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_"+table+" WHERE app_id = $1", f.app.ID); n != 0 {
				t.Errorf("%d rows of %s", n, table)
			}
		}
	}},
}
