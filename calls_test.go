package partnerkit_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// members is a host where everybody belongs to every business.
type members struct{ nobody }

func (members) IsMember(context.Context, string, string) (bool, error) { return true, nil }

// connected is an app with a token, by the device flow.
func connected(t *testing.T, p *partnerkit.Platform, store partnerkit.Store) (app oauthserver.App, token string) {
	t.Helper()
	created, err := p.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Sync", Type: oauthserver.Confidential, OrganizationID: "org_1",
		RedirectURIs: []string{"https://partner.example/cb"}, Scopes: identity.MustScopes("invoices:write"),
	})
	if err != nil {
		t.Fatal(err)
	}
	post := func(path string, form url.Values) map[string]any {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(created.App.ClientID, created.Secret)
		w := httptest.NewRecorder()
		p.API().ServeHTTP(w, r)
		var body map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return body
	}
	asked := post("/oauth/device/authorize", url.Values{})
	device, err := store.DeviceByUserCode(t.Context(), asked["user_code"].(string))
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.ApproveDevice(t.Context(), oauthserver.Approval{
		RequestID: device.ID, UserID: "usr_1", BusinessID: "biz_1", InstallationID: "inst_1", GrantID: "grt_1", Now: device.CreatedAt,
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := post("/oauth/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {asked["device_code"].(string)},
	})
	return created.App, answer["access_token"].(string)
}

// AN-01, IDEM-01: the assembly counts calls and repeats answers.
func TestCallsAreCountedAndRepeated(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Host = members{}
	cfg.Versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-01-15"}, {Name: "2026-09-01"}}}
	var worked atomic.Int64
	cfg.Routes = []guard.Route{{
		Pattern: "POST /invoices", Scope: "invoices:write",
		Handler: func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusCreated, map[string]int64{"n": worked.Add(1)})
		},
	}}
	p := platform(t, cfg)
	app, token := connected(t, p, cfg.Store)
	var bodies []string
	for i := range 3 {
		r := httptest.NewRequest(http.MethodPost, "/invoices", strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Idempotency-Key", "once")
		if i == 2 { // a repeated answer stays in the version of the first
			r.Header.Set("Service-Version", "2026-01-15")
		}
		w := httptest.NewRecorder()
		p.API().ServeHTTP(w, r)
		bodies = append(bodies, w.Body.String())
		if w.Code != http.StatusCreated || w.Header().Get("RateLimit-Limit") != "300" || w.Header().Get("Service-Version") != "2026-09-01" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if worked.Load() != 1 || bodies[0] != bodies[2] {
		t.Errorf("worked %d times, answers %q", worked.Load(), bodies)
	}
	report, err := p.Analytics().Report(t.Context(), app.ID, 1)
	if err != nil || report.Totals.Calls != 3 || report.Totals.Errors != 0 {
		t.Errorf("report %+v, %v", report.Totals, err)
	}
}
