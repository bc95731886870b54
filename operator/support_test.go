package operator_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partnertest"
)

// OPS-05: an app is found by each of its names, and nothing else is.
func TestFindApps_OPS05(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.submitted("sync") // of org_ledgerlink, with https://partner.example/cb
	name := h.call("usr_ada", "GET /developer/apps/"+app, "").Want(http.StatusOK)
	for query, want := range map[string]int{
		"ync_sy": 1, "SYNC": 1, app: 1, name.Text("clientId"): 1, "org_ledgerlink": 1, "org_ledger": 0, "ledgerlin": 1,
		"partner.example": 1, "PARTNER.example": 1, "artner.example": 0, "partner": 0, "partner.example/cb": 0, "artner%": 0, `partner.example"`: 0,
	} {
		got := h.call("usr_olga", "GET /operator/apps?query="+url.QueryEscape(query), "").Want(http.StatusOK)
		if n := strings.Count(got.Body, `"clientId"`); n != want {
			t.Errorf("%q: %d apps, want %d", query, n, want)
		}
	}
	h.Host.SetError(errors.New("down"))
	if got := h.call("usr_olga", "GET /operator/apps?query=x", ""); got.Status < 500 {
		t.Errorf("while the host fails: %s", got)
	}
}

// OPS-05: a user is found by id and by email.
func TestFindUsers_OPS05(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Host.SetUser(operator.User{ID: "usr_eva", Name: "Eva\nM", Email: "Eva@example.com"})
	h.call("usr_olga", "POST /operator/users/usr_eva/status", `{"status": "RESTRICTED", "reason": "asked for it"}`).Want(http.StatusOK)
	for _, query := range []string{"usr_eva", "eva@EXAMPLE", "usr_ev"} {
		got := h.call("usr_olga", "GET /operator/users?query="+url.QueryEscape(query), "").Want(http.StatusOK)
		if want := `{"data":[{"id":"usr_eva","name":"Eva M","email":"Eva@example.com","status":"RESTRICTED"}]}`; strings.TrimSpace(got.Body) != want {
			t.Errorf("%q: %s, want %s", query, got.Body, want)
		}
	}
	if got := h.call("usr_olga", "GET /operator/users?query=nobody", "").Want(http.StatusOK); strings.TrimSpace(got.Body) != `{"data":[]}` {
		t.Errorf("nobody: %s", got.Body)
	}
	for _, query := range []string{"", "query=", "query=%00", "query=" + strings.Repeat("x", 513)} {
		h.call("usr_olga", "GET /operator/users?"+query, "").Want(http.StatusBadRequest)
	}
}

// OPS-05: deliveries and requests are shown without bodies, and each look is in the audit log.
func TestSupport_OPS05(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	first, second := h.Receiver(app, "app.uninstalled"), h.Receiver(app, "app.uninstalled")
	h.call("usr_olga", "POST /operator/apps/"+app.ID+"/installations/"+partnertest.Business+"/uninstall", `{"reason": " "}`).Want(http.StatusBadRequest)
	ended := h.call("usr_olga", "POST /operator/apps/"+app.ID+"/installations/"+partnertest.Business+"/uninstall", `{"reason": "left us"}`).Want(http.StatusOK)
	if !strings.Contains(ended.Body, `"status":"UNINSTALLED"`) {
		t.Errorf("ended: %s", ended.Body)
	}
	h.call("usr_olga", "POST /operator/apps/"+app.ID+"/installations/"+partnertest.Business+"/uninstall", `{"reason": "again"}`).Want(http.StatusNotFound)
	first.Expect("app.uninstalled")
	second.Expect("app.uninstalled")

	list := "GET /operator/apps/" + app.ID + "/deliveries"
	seen := map[string]bool{}
	for after := ""; ; {
		page := h.call("usr_olga", list+"?limit=1&event=app.uninstalled"+after, "").Want(http.StatusOK)
		var got struct {
			Data []struct {
				ID, WebhookID, Status string
				Body                  *string
			}
			NextCursor string
			HasMore    bool
			Counts     struct{ Delivered int }
		}
		page.Decode(&got)
		for _, one := range got.Data {
			seen[one.WebhookID] = true
			if one.Body != nil || one.Status != "delivered" {
				t.Errorf("delivery %+v", one)
			}
		}
		if got.Counts.Delivered != 2 {
			t.Errorf("counts: %s", page.Body)
		}
		if !got.HasMore {
			break
		}
		after = "&after=" + got.NextCursor
	}
	if len(seen) != 2 {
		t.Errorf("deliveries of %v", seen)
	}
	h.call("usr_olga", list+"?colour=red", "").Want(http.StatusBadRequest)
	requests := h.call("usr_olga", "GET /operator/apps/"+app.ID+"/requests", "").Want(http.StatusOK)
	if !strings.HasPrefix(requests.Body, `{"data":[`) || strings.Contains(requests.Body, `"error"`) {
		t.Errorf("requests: %s", requests.Body)
	}
	h.call("usr_olga", "GET /operator/apps/app_none/deliveries", "").Want(http.StatusNotFound)
	h.call("usr_olga", "GET /operator/apps/app_none/requests", "").Want(http.StatusNotFound)

	log := h.call("usr_olga", "GET /operator/audit?actor=usr_olga&appId="+app.ID, "").Want(http.StatusOK)
	for action, want := range map[string]int{"app.deliveries_viewed": 2, "app.requests_viewed": 1, "installation.uninstalled": 1} {
		if n := strings.Count(log.Body, `"action":"`+action+`"`); n < want || action != "app.deliveries_viewed" && n != want {
			t.Errorf("%d entries of %s, want %d: %s", n, action, want, log.Body)
		}
	}
	if !strings.Contains(log.Body, `"reason":"left us"`) {
		t.Error("the log does not have the reason")
	}
}
