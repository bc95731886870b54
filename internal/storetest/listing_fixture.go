package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// maxItems is how many assets, extensions and functions an app of the cases may have.
const maxItems = 4

// errStep is the error of a step that refuses.
var errStep = errors.New("storetest: no such step")

// listingFixture is an unreviewed app with an icon and a screenshot, and maybe a listing.
type listingFixture struct {
	*oauthFixture
	icon, screenshot consolestore.Asset
}

// step is a step of a case with a listing.
type step func(consolestore.ListingStanding) (consolestore.Revision, error)

func newListing(t testing.TB, e partnerkit.Store) *listingFixture {
	t.Helper()
	f := &listingFixture{oauthFixture: newOAuth(t, e)}
	f.unreviewed(t)
	f.icon, f.screenshot = f.asset(consolestore.AssetIcon, noon), f.asset(consolestore.AssetScreenshot, noon.Add(time.Second))
	f.addAssets(t)
	return f
}

// unreviewed makes the app one that has not been reviewed.
func (f *listingFixture) unreviewed(t testing.TB) {
	t.Helper()
	_, err := f.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
		a.Reviewed, a.ReviewedAs = false, partner.Profile{}
		return a, nil
	})
	must(t, err)
}

func (f *listingFixture) addAssets(t testing.TB) {
	t.Helper()
	must(t, f.AddAsset(t.Context(), withData(f.icon, []byte{0, 0xff}), maxItems))
	must(t, f.AddAsset(t.Context(), withData(f.screenshot, []byte("screenshot")), maxItems))
}

// asset returns an asset of the app that is not stored yet.
func (f *listingFixture) asset(kind consolestore.AssetKind, now time.Time) consolestore.Asset {
	return consolestore.Asset{ID: id.New(id.Asset, now), AppID: f.app.ID, Kind: kind, ContentType: "image/png", Width: 640, Height: 360, Size: 2, CreatedAt: now}
}

// withData returns an asset as it is stored.
func withData(a consolestore.Asset, data []byte) consolestore.Asset {
	a.Data = data
	return a
}

// slug returns a new slug.
func slug() string { return fmt.Sprintf("slug-%d", serial.Add(1)) }

// draft returns a revision of the app that shows both assets.
func (f *listingFixture) draft(slug string) consolestore.Revision {
	return consolestore.Revision{
		ID: id.New(id.Revision, noon), AppID: f.app.ID, State: consolestore.RevisionDraft, App: f.app.Profile(), CreatedAt: noon, UpdatedAt: noon,
		ListingContent: consolestore.ListingContent{
			Slug: slug, Name: "Sync", Summary: "Syncs", Description: "It\nsyncs", IconAssetID: f.icon.ID, ScreenshotAssetIDs: []string{f.screenshot.ID},
			Publisher: "Sync Ltd", TermsURL: "https://sync.example/terms", PrivacyURL: "https://sync.example/privacy",
		},
	}
}

// first saves a draft for the first time, when the app has all that it shows.
func (f *listingFixture) first(r consolestore.Revision) step {
	return func(s consolestore.ListingStanding) (consolestore.Revision, error) {
		shown := 0
		for _, asset := range s.Assets {
			if r.Shows(asset.ID) {
				shown++
			}
		}
		if s.Listing != nil || shown != len(r.ScreenshotAssetIDs)+min(1, len(r.IconAssetID)) {
			return consolestore.Revision{}, errStep
		}
		return r, nil
	}
}

// move takes the latest revision from one state to the next.
func move(from, to consolestore.RevisionState) step {
	return func(s consolestore.ListingStanding) (consolestore.Revision, error) {
		if s.Listing == nil || s.Listing.Revision.State != from {
			return consolestore.Revision{}, errStep
		}
		r := s.Listing.Revision
		r.State, r.UpdatedAt = to, r.UpdatedAt.Add(time.Second)
		return r, nil
	}
}

// next begins another revision, or replaces the latest.
func next(r consolestore.Revision) step {
	return func(consolestore.ListingStanding) (consolestore.Revision, error) { return r, nil }
}

// take takes a step that must succeed.
func (f *listingFixture) take(t testing.TB, s step) consolestore.Listing {
	t.Helper()
	return get[consolestore.Listing](t)(f.ChangeListing(t.Context(), f.app.ID, s))
}

// approve takes a draft to its approval.
func (f *listingFixture) approve(t testing.TB, r consolestore.Revision) consolestore.Listing {
	t.Helper()
	r.State = consolestore.RevisionInReview
	f.take(t, next(r))
	return f.take(t, move(consolestore.RevisionInReview, consolestore.RevisionApproved))
}

func (f *listingFixture) listing(t testing.TB) consolestore.Listing {
	t.Helper()
	return get[consolestore.Listing](t)(f.Listing(t.Context(), f.app.ID))
}

// hasListing reports whether there is one.
func (f *listingFixture) hasListing(t testing.TB) bool {
	t.Helper()
	_, err := f.Listing(t.Context(), f.app.ID)
	if !errors.Is(err, partner.ErrNotFound) {
		must(t, err)
	}
	return err == nil
}

// hasAsset reports whether there is one.
func (f *listingFixture) hasAsset(t testing.TB, assetID string) bool {
	t.Helper()
	_, err := f.Asset(t.Context(), f.app.ID, assetID)
	if err != nil && !errors.Is(err, partner.ErrNotFound) {
		t.Error(err)
	}
	return err == nil
}

// submission returns a submission of the app without its listing.
func (f *listingFixture) submission(state consolestore.RevisionState, at time.Time) consolestore.Submission {
	return consolestore.Submission{
		ID: id.New(id.Submission, at), AppID: f.app.ID, State: state, App: f.app.Profile(), Note: "A note", ReviewerID: "usr_staff", SubmittedAt: at, UpdatedAt: at,
	}
}

func (f *listingFixture) extension(now time.Time) consolestore.Extension {
	return consolestore.Extension{ID: id.New(id.Extension, now), AppID: f.app.ID, ResourceType: "invoice", Path: "/page", Label: "Page", CreatedAt: now, UpdatedAt: now}
}

func (f *listingFixture) function(now time.Time) consolestore.Function {
	return consolestore.Function{ID: id.New(id.Function, now), AppID: f.app.ID, Name: "tax", Source: "export default 1", CreatedAt: now}
}

// mayExtend is a check that compares the app's scopes.
func mayExtend(a partner.App) error {
	if !a.Scopes.Has("invoices:read") {
		return errStep
	}
	return nil
}
func wantThere(t testing.TB, isThere, want bool) {
	t.Helper()
	if isThere != want {
		t.Errorf("is there: %v, want %v", isThere, want)
	}
}
