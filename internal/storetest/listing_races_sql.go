package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/console/consolestore"
)

// sqlListingRaceCases need what only sqlstore has.
var sqlListingRaceCases = []testCase[*Env]{
	// CON-03.
	{"Race for a slug", func(t *testing.T, e *Env) {
		apps := make([]*listingFixture, contenders)
		for i := range apps {
			apps[i] = newListing(t, e)
		}
		for range max(1, rounds()/10) {
			wanted := slug()
			won := raceSteps(t, contenders, func(i int) error {
				_, err := e.ChangeListing(t.Context(), apps[i].app.ID, func(s consolestore.ListingStanding) (consolestore.Revision, error) {
					r := apps[i].draft(wanted)
					if s.Listing != nil {
						r.ID = s.Listing.Revision.ID // gives up the slug before
					}
					return r, nil
				})
				return err
			}, consolestore.ErrSlugTaken)
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_listing_revision WHERE slug = $1", wanted); won != 1 || n != 1 {
				t.Fatalf("%d won, %d have it", won, n)
			}
		}
	}},
}
