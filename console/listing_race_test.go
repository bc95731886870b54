package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// race sends calls at once and counts the responses by status and code.
func (d *harness) race(calls ...call) map[string]int {
	d.Helper()
	replies := make([]response, len(calls))
	testdb.Race(len(calls), func(i int) { replies[i] = d.send(calls[i]) })
	responses := map[string]int{}
	for _, got := range replies {
		responses[strings.TrimSuffix(fmt.Sprint(got.Status, " ", got.body["code"]), " <nil>")]++
	}
	return responses
}

// CON-03: of 32 first saves one is the first.
func TestRaceOfFirstSaves_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	var calls []call
	for i := range 32 {
		calls = append(calls, call{what: "POST " + path + "/listing", by: []string{ann, ben}[i%2], body: fmt.Sprintf(`{"slug": "save-%d"}`, i)})
	}
	if got := d.race(calls...); got["201"] != 1 || got["409 LISTING_EXISTS"] != 31 {
		t.Errorf("answers %v", got)
	}
}

// CON-03: of 32 apps one gets the slug.
func TestRaceForASlug_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	var calls []call
	for range 32 {
		path, _ := d.newApp(confidentialApp)
		calls = append(calls, call{what: "POST " + path + "/listing", by: ann, body: `{"slug": "wanted"}`})
	}
	if got := d.race(calls...); got["201"] != 1 || got["400 SLUG_TAKEN"] != 31 {
		t.Errorf("answers %v", got)
	}
}

// CON-03: a submission and a save at once, either first: what is submitted is whole,
// and no save changes it under the reviewer's eyes.
func TestRaceOfSubmissionAndSave_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for range 20 {
		path, appID := d.newApp(confidentialApp)
		slug := appID[len("app_"):]
		d.ann("POST "+path+"/listing", strings.Replace(wholeListing, "sync", slug, 1)).want(http.StatusCreated)
		got := d.race(call{what: "POST " + path + "/listing/submit", by: ann}, call{what: "PUT " + path + "/listing", by: ben, body: `{"slug": "` + slug + `"}`})
		state, _ := d.ann("GET " + path + "/listing").state()
		switch {
		case got["200"] == 1 && got["400 LISTING_STATE_INVALID"] == 1 && state == "submitted":
		case got["200"] == 1 && got["400 LISTING_INCOMPLETE"] == 1 && state == "draft":
		default:
			t.Fatalf("%v, %s", got, state)
		}
	}
}

// CON-04: an asset is deleted or shown, never both.
func TestRaceOfDeletionAndSave_CON04(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for range 20 {
		path, appID := d.newApp(confidentialApp)
		icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
		got := d.race(call{what: "DELETE " + path + "/assets/" + icon, by: ann},
			call{what: "POST " + path + "/listing", by: ben, body: fmt.Sprintf(`{"slug": %q, "iconAssetId": %q}`, appID[len("app_"):], icon)})
		if isDeleted, isShown := got["204"] == 1 && got["400"] == 1, got["201"] == 1 && got["400 ASSET_IN_USE"] == 1; isDeleted == isShown {
			t.Fatalf("answers %v", got)
		}
	}
}

// CON-03, AZ-16: two reviewers, one decision.
func TestRaceOfReviewers_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for range 20 {
		path, appID := d.newApp(confidentialApp)
		d.ann("POST "+path+"/listing", strings.Replace(wholeListing, "sync", appID[len("app_"):], 1)).want(http.StatusCreated)
		d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
		d.review(appID, consolestore.RevisionInReview)
		errs := make([]error, 2)
		testdb.Race(2, func(i int) {
			_, errs[i] = d.console.ReviewListing(t.Context(), console.Review{AppID: appID, State: []consolestore.RevisionState{consolestore.RevisionApproved, consolestore.RevisionRejected}[i]})
		})
		if (errs[0] == nil) == (errs[1] == nil) || d.ann("GET " + path).body["reviewed"] != (errs[0] == nil) {
			t.Fatalf("approved: %v, rejected: %v", errs[0], errs[1])
		}
	}
}
