package console_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
)

const wholeListing = `{"slug": "sync", "name": "Sync", "summary": "Syncs", "description": "It syncs."}`

// state is that of the latest revision, and the slug of the live one.
func (r response) state() (state, live string) {
	r.harness.Helper()
	var got struct {
		Live     *struct{ Slug string }
		Revision struct{ State string }
	}
	if err := json.Unmarshal([]byte(r.Body), &got); err != nil {
		r.harness.Fatal(err)
	}
	if got.Live != nil {
		live = got.Live.Slug
	}
	return got.Revision.State, live
}

func (r response) wantState(state, live string) {
	r.harness.Helper()
	if gotState, gotLive := r.state(); gotState != state || gotLive != live {
		r.harness.Errorf("%s: %s, live %q; want %s, %q", r.Request, gotState, gotLive, state, live)
	}
}

// review takes steps of the reviewer.
func (d *harness) review(appID string, states ...consolestore.RevisionState) {
	d.Helper()
	for _, state := range states {
		if _, err := d.console.ReviewListing(d.Context(), console.Review{AppID: appID, State: state, Note: "Note: " + string(state)}); err != nil {
			d.Fatalf("%s: %v", state, err)
		}
	}
}

// CON-03: from the first save to the second version.
func TestListing_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	shot := d.upload(path, upload{kind: "screenshot", file: jpegOf(640, 360)}).want(http.StatusCreated).text("id")

	d.ann("GET " + path + "/listing").want(http.StatusNotFound)
	d.ann("PUT "+path+"/listing", wholeListing).want(http.StatusNotFound)
	d.ann("POST " + path + "/listing/submit").want(http.StatusNotFound)

	saved := d.ann("POST "+path+"/listing", `{"slug": "draft-1", "iconAssetId": null}`).want(http.StatusCreated)
	saved.wantState("draft", "")
	d.ann("POST "+path+"/listing", wholeListing).wantCode(http.StatusConflict, "LISTING_EXISTS")
	changed := d.ann("PUT "+path+"/listing", fmt.Sprintf(`{"slug": "sync", "name": "Sync", "summary": "Syncs", "description": "It\nsyncs.", "iconAssetId": %q, "screenshotAssetIds": [%q]}`, icon, shot)).want(http.StatusOK)
	revision := changed.body["revision"].(map[string]any)
	if !id.Valid(id.Revision, revision["id"].(string)) || revision["id"] != saved.body["revision"].(map[string]any)["id"] {
		t.Errorf("the draft is %v", revision["id"])
	}
	want := map[string]any{"live": nil, "version": 2.0, "revision": map[string]any{
		"id": revision["id"], "state": "draft", "slug": "sync", "name": "Sync", "summary": "Syncs", "description": "It\nsyncs.",
		"iconAssetId": icon, "screenshotAssetIds": []any{shot}, "note": "", "createdAt": revision["createdAt"], "updatedAt": revision["updatedAt"],
	}}
	changed.wantBody(want)
	d.ann("GET " + path + "/listing").wantBody(want)

	d.ann("POST "+path+"/listing/submit", "{}").want(http.StatusOK).wantState("submitted", "")
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionChangesRequested)
	d.ann("GET "+path+"/listing").wantState("changes_requested", "")
	if note := d.ann("GET " + path + "/listing").body["revision"].(map[string]any)["note"]; note != "Note: changes_requested" {
		t.Errorf("note %q", note)
	}
	d.ann("PUT "+path+"/listing", wholeListing).want(http.StatusOK).wantState("draft", "")
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	if d.ann("GET " + path).body["reviewed"] != false {
		t.Error("reviewed before the approval")
	}
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	d.ann("GET "+path+"/listing").wantState("approved", "sync")
	if d.ann("GET " + path).body["reviewed"] != true { // AZ-16
		t.Error("the app is not reviewed after the first approval")
	}

	second := d.ann("PUT "+path+"/listing", `{"slug": "sync-2", "name": "Sync 2", "summary": "S", "description": "D"}`).want(http.StatusOK)
	second.wantState("draft", "sync")
	if second.body["revision"].(map[string]any)["id"] == revision["id"] {
		t.Error("the live revision was changed")
	}
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionRejected)
	d.ann("GET "+path+"/listing").wantState("rejected", "sync")
	d.ann("PUT "+path+"/listing", `{"slug": "sync-2", "name": "Sync 2", "summary": "S", "description": "D"}`).want(http.StatusOK)
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	d.ann("GET "+path+"/listing").wantState("approved", "sync-2")

	var actions []string
	for _, entry := range d.ann("GET " + path + "/audit?limit=3").data() {
		actions = append(actions, fmt.Sprint(entry["action"], " by ", entry["userId"]))
	}
	if diff := cmp.Diff([]string{"listing.approved by <nil>", "listing.in_review by <nil>", "listing.submitted by usr_ann"}, actions); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// CON-03: every step from every state; what is not a way is refused and changes nothing.
func TestListingSteps_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	ways := map[consolestore.RevisionState][]consolestore.RevisionState{ // how to get there
		consolestore.RevisionDraft:            {},
		consolestore.RevisionSubmitted:        {"submit"},
		consolestore.RevisionInReview:         {"submit", consolestore.RevisionInReview},
		consolestore.RevisionChangesRequested: {"submit", consolestore.RevisionInReview, consolestore.RevisionChangesRequested},
		consolestore.RevisionRejected:         {"submit", consolestore.RevisionInReview, consolestore.RevisionRejected},
		consolestore.RevisionApproved:         {"submit", consolestore.RevisionInReview, consolestore.RevisionApproved},
	}
	steps := map[consolestore.RevisionState]string{ // and what leads on
		"save": "draft changes_requested rejected approved", "submit": "draft", consolestore.RevisionInReview: "submitted",
		consolestore.RevisionChangesRequested: "in_review", consolestore.RevisionRejected: "in_review", consolestore.RevisionApproved: "in_review",
	}
	take := func(path, appID string, step consolestore.RevisionState) error {
		listing := strings.Replace(wholeListing, "sync", strings.ToLower(appID[len("app_"):]), 1)
		var got response
		switch step {
		case "save":
			got = d.ann("PUT "+path+"/listing", listing)
		case "submit":
			got = d.ann("POST " + path + "/listing/submit")
		default:
			_, err := d.console.ReviewListing(t.Context(), console.Review{AppID: appID, State: step})
			return err
		}
		if got.Status == http.StatusOK {
			return nil
		}
		if got.Status != http.StatusBadRequest || got.body["code"] != "LISTING_STATE_INVALID" {
			t.Errorf("%s: %s", step, got.Body)
		}
		return codes.ListingStateInvalid.New("", "")
	}
	for from, way := range ways {
		for step, leads := range steps {
			path, appID := d.newApp(confidentialApp)
			d.ann("POST "+path+"/listing", strings.Replace(wholeListing, "sync", appID[len("app_"):], 1)).want(http.StatusCreated)
			for _, before := range way {
				d.must(take(path, appID, before))
			}
			d.ann("GET " + path + "/listing").want(http.StatusOK)
			state, _ := d.ann("GET " + path + "/listing").state()
			if state != string(from) {
				t.Fatalf("at %s instead of %s", state, from)
			}
			err := take(path, appID, step)
			if isWay := strings.Contains(" "+leads+" ", " "+string(from)+" "); (err == nil) != isWay {
				t.Errorf("%s from %s: %v", step, from, err)
			}
			if err != nil && !apierror.HasCode(err, codes.ListingStateInvalid.Code) {
				t.Errorf("%s from %s: %v", step, from, err)
			}
			if after, _ := d.ann("GET " + path + "/listing").state(); err != nil && after != state {
				t.Errorf("%s from %s was refused and led to %s", step, from, after)
			}
		}
	}
}

// CON-03: a message says from where to where.
func TestListingStateInvalid_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	d.ann("POST "+path+"/listing", wholeListing).want(http.StatusCreated)
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.ann("PUT "+path+"/listing", wholeListing).wantBody(map[string]any{
		"statusCode": 400.0, "error": "Bad Request", "code": "LISTING_STATE_INVALID",
		"message": "a revision that is submitted cannot become draft", "params": map[string]any{"p0": "submitted", "p1": "draft"},
	})
	_, err := d.console.ReviewListing(t.Context(), console.Review{AppID: appID, State: consolestore.RevisionDraft, Note: strings.Repeat("n", 2001)})
	if e, ok := errors.AsType[*apierror.Error](err); !ok || !cmp.Equal(e.Messages(), []string{
		"state must be in_review, changes_requested, rejected or approved", "note must have at most 2000 characters",
	}) {
		t.Errorf("a review that is none: %v", err)
	}
	_, other := d.newApp(confidentialApp)
	for appID, want := range map[string]string{"app_absent": "app not found", other: "listing not found"} {
		_, err := d.console.ReviewListing(t.Context(), console.Review{AppID: appID, State: consolestore.RevisionInReview})
		if e, ok := errors.AsType[*apierror.Error](err); !ok || e.Status() != http.StatusNotFound || e.Messages()[0] != want {
			t.Errorf("of %s: %v, want %q", appID, err, want)
		}
	}
}

// CON-03: what a submission lacks is listed, and it stays a draft.
func TestListingIncomplete_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	d.ann("POST "+path+"/listing", `{"slug": "sync", "summary": " \u00a0"}`).want(http.StatusCreated)
	lacks := d.ann("POST " + path + "/listing/submit")
	lacks.wantCode(http.StatusBadRequest, "LISTING_INCOMPLETE")
	want := []any{
		map[string]any{"field": "name", "reason": "is empty"},
		map[string]any{"field": "summary", "reason": "is empty"},
		map[string]any{"field": "description", "reason": "is empty"},
	}
	if diff := cmp.Diff(want, lacks.body["details"]); diff != "" {
		t.Errorf("details (-want +got)\n%s", diff)
	}
	d.ann("PUT "+path+"/listing", `{"slug": "sync", "name": "Sync", "summary": "S"}`).want(http.StatusOK).wantState("draft", "")
	if details := d.ann("POST " + path + "/listing/submit").body["details"]; len(details.([]any)) != 1 {
		t.Errorf("details %v", details)
	}
	d.ann("GET "+path+"/listing").wantState("draft", "")
	d.ann("PUT "+path+"/listing", wholeListing).want(http.StatusOK) // no image is needed
	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
}

// CON-03: SLUG_TAKEN by any revision that is live or the latest.
func TestSlugTaken_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	one, _ := d.newApp(confidentialApp)
	two, _ := d.newApp(publicApp)
	save := func(what, slug string) response { return d.ann(what+"/listing", `{"slug": "`+slug+`"}`) }
	save("POST "+one, "sync").want(http.StatusCreated)
	taken := save("POST "+two, "sync")
	taken.wantCode(http.StatusBadRequest, "SLUG_TAKEN")
	if !cmp.Equal(taken.body["params"], any(map[string]any{"p0": "sync"})) {
		t.Errorf("params %v", taken.body["params"])
	}
	d.ann("GET " + two + "/listing").want(http.StatusNotFound) // nothing was saved
	save("POST "+two, "other").want(http.StatusCreated)
	save("PUT "+two, "sync").wantCode(http.StatusBadRequest, "SLUG_TAKEN")
	save("PUT "+one, "sync").want(http.StatusOK)
	save("PUT "+one, "renamed").want(http.StatusOK)
	save("PUT "+two, "sync").want(http.StatusOK)
}

// CON-03: everything that is wrong with a listing, by member.
func TestListingRules_CON03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	shot := d.upload(path, upload{kind: "screenshot", file: pngOf(640, 360)}).want(http.StatusCreated).text("id")
	other, _ := d.newApp(confidentialApp)
	foreign := d.upload(other, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")

	const slugRule = "slug must have 3 to 60 of a-z, 0-9 and hyphens, and not begin or end with a hyphen"
	tests := []struct {
		name, body string
		want       []string
	}{
		{"nothing", `{}`, []string{slugRule}},
		{"short slug", `{"slug": "ab"}`, []string{slugRule}},
		{"long slug", `{"slug": "` + strings.Repeat("a", 61) + `"}`, []string{slugRule}},
		{"upper case", `{"slug": "Sync"}`, []string{slugRule}},
		{"hyphen first", `{"slug": "-sync"}`, []string{slugRule}},
		{"hyphen last", `{"slug": "sync-"}`, []string{slugRule}},
		{"newline", `{"slug": "sync\n"}`, []string{slugRule}},
		{"umlaut", `{"slug": "sünc"}`, []string{slugRule}},
		{"slash", `{"slug": "a/b"}`, []string{slugRule}},
		{"texts", `{"slug": "sync", "name": "` + strings.Repeat("ü", 121) + `", "summary": "` + strings.Repeat("s", 201) + `", "description": "` + strings.Repeat("d", 10_001) + `"}`,
			[]string{"name must have 1 to 120 characters", "summary must have at most 200 characters", "description must have at most 10000 characters"}},
		{"lines", `{"slug": "sync", "name": "a\nb", "summary": "\u0007"}`,
			[]string{"name must not have the character U+000A, which cannot be seen", "summary must not have the character U+0007, which cannot be seen"}},
		{"REG-02 combining characters", `{"slug": "sync", "name": "\u0301\u0302"}`, []string{"name must have at least one visible character"}},
		{"REG-02 a filler", `{"slug": "sync", "name": "\u3164"}`, []string{"name must not have the character U+3164, which cannot be seen"}},
		{"many screenshots", `{"slug": "sync", "screenshotAssetIds": ["1","2","3","4","5","6","7","8","9","10","11"]}`, []string{"screenshotAssetIds must have at most 10 entries"}},
		{"very many screenshots, ERR-04", `{"slug": "sync", "screenshotAssetIds": [1` + strings.Repeat(",1", 400_000) + `]}`, []string{"screenshotAssetIds must have at most 10 entries"}},
		{"a screenshot twice", `{"slug": "sync", "screenshotAssetIds": ["` + shot + `", "` + shot + `"]}`, []string{"screenshotAssetIds[1] is given more than once"}},
		{"assets that are not there", `{"slug": "sync", "iconAssetId": "ast_1", "screenshotAssetIds": ["` + shot + `", "ast_2"]}`,
			[]string{"iconAssetId must be an icon of this app", "screenshotAssetIds[1] must be a screenshot of this app"}},
		{"assets of another app", `{"slug": "sync", "iconAssetId": "` + foreign + `"}`, []string{"iconAssetId must be an icon of this app"}},
		{"assets of the wrong kind", `{"slug": "sync", "iconAssetId": "` + shot + `", "screenshotAssetIds": ["` + icon + `"]}`,
			[]string{"iconAssetId must be an icon of this app", "screenshotAssetIds[0] must be a screenshot of this app"}},
		{"types", `{"slug": 1, "name": null, "screenshotAssetIds": "x", "state": "approved"}`,
			[]string{"slug must be a string", "name must be a string", "screenshotAssetIds must be an array", "state is not a known member"}},
	}
	for _, test := range tests {
		d.ann("POST "+path+"/listing", test.body).wantInvalid(test.want...)
	}
	longest := fmt.Sprintf(`{"slug": %q, "name": %q, "summary": %q, "description": %q, "iconAssetId": %q, "screenshotAssetIds": [%q]}`,
		strings.Repeat("a-", 29)+"aa", strings.Repeat("ü", 120), strings.Repeat("s", 200), strings.Repeat("d", 10_000), icon, shot)
	d.ann("POST "+path+"/listing", longest).want(http.StatusCreated)
	for _, test := range tests {
		d.ann("PUT "+path+"/listing", test.body).wantInvalid(test.want...)
	}
	d.ann("PUT "+path+"/listing", `{"slug": "a1b"}`).want(http.StatusOK)
}
