package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
)

// reviewApp takes steps of the reviewer with the app's submission.
func (d *harness) reviewApp(appID string, states ...consolestore.RevisionState) {
	d.Helper()
	for _, state := range states {
		if _, err := d.console.ReviewApp(d.Context(), console.Review{AppID: appID, State: state, Note: "Note: " + string(state), ReviewerID: "usr_staff"}); err != nil {
			d.Fatalf("%s: %v", state, err)
		}
	}
}

// wantReview checks how far the review of an app has come, as the app and the list say it.
func (d *harness) wantReview(path string, want map[string]any) {
	d.Helper()
	if diff := cmp.Diff(any(want), d.ann("GET " + path).want(http.StatusOK).body["review"]); diff != "" {
		d.Errorf("(-want +got)\n%s", diff)
	}
	for _, app := range d.ann("GET /developer/apps").data() {
		if strings.HasSuffix(path, app["id"].(string)) {
			if diff := cmp.Diff(any(want), app["review"]); diff != "" {
				d.Errorf("in the list (-want +got)\n%s", diff)
			}
		}
	}
}

// wantCovered checks what the last review of an app covers.
func (d *harness) wantCovered(appID string, want partner.Profile) {
	d.Helper()
	app, err := d.store.App(d.Context(), appID)
	d.must(err)
	if diff := cmp.Diff(want, app.ReviewedAs); diff != "" || !app.Reviewed {
		d.Errorf("reviewed %v (-want +got)\n%s", app.Reviewed, diff)
	}
}

// AZ-16: an app is submitted without a listing, as it is then, and the decision is about that.
func TestSubmitApp_AZ16(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	all := map[string]any{"name": "Sync", "redirectUris": []any{"https://partner.example/cb"}, "scopes": []any{"invoices:read", "events:read"}}
	d.wantReview(path, map[string]any{"reviewed": false, "pending": all})
	submitted := d.ann("POST " + path + "/review").want(http.StatusAccepted)
	if diff := cmp.Diff(any(map[string]any{"reviewed": false, "state": "submitted", "pending": all}), submitted.body["review"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	app, err := d.store.App(t.Context(), appID)
	d.must(err)
	covered := app.Profile()
	if got := d.ann("POST " + path + "/review").want(http.StatusConflict); !strings.Contains(got.Body, "the app is submitted already and waits for the decision") {
		t.Error(got.Body)
	}
	d.ann("PATCH "+path, `{"name": "Later", "redirectUris": ["https://partner.example/cb", "https://later.example/cb"]}`).want(http.StatusOK)
	d.reviewApp(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	d.wantCovered(appID, covered)
	decision := map[string]any{"state": "approved", "note": "Note: approved"}
	d.wantReview(path, map[string]any{"reviewed": true, "decision": decision, "pending": map[string]any{"name": "Later", "redirectUris": []any{"https://later.example/cb"}}})
	if got := fmt.Sprint(d.ann("GET " + path + "/audit").data()); !strings.Contains(got, "review.submitted") || !strings.Contains(got, "review.in_review") || !strings.Contains(got, "review.approved") {
		t.Errorf("audit %s", got)
	}

	d.ann("PATCH "+path, `{"name": "Sync", "redirectUris": ["https://partner.example/cb"]}`).want(http.StatusOK)
	d.wantReview(path, map[string]any{"reviewed": true, "decision": decision})
	d.ann("POST " + path + "/review").wantInvalid("nothing waits for a review: the last one covers the app as it is")
	d.ann("PATCH "+path, `{"scopes": ["invoices:read", "customers:read"]}`).want(http.StatusOK)
	d.ann("POST " + path + "/review").want(http.StatusAccepted)
	d.reviewApp(appID, consolestore.RevisionInReview, consolestore.RevisionRejected)
	d.wantCovered(appID, covered)
	d.wantReview(path, map[string]any{"reviewed": true, "decision": map[string]any{"state": "rejected", "note": "Note: rejected"}, "pending": map[string]any{"scopes": []any{"customers:read"}}})

	d.send(call{what: "POST " + path + "/review", by: zoe}).want(http.StatusNotFound)
	d.ann("POST "+path+"/review", `{"note": "x"}`).wantInvalid("note is not a known member")
	d.must(fixture.SetAppStatus(t.Context(), d.store, appID, partner.AppDeactivated))
	d.ann("POST "+path+"/review").wantCode(http.StatusBadRequest, "APP_DEACTIVATED")
}

// AZ-16: a listing's submission takes the app with it, and one submission is open at a time.
func TestListingCoversTheApp_AZ16(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	listing := strings.Replace(wholeListing, "}", `, "publisher": "Nice Ltd"}`, 1)
	d.ann("POST "+path+"/listing", listing).want(http.StatusCreated)
	app, err := d.store.App(t.Context(), appID)
	d.must(err)
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.ann("POST "+path+"/review").wantCode(http.StatusConflict, "CONFLICT")
	d.ann("POST "+path+"/listing/submit").wantCode(http.StatusBadRequest, "LISTING_STATE_INVALID")
	d.ann("PATCH "+path, `{"name": "Service Account Security", "redirectUris": ["https://evil.example/cb"], "scopes": ["invoices:write"]}`).want(http.StatusOK)
	d.review(appID, consolestore.RevisionInReview)
	d.wantReview(path, map[string]any{"reviewed": false, "state": "in_review", "pending": map[string]any{
		"name": "Service Account Security", "redirectUris": []any{"https://evil.example/cb"}, "scopes": []any{"invoices:write"}, "publisher": "Nice Ltd",
	}})
	d.reviewApp(appID, consolestore.RevisionApproved) // the same step as of the listing
	d.wantCovered(appID, app.Profile())

	// Submitted without the listing: the next revision waits, and the draft stays one.
	d.ann("POST " + path + "/review").want(http.StatusAccepted)
	d.ann("PUT "+path+"/listing", listing).want(http.StatusOK)
	d.ann("POST "+path+"/listing/submit").wantCode(http.StatusConflict, "CONFLICT")
	d.ann("GET "+path+"/listing").wantState("draft", "sync")
	d.reviewApp(appID, consolestore.RevisionInReview, consolestore.RevisionChangesRequested)
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	app, err = d.store.App(t.Context(), appID)
	d.must(err)
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	d.wantCovered(appID, app.Profile())

	// The draft after a live revision is not what was decided about, nor is what came before it.
	d.ann("PUT "+path+"/listing", listing).want(http.StatusOK)
	d.wantReview(path, map[string]any{"reviewed": true, "decision": map[string]any{"state": "approved", "note": "Note: approved"}})
	d.ann("PUT "+path+"/listing", strings.Replace(listing, "Nice Ltd", "Other Ltd", 1)).want(http.StatusOK)
	d.ann("POST " + path + "/review").wantInvalid("nothing but the publisher or the icon waits for a review: submit the listing")

	// A draft that is saved again is not what was submitted.
	d.ann("PUT "+path+"/listing", listing).want(http.StatusOK)
	d.ann("PATCH "+path, `{"name": "Third"}`).want(http.StatusOK)
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionRejected)
	d.ann("PUT "+path+"/listing", listing).want(http.StatusOK)
	stored, err := d.store.Listing(t.Context(), appID)
	d.must(err)
	if !stored.Revision.App.IsEmpty() {
		t.Errorf("the draft has %+v", stored.Revision.App)
	}
}

// AZ-16: the steps are those of a listing, and the first reviewer decides.
func TestReviewSteps_AZ16(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	step := func(by string, state consolestore.RevisionState) error {
		_, err := d.console.ReviewApp(t.Context(), console.Review{AppID: appID, State: state, ReviewerID: by})
		return err
	}
	wants := func(err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
	wants(step("usr_a", consolestore.RevisionInReview), "not found")
	d.ann("POST " + path + "/review").want(http.StatusAccepted)
	wants(step("usr_a", consolestore.RevisionApproved), "LISTING_STATE_INVALID")
	wants(step("usr_a", "draft"), "state must be")
	d.must(step("usr_a", consolestore.RevisionInReview))
	for _, state := range []consolestore.RevisionState{consolestore.RevisionInReview, consolestore.RevisionApproved} {
		if _, isConflict := errors.AsType[*console.ReviewConflict](step("usr_b", state)); !isConflict {
			t.Errorf("%s by another reviewer", state)
		}
	}
	d.must(step("usr_a", consolestore.RevisionApproved))
	wants(step("usr_a", consolestore.RevisionRejected), "LISTING_STATE_INVALID")

	path, appID = d.newApp(confidentialApp)
	d.ann("POST " + path + "/review").want(http.StatusAccepted)
	d.must(fixture.SetAppStatus(t.Context(), d.store, appID, partner.AppDeactivated))
	wants(step("usr_a", consolestore.RevisionInReview), "APP_DEACTIVATED")
}

// AZ-16: of an app's submissions with its listing and without, all at once, one is open.
func TestRaceOfSubmissions_AZ16(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for range 5 {
		path, appID := d.newApp(confidentialApp)
		d.ann("POST "+path+"/listing", strings.Replace(wholeListing, "sync", appID[len("app_"):], 1)).want(http.StatusCreated)
		var calls []call
		for range 4 {
			calls = append(calls, call{what: "POST " + path + "/review", by: ann}, call{what: "POST " + path + "/listing/submit", by: ann})
		}
		got := d.race(calls...)
		if got["200"]+got["202"] != 1 {
			t.Errorf("%v", got)
		}
	}
}
