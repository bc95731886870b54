package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
)

// listingCases are the operations on listings, one at a time. CON-03.
var listingCases = []testCase[partnerkit.Store]{
	{"A listing comes back as it was", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		if f.hasListing(t) {
			t.Error("there is one before the first save")
		}
		want := consolestore.Listing{Revision: f.draft(slug())}
		for range 2 {
			want.Version++ // CON-13
			if diff := cmp.Diff(want, f.take(t, next(want.Revision))); diff != "" {
				t.Errorf("saved (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(want, f.listing(t)); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			want.Revision.ListingContent = consolestore.ListingContent{Slug: slug(), ScreenshotAssetIDs: []string{}}
			want.Revision.State, want.Revision.Note, want.Revision.UpdatedAt = consolestore.RevisionRejected, "No.", noon.Add(time.Hour)
		}
	}},
}
