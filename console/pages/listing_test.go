package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// listingOf is the app's, as the console has it.
func (o *harness) listingOf(app partner.App) consolestore.Listing {
	o.Helper()
	listing, err := o.console.Listing(o.Context(), o.actor(ann), app.ID)
	o.must(err)
	return listing
}

// review takes a reviewer's steps.
func (o *harness) review(app partner.App, note string, states ...consolestore.RevisionState) {
	o.Helper()
	for _, state := range states {
		_, err := o.later().console.ReviewListing(o.Context(), console.Review{AppID: app.ID, State: state, Note: note})
		o.must(err)
	}
}

// CON-03: a listing from its first save to the next revision after an approval.
func TestListing_CON03(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	listing := "/apps/" + app.ID + "/listing"
	icon := o.newAsset(app, consolestore.AssetIcon)
	first, second := o.newAsset(app, consolestore.AssetScreenshot), o.newAsset(app, consolestore.AssetScreenshot)
	o.get(listing).want(http.StatusOK).shows("The marketplace does not show this app yet", "First draft").lacks("Submit for review")

	o.later().post(listing, "first", "1", "slug", " sync ", "name", "Sync", "summary", hostile, "description", "One.\r\nTwo <b>.", "icon", icon, "screenshots", second, "screenshots", first).
		wantTo(listing+"?done=listing-saved").shows("The draft was saved.", "Draft", "Submit for review", hostile, "Two <b>.").lacks("<script>alert", "<b>.")
	want := consolestore.ListingContent{Slug: "sync", Name: "Sync", Summary: hostile, Description: "One.\nTwo <b>.", IconAssetID: icon, ScreenshotAssetIDs: []string{second, first}}
	if diff := cmp.Diff(want, o.listingOf(app).Revision.ListingContent); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	form := o.get(listing).Body
	if form = form[strings.Index(form, "<legend>Screenshots"):]; strings.Index(form, second) > strings.Index(form, first) {
		t.Error("the form has the screenshots in another order")
	}
	o.later().post(listing+"/submit").wantTo(listing+"?done=listing-submitted").
		shows("The listing was submitted", "Submitted", "The next revision is under review").lacks("Save draft", "Submit for review")
	o.post(listing, "slug", "sync").want(http.StatusBadRequest).alerts("a revision that is submitted cannot become draft")
	// A colleague was faster: what was entered can still be copied.
	kept := o.post(listing, "slug", "sync", "description", "An hour of work.").want(http.StatusBadRequest).shows("An hour of work.", "is not saved").lacks("Save draft")
	if n := strings.Count(kept.Body, `id="draft"`); n != 1 {
		t.Errorf("%d forms", n)
	}
	o.post(listing + "/submit").want(http.StatusBadRequest).alerts("a revision that is submitted cannot become submitted")

	o.review(app, hostile, consolestore.RevisionInReview)
	o.get(listing).shows("In review").lacks("Save draft")
	o.review(app, hostile, consolestore.RevisionChangesRequested)
	o.get(listing).shows("Changes requested", "The reviewer says "+hostile, "Save draft").lacks("<script>alert", "Submit for review")
	o.later().post(listing, "slug", "sync", "name", "Sync", "summary", "Syncs.", "description", "It syncs.").want(http.StatusSeeOther)
	o.later().post(listing + "/submit").want(http.StatusSeeOther)
	o.review(app, "", consolestore.RevisionInReview, consolestore.RevisionApproved)
	o.get(listing).shows("Live", "Syncs.").lacks("<h2>Next</h2>")
	o.later().post(listing, "slug", "sync", "name", "Sync", "summary", "Syncs better.").want(http.StatusSeeOther)
	o.get(listing).shows("Live", "Syncs.", "Next", "Draft", "Syncs better.")
	if got := o.listingOf(app); got.Live == nil || got.Live.Summary != "Syncs." || got.Revision.Summary != "Syncs better." {
		t.Errorf("the listing is %+v", got)
	}
	o.did(app, "listing.saved")
}

// CON-03: what is refused is said, and what was entered stays.
func TestListingRefused_CON03(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, other := o.newApp(), o.newApp()
	listing := "/apps/" + app.ID + "/listing"
	o.post("/apps/"+other.ID+"/listing", "first", "1", "slug", "taken").want(http.StatusSeeOther)
	o.post(listing, "first", "1", "slug", "taken").want(http.StatusBadRequest).alerts("the slug taken belongs to another app")
	foreign := o.newAsset(other, consolestore.AssetIcon)
	got := o.post(listing, "first", "1", "slug", "-", "name", strings.Repeat("n", 121), "summary", hostile, "description", "Kept <i>.", "icon", foreign).
		want(http.StatusBadRequest).alerts("slug must have 3 to 60 of a-z, 0-9 and hyphens, and not begin or end with a hyphen", "name must have 1 to 120 characters")
	got.shows("Kept <i>.").lacks("<i>", "<script>alert")
	for _, kept := range []string{"-", strings.Repeat("n", 121), hostile} {
		if !slices.Contains(got.values("value"), kept) {
			t.Errorf("%q was not kept", kept)
		}
	}
	o.post(listing, "first", "1", "slug", "mine", "icon", foreign, "screenshots", foreign).want(http.StatusBadRequest).
		alerts("iconAssetId must be an icon of this app", "screenshotAssetIds[0] must be a screenshot of this app")
	o.post(listing, "slug", "mine").want(http.StatusNotFound) // nothing to replace yet
	o.post(listing + "/submit").want(http.StatusNotFound)

	// Two first saves: the second does not replace the first.
	o.post(listing, "first", "1", "slug", "mine").want(http.StatusSeeOther)
	late := o.post(listing, "first", "1", "slug", "late", "summary", "Mine too").want(http.StatusConflict).alerts("the app already has a listing; update it instead")
	if !slices.Contains(late.values("value"), "Mine too") || o.listingOf(app).Revision.Slug != "mine" {
		t.Errorf("the second first save: %s", late.Body)
	}
	o.post(listing+"/submit").want(http.StatusBadRequest).alerts("name is empty", "summary is empty", "description is empty").shows("Save draft")
	o.refuses(app, []string{"/listing"}, []string{"/listing", "/listing/submit"})
}
