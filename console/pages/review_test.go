package pages_test

import (
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// AZ-16: a page of the console lists what waits for a review, and its button submits it.
func TestReview_AZ16(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at, review := "/apps/"+app.ID, "/apps/"+app.ID+"/review"
	o.get(review).want(http.StatusOK).shows("What will be reviewed", "Only sandbox businesses", "Submit for review", app.Name).lacks("Not reviewed</span>")
	o.post(review).wantTo(review+"?done=app-submitted").shows("The app was submitted and waits for review.", "Submitted").lacks("Submit for review")
	o.post(review).want(http.StatusConflict)
	decide := func(states ...consolestore.RevisionState) {
		t.Helper()
		for _, state := range states {
			_, err := o.console.ReviewApp(t.Context(), console.Review{AppID: app.ID, State: state, Note: "Because <b>"})
			o.must(err)
		}
	}
	decide(consolestore.RevisionInReview, consolestore.RevisionApproved)
	o.get(review).want(http.StatusOK).shows("The last review covers the app as it is now.", "Because <b>").lacks("Submit for review", "Not reviewed</span>", "Because <b>")
	o.get(at).want(http.StatusOK).lacks("See what waits")
	o.get(at + "/settings").want(http.StatusOK).shows("Reviewed: any business can connect it.").lacks("See what waits")

	name, uris := hostile, []string{"https://partner.example/cb", "https://later.example/cb"}
	_, err := o.oauth.UpdateApp(t.Context(), app.ID, oauthserver.AppChange{Name: &name, RedirectURIs: &uris})
	o.must(err)
	o.get(at).want(http.StatusOK).shows("Changes of the app wait for a review.", "See what waits")
	o.get(at+"/settings").want(http.StatusOK).shows("Reviewed, but not all that it is now", "See what waits")
	o.get(review).want(http.StatusOK).shows(app.Name, hostile, "https://later.example/cb Not reviewed", "Submit for review").lacks("<script>alert")
	o.post(review).wantTo(review + "?done=app-submitted")
	decide(consolestore.RevisionInReview, consolestore.RevisionRejected)
	o.get(review).want(http.StatusOK).shows("Rejected", "The reviewer says", "Submit for review")
}
