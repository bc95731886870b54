package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/events"
)

// CON-02, AN-01: how an app was used, day by day.
func TestAnalytics_CON02_AN01(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where it does not become tomorrow
		d := newHarness(t)
		path, appID := d.newApp(confidentialApp)
		now := d.clock.Now()
		yesterday := now.AddDate(0, 0, -1)
		d.Calls.Count(analytics.Call{AppID: appID, At: now, Status: 200, Took: time.Millisecond})
		d.Calls.Count(analytics.Call{AppID: appID, At: now, Status: 429, RateLimited: true, Took: time.Millisecond})
		d.Calls.Count(analytics.Call{AppID: appID, At: yesterday, Status: 404, Took: time.Millisecond})
		d.Calls.Count(analytics.Call{AppID: "app_other", At: now, Status: 200, Took: time.Millisecond})
		day := func(at time.Time, calls, errors, limited, p50 float64) map[string]any {
			return map[string]any{"date": at.Format(time.DateOnly), "calls": calls, "errors": errors, "rateLimited": limited, "p50Ms": p50, "p95Ms": 5.0}
		}
		d.ann("GET " + path + "/analytics?days=2").want(http.StatusOK).wantBody(map[string]any{
			"totals": map[string]any{"calls": 3.0, "errors": 2.0, "rateLimited": 1.0, "p50Ms": 3.3, "p95Ms": 5.0},
			"days":   []any{day(yesterday, 1, 1, 0, 5), day(now, 2, 1, 1, 2.5)},
		})
		for query, days := range map[string]int{"": 30, "?days=1": 1, "?days=90": 90} {
			if got := d.ann("GET " + path + "/analytics" + query).want(http.StatusOK).body["days"].([]any); len(got) != days {
				t.Errorf("%q: %d days", query, len(got))
			}
		}
		for _, days := range []string{"0", "91", "-1", "x", "", "1.5"} {
			d.ann("GET " + path + "/analytics?days=" + days).wantInvalid("days must be a whole number from 1 to 90")
		}
		d.ann("GET " + path + "/analytics?days=1&days=2").wantInvalid("days must be given once")
	})
}

// CAT-01: every signed-in user can read the catalog.
func TestEvents_CAT01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	got := d.send(call{what: "GET /developer/events", by: zoe}).data()
	all := events.DefaultCatalog().All()
	if len(got) != len(all) || len(got) != 45 {
		t.Fatalf("%d events, the catalog has %d", len(got), len(all))
	}
	for i, one := range got {
		var scope any
		if all[i].Scope != "" {
			scope = all[i].Scope
		}
		if _, isObject := one["sample"].(map[string]any); !isObject {
			t.Errorf("the sample of %s is %v", all[i].Name, one["sample"])
		}
		delete(one, "sample")
		want := map[string]any{"name": all[i].Name, "audience": string(all[i].Audience), "scope": scope, "description": all[i].Description}
		if diff := cmp.Diff(want, one); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// REG-05: a token from the console registers one app for the organization, which is
// then in the console.
func TestRegistrationToken_REG05(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	issued := d.send(call{what: "POST /developer/registration-tokens", by: ben, body: `{"organizationId": "org_2"}`}).want(http.StatusCreated)
	issued.wantTime("expiresAt", 24*time.Hour)
	if len(issued.body) != 2 || issued.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("answered %s", issued.Body)
	}
	register := func() int {
		r := httptest.NewRequest(http.MethodPost, apiOrigin+"/oauth/register", strings.NewReader(`{"client_name": "Registered", "redirect_uris": ["https://partner.example/cb"]}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+issued.text("token"))
		w := httptest.NewRecorder()
		d.oauth.APIHandler().ServeHTTP(w, r)
		return w.Code
	}
	if first, second := register(), register(); first != http.StatusCreated || second != http.StatusUnauthorized {
		t.Errorf("registered: %d, and again: %d", first, second)
	}
	apps := d.send(call{what: "GET /developer/apps", by: ben}).data()
	if len(apps) != 1 || apps[0]["organizationId"] != "org_2" || apps[0]["name"] != "Registered" {
		t.Errorf("in the console: %v", apps)
	}
	d.ann("POST /developer/registration-tokens", `{"organizationId": "org_2"}`).wantInvalid("organizationId must be an organization that you are a member of")
	d.ann("POST /developer/registration-tokens", `{"organization": "org_1"}`).wantInvalid("organization is not a known member")
	d.ann("POST /developer/registration-tokens").wantInvalid("the body must not be empty")
}
