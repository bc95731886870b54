package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// itemCases are the acts on assets, extensions and functions, one at a time.
var itemCases = []testCase[*Env]{
	{"Assets come back as they were", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		newListing(t, e)
		if diff := cmp.Diff([]console.Asset{f.icon, f.screenshot}, get[[]console.Asset](t)(e.Assets(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		got, data, err := e.AssetData(t.Context(), f.app.ID, f.icon.ID)
		if diff := cmp.Diff(f.icon, got); err != nil || diff != "" || string(data) != "\x00\xff" {
			t.Errorf("%v, %q, (-want +got)\n%s", err, data, diff)
		}
	}},
	// CON-04: in every state that a revision can have, and when it is live.
	{"An asset that a listing shows stays", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		inUse := func(when string, want bool) {
			for _, asset := range []console.Asset{f.icon, f.screenshot} {
				err := e.DeleteAsset(t.Context(), f.app.ID, asset.ID)
				if errors.Is(err, console.ErrAssetInUse) != want || f.hasAsset(t, asset.ID) != want {
					t.Errorf("%s: %s: %v", when, asset.Kind, err)
				}
			}
		}
		r := f.draft(slug())
		for _, r.State = range []console.RevisionState{
			console.RevisionDraft, console.RevisionSubmitted, console.RevisionInReview, console.RevisionChangesRequested, console.RevisionRejected,
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
	{"Extensions come back as they were", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		all := []console.Extension{f.extension(noon), f.extension(noon.Add(time.Second))}
		for _, one := range all {
			must(t, e.AddExtension(t.Context(), one, maxItems, mayExtend))
		}
		if err := e.AddExtension(t.Context(), f.extension(noon), maxItems, func(oauthserver.App) error { return errStep }); !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		changed, err := e.UpdateExtension(t.Context(), f.app.ID, all[1].ID, func(a oauthserver.App, x console.Extension) (console.Extension, error) {
			if a.ID != f.app.ID || !cmp.Equal(x, all[1]) {
				t.Errorf("changes %v of %v", x, a.ID)
			}
			return console.Extension{ResourceType: "customer", Path: "/other", Label: "Other", UpdatedAt: noon.Add(time.Hour)}, nil
		})
		must(t, err)
		all[1].ResourceType, all[1].Path, all[1].Label, all[1].UpdatedAt = "customer", "/other", "Other", noon.Add(time.Hour)
		if diff := cmp.Diff(all[1], changed); diff != "" {
			t.Errorf("changed (-want +got)\n%s", diff)
		}
		_, err = e.UpdateExtension(t.Context(), f.app.ID, all[0].ID, func(_ oauthserver.App, x console.Extension) (console.Extension, error) {
			x.Label = "Never"
			return x, errStep
		})
		if !errors.Is(err, errStep) {
			t.Errorf("refused: %v", err)
		}
		if diff := cmp.Diff(all, get[[]console.Extension](t)(e.Extensions(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(all[0], get[console.Extension](t)(e.Extension(t.Context(), f.app.ID, all[0].ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"Functions come back as they were", func(t *testing.T, e *Env) {
		f := newListing(t, e)
		all := []console.Function{f.function(noon), f.function(noon.Add(time.Second))}
		for _, one := range all {
			must(t, e.AddFunction(t.Context(), one, maxItems))
		}
		if diff := cmp.Diff(all, get[[]console.Function](t)(e.Functions(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(all[1], get[console.Function](t)(e.Function(t.Context(), f.app.ID, all[1].ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"What is another app's is not found", func(t *testing.T, e *Env) {
		f, other := newListing(t, e), newListing(t, e)
		extension, function := f.extension(noon), f.function(noon)
		must(t, e.AddExtension(t.Context(), extension, maxItems, mayExtend))
		must(t, e.AddFunction(t.Context(), function, maxItems))
		all := func(appID string) map[string]error {
			errs := map[string]error{}
			_, _, errs["asset"] = e.AssetData(t.Context(), appID, f.icon.ID)
			_, errs["extension"] = e.Extension(t.Context(), appID, extension.ID)
			_, errs["update extension"] = e.UpdateExtension(t.Context(), appID, extension.ID, func(_ oauthserver.App, x console.Extension) (console.Extension, error) { return x, nil })
			_, errs["function"] = e.Function(t.Context(), appID, function.ID)
			errs["delete asset"] = e.DeleteAsset(t.Context(), appID, f.icon.ID)
			errs["delete extension"] = e.DeleteExtension(t.Context(), appID, extension.ID)
			errs["delete function"] = e.DeleteFunction(t.Context(), appID, function.ID)
			return errs
		}
		for _, appID := range []string{other.app.ID, "app_absent"} {
			for name, err := range all(appID) {
				if !errors.Is(err, oauthserver.ErrNotFound) {
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
			if !errors.Is(err, oauthserver.ErrNotFound) {
				t.Errorf("%s of what is deleted: %v", name, err)
			}
		}
		absent := &listingFixture{oauthFixture: &oauthFixture{Env: e}}
		absent.app.ID = "app_absent"
		for name, err := range map[string]error{
			"asset":     e.AddAsset(t.Context(), absent.asset(console.AssetIcon, noon), nil, maxItems),
			"extension": e.AddExtension(t.Context(), absent.extension(noon), maxItems, mayExtend),
			"function":  e.AddFunction(t.Context(), absent.function(noon), maxItems),
		} {
			if !errors.Is(err, oauthserver.ErrNotFound) {
				t.Errorf("add %s to an absent app: %v", name, err)
			}
		}
	}},
}
