package operator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// AZ-16: an operator decides about an app that was submitted without its listing, as it was
// submitted.
func TestReviewOfAnApp_AZ16(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	path, own := "/operator/apps/"+app.ID, "/developer/apps/"+app.ID
	step := func(userID, state string) *partnertest.Response {
		return h.call(userID, "POST "+path+"/review", `{"state": "`+state+`", "note": "Because"}`)
	}
	has := func(got *partnertest.Response, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(got.Body, part) {
				t.Errorf("%s lacks %s", got, part)
			}
		}
	}
	has(h.call("usr_olga", "GET "+path, "").Want(http.StatusOK), `"review":{"current":{"name":"Test app",`, `"submitted":null`)
	step("usr_olga", "in_review").Want(http.StatusNotFound)
	h.call("usr_ada", "PATCH "+own, `{"name": "Other name", "redirectUris": ["https://new.example/cb"]}`).Want(http.StatusOK)
	h.call("usr_ada", "POST "+own+"/review", "").Want(http.StatusAccepted)
	has(h.call("usr_olga", "GET /operator/reviews", "").Want(http.StatusOK), `"revisionId":null,"name":"Other name","state":"submitted"`)
	if got := step("usr_olga", "approved").Want(http.StatusBadRequest); !strings.Contains(got.Body, "LISTING_STATE_INVALID") {
		t.Error(got)
	}
	has(step("usr_olga", "in_review").Want(http.StatusOK), `"submitted":{"name":"Other name","redirectUris":["https://new.example/cb"]`, `"state":"in_review"`)
	if got := step("usr_otto", "approved").Want(http.StatusConflict); !strings.Contains(got.Body, "REVIEW_CONFLICT") || !strings.Contains(got.Body, `"Olga"`) {
		t.Error(got)
	}
	h.call("usr_ada", "PATCH "+own, `{"name": "Later name"}`).Want(http.StatusOK)
	has(step("usr_olga", "approved").Want(http.StatusOK), `"current":{"name":"Other name","redirectUris":["https://new.example/cb"]`, `"state":"approved"`, `"note":"Because"`)
	has(h.call("usr_ada", "GET "+own, "").Want(http.StatusOK), `"review":{"reviewed":true,"pending":{"name":"Later name"},"decision":{"state":"approved","note":"Because"}}`)
	has(h.call("usr_olga", "GET /operator/audit?appId="+app.ID, "").Want(http.StatusOK), `"review.submitted"`, `"review.in_review"`, `"review.approved"`)
	h.call("usr_ada", "POST "+path+"/review", `{"state": "in_review"}`).Want(http.StatusNotFound)
	h.call("usr_olga", "POST /operator/apps/app_none/review", `{"state": "in_review"}`).Want(http.StatusNotFound)
	h.call("usr_olga", "POST "+path+"/review", `{"state": "draft", "note": "`+strings.Repeat("x", 2001)+`"}`).Want(http.StatusBadRequest)
}

// AZ-16: nobody can submit an app of no organization, so an operator takes it as it is.
func TestReviewOfAnOwnerlessApp_AZ16(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	created, err := h.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Nobody's", Type: partner.Public, RedirectURIs: []string{"https://nobody.example/cb"}, Scopes: identity.MustScopes("invoices:read"),
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/operator/apps/" + created.App.ID + "/review"
	h.call("usr_olga", "POST "+path, `{"state": "approved"}`).Want(http.StatusNotFound)
	h.call("usr_olga", "POST "+path, `{"state": "in_review"}`).Want(http.StatusOK)
	h.call("usr_otto", "POST "+path, `{"state": "in_review"}`).Want(http.StatusConflict)
	h.call("usr_olga", "POST "+path, `{"state": "approved"}`).Want(http.StatusOK)
	h.call("usr_olga", "POST "+path, `{"state": "in_review"}`).Want(http.StatusBadRequest) // nothing waits
	app, err := h.Store.App(t.Context(), created.App.ID)
	if err != nil || !app.Reviewed || !app.Unreviewed().IsEmpty() {
		t.Errorf("reviewed %v, waits %+v, %v", app.Reviewed, app.Unreviewed(), err)
	}
}
