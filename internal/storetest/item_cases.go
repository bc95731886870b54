package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// itemCases are the operations on assets, extensions and functions, one at a time.
var itemCases = []testCase[partnerkit.Store]{
	{"Assets come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		newListing(t, e)
		if diff := cmp.Diff([]consolestore.Asset{f.icon, f.screenshot}, get[[]consolestore.Asset](t)(e.Assets(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		one := get[consolestore.Asset](t)(e.Asset(t.Context(), f.app.ID, f.icon.ID))
		if diff := cmp.Diff(withData(f.icon, []byte{0, 0xff}), one); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// CON-04: in every state that a revision can have, and when it is live.
	{"An asset that a listing shows stays", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		inUse := func(when string, want bool) {
			for _, asset := range []consolestore.Asset{f.icon, f.screenshot} {
				err := e.DeleteAsset(t.Context(), f.app.ID, asset.ID)
				if errors.Is(err, consolestore.ErrAssetInUse) != want || f.hasAsset(t, asset.ID) != want {
					t.Errorf("%s: %s: %v", when, asset.Kind, err)
				}
			}
		}
		r := f.draft(slug())
		for _, r.State = range []consolestore.RevisionState{
			consolestore.RevisionDraft, consolestore.RevisionSubmitted, consolestore.RevisionInReview, consolestore.RevisionChangesRequested, consolestore.RevisionRejected,
		} {
			f.take(t, next(r))
			inUse(string(r.State), true)
		}
		f.approve(t, r)
		inUse("live", true)
		without := f.draft(r.Slug)
		without.IconAssetID, without.ScreenshotAssetIDs = "", nil
		f.take(t, next(without))
		inUse("live beside a draft without it", true)
		f.approve(t, without)
		inUse("shown by a revision that is no longer live", false)
	}},
	{"Extensions come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		all := []consolestore.Extension{f.extension(noon), f.extension(noon.Add(time.Second))}
		for _, one := range all {
			must(t, addExtension(t.Context(), e, one, mayExtend))
		}
		if err := addExtension(t.Context(), e, f.extension(noon), func(partner.App) error { return errStep }); !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		must(t, updateExtension(t.Context(), e, f.app.ID, all[1].ID, func(a partner.App, x consolestore.Extension) (consolestore.Extension, error) {
			if a.ID != f.app.ID || !cmp.Equal(x, all[1]) {
				t.Errorf("changes %v of %v", x, a.ID)
			}
			return consolestore.Extension{ID: x.ID, AppID: "other", ResourceType: "customer", Path: "/other", Label: "Other", UpdatedAt: noon.Add(time.Hour)}, nil
		}))
		all[1].ResourceType, all[1].Path, all[1].Label, all[1].UpdatedAt = "customer", "/other", "Other", noon.Add(time.Hour)
		err := updateExtension(t.Context(), e, f.app.ID, all[0].ID, func(_ partner.App, x consolestore.Extension) (consolestore.Extension, error) {
			x.Label = "Never"
			return x, errStep
		})
		if !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		if diff := cmp.Diff(all, get[[]consolestore.Extension](t)(e.Extensions(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(all[0], get[consolestore.Extension](t)(oneExtension(e)(t.Context(), f.app.ID, all[0].ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"Functions come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newListing(t, e)
		all := []consolestore.Function{f.function(noon), f.function(noon.Add(time.Second))}
		for _, one := range all {
			must(t, addFunction(t.Context(), e, one))
		}
		if diff := cmp.Diff(all, get[[]consolestore.Function](t)(e.Functions(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(all[1], get[consolestore.Function](t)(oneFunction(e)(t.Context(), f.app.ID, all[1].ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"What is another app's is not found", func(t *testing.T, e partnerkit.Store) {
		f, other := newListing(t, e), newListing(t, e)
		extension, function := f.extension(noon), f.function(noon)
		must(t, addExtension(t.Context(), e, extension, mayExtend))
		must(t, addFunction(t.Context(), e, function))
		all := func(appID string) map[string]error {
			errs := map[string]error{}
			_, errs["asset"] = e.Asset(t.Context(), appID, f.icon.ID)
			_, errs["extension"] = oneExtension(e)(t.Context(), appID, extension.ID)
			errs["update extension"] = updateExtension(t.Context(), e, appID, extension.ID, func(_ partner.App, x consolestore.Extension) (consolestore.Extension, error) { return x, nil })
			_, errs["function"] = oneFunction(e)(t.Context(), appID, function.ID)
			errs["delete asset"] = e.DeleteAsset(t.Context(), appID, f.icon.ID)
			errs["delete extension"] = deleteExtension(t.Context(), e, appID, extension.ID)
			errs["delete function"] = deleteFunction(t.Context(), e, appID, function.ID)
			return errs
		}
		for _, appID := range []string{other.app.ID, "app_absent"} {
			for name, err := range all(appID) {
				if !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("%s of %s: %v", name, appID, err)
				}
			}
		}
		for name, err := range all(f.app.ID) {
			if err != nil {
				t.Errorf("%s of its own: %v", name, err)
			}
		}
		for name, err := range all(f.app.ID) {
			if !errors.Is(err, partner.ErrNotFound) {
				t.Errorf("%s of what is deleted: %v", name, err)
			}
		}
		absent := &listingFixture{oauthFixture: &oauthFixture{Store: e}}
		absent.app.ID = "app_absent"
		for name, err := range map[string]error{
			"asset":     e.AddAsset(t.Context(), withData(absent.asset(consolestore.AssetIcon, noon), nil), maxItems),
			"extension": addExtension(t.Context(), e, absent.extension(noon), mayExtend),
			"function":  addFunction(t.Context(), e, absent.function(noon)),
		} {
			if !errors.Is(err, partner.ErrNotFound) {
				t.Errorf("add %s to an absent app: %v", name, err)
			}
		}
	}},
}
