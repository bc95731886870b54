package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlListingCases need what only sqlstore has.
var sqlListingCases = []testCase[*Env]{
	{"A step sees how things stand, and its refusal changes nothing", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		saved := f.take(t, f.first(f.draft(slug())))
		other := newListing(t, e)
		_, err := e.ChangeListing(t.Context(), f.app.ID, func(s consolestore.ListingStanding) (consolestore.Revision, error) {
			if diff := cmp.Diff(consolestore.ListingStanding{Listing: &saved, Assets: []consolestore.Asset{f.icon, f.screenshot}}, s); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			return other.draft(slug()), errStep
		})
		if !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		if diff := cmp.Diff(saved, f.listing(t)); diff != "" || e.slugs(t, f.app.ID) != 1 {
			t.Errorf("%d slugs, (-want +got)\n%s", e.slugs(t, f.app.ID), diff)
		}
		if _, err := e.ChangeListing(t.Context(), "app_absent", f.first(f.draft(slug()))); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("of an absent app: %v", err)
		}
	}},
	{"An approved revision is live in place of the one before", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		first := f.draft(slug())
		for _, state := range []consolestore.RevisionState{consolestore.RevisionDraft, consolestore.RevisionSubmitted, consolestore.RevisionInReview, consolestore.RevisionChangesRequested, consolestore.RevisionRejected} {
			first.State = state
			if got := f.take(t, next(first)); got.Live != nil {
				t.Errorf("%s: live %v", state, got.Live)
			}
		}
		approved := f.approve(t, first)
		if approved.Live == nil || approved.Live.ID != first.ID || approved.Revision.ID != first.ID {
			t.Errorf("approved: %+v", approved)
		}
		second := f.draft(slug())
		if got := f.take(t, next(second)); got.Live.ID != first.ID || got.Revision.ID != second.ID {
			t.Errorf("a draft beside what is live: %+v", got)
		}
		read := f.listing(t)
		read.Version++
		if diff := cmp.Diff(read, f.take(t, next(second))); diff != "" {
			t.Errorf("(-read +saved)\n%s", diff)
		}
		if got := f.approve(t, second); got.Live.ID != second.ID {
			t.Errorf("live %s", got.Live.ID)
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_listing_revision WHERE app_id = $1", f.app.ID); n != 1 {
			t.Errorf("%d revisions are kept", n)
		}
	}},
	{"A slug belongs to the app whose live or latest revision has it", func(t *testing.T, e *Env) {
		f, other := newListing(t, e), newListing(t, e)
		live, renamed, rejected := slug(), slug(), slug()
		isTaken := func(slug string) bool {
			_, err := e.ChangeListing(t.Context(), other.app.ID, func(consolestore.ListingStanding) (consolestore.Revision, error) {
				r := other.draft(slug)
				r.ID = "rev_of_the_other"
				return r, nil
			})
			if err != nil && !errors.Is(err, consolestore.ErrSlugTaken) {
				t.Error(err)
			}
			return err != nil
		}
		f.approve(t, f.draft(live))
		second := f.draft(renamed)
		f.take(t, next(second))
		if !isTaken(live) || !isTaken(renamed) || e.slugs(t, f.app.ID) != 2 {
			t.Errorf("beside what is live: %d slugs", e.slugs(t, f.app.ID))
		}
		second.State, second.Slug = consolestore.RevisionRejected, rejected
		f.take(t, next(second))
		if !isTaken(live) || !isTaken(rejected) || isTaken(renamed) {
			t.Error("after the slug of a draft was changed")
		}
		f.approve(t, second)
		if isTaken(live) || !isTaken(rejected) || e.slugs(t, f.app.ID) != 1 {
			t.Errorf("after another one is live: %d slugs", e.slugs(t, f.app.ID))
		}
		f.take(t, next(f.draft(rejected))) // its own
	}},
	{"What a console keeps goes with an app that is purged", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		f.take(t, f.first(f.draft(slug())))
		must(t, addExtension(t.Context(), e, f.extension(noon), mayExtend))
		must(t, addFunction(t.Context(), e, f.function(noon)))
		must(t, e.SaveSubmission(t.Context(), f.submission(consolestore.RevisionSubmitted, noon)))
		e.exec(t, "UPDATE partnerkit_app SET origin = $2 WHERE id = $1", f.app.ID, string(partner.OriginRegistered))
		get[int](t)(purge(e, storage.PurgeOAuth)(t.Context(), noon.Add(31*24*time.Hour), 100))
		for _, table := range []string{"listing_revision", "listing_slug", "asset", "extension", "function", "submission"} {
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_"+table+" WHERE app_id = $1", f.app.ID); n != 0 {
				t.Errorf("%d rows of %s", n, table)
			}
		}
	}},
}
