package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// partner is an app that ann has connected.
type partner struct {
	*testing.T
	*partnerkit.Platform
	token string
}

// connect goes through the device flow, as ann.
func connect(t *testing.T, p *partnerkit.Platform, scope string) partner {
	t.Helper()
	made, err := p.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Biller", Type: oauthserver.Public, OrganizationID: "org", RedirectURIs: []string{"https://biller.example.com/"},
		Scopes: identity.MustScopes("invoices:read", "invoices:write", "events:read"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.OAuth().SetReviewed(t.Context(), made.App.ID, true); err != nil {
		t.Fatal(err)
	}
	app := partner{T: t, Platform: p}
	var device struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
	}
	app.form(p.API(), "/oauth/device/authorize", url.Values{"client_id": {made.App.ClientID}, "scope": {scope}}, &device)
	page := app.form(p.App(), "/device", url.Values{"user_code": {device.UserCode}}, nil)
	csrf := regexp.MustCompile(`name="csrf_token" value="([^"]+)"`).FindStringSubmatch(page)
	if csrf == nil {
		t.Fatalf("no form: %s", page)
	}
	app.form(p.App(), "/device", url.Values{"user_code": {device.UserCode}, "csrf_token": csrf[1:], "business_id": {company}, "decision": {"allow"}}, nil)
	var tokens struct {
		Access string `json:"access_token"`
	}
	app.form(p.API(), "/oauth/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device.DeviceCode}, "client_id": {made.App.ClientID},
	}, &tokens)
	app.token = tokens.Access
	return app
}

// form posts as ann's browser, or as the app.
func (p partner) form(h http.Handler, path string, values url.Values, into any) (body string) {
	p.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Gateway-User", "ann")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		p.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			p.Fatal(err)
		}
	}
	return w.Body.String()
}

// call makes a call of the API.
func (p partner) call(method, path, body string, want int) string {
	p.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "one")
	w := httptest.NewRecorder()
	p.API().ServeHTTP(w, r)
	if w.Code != want {
		p.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return strings.TrimSpace(w.Body.String())
}

// BIZ-04: an app writes an invoice, and repeats it: there is one, and one event.
func TestApps(t *testing.T) {
	t.Parallel()
	o := openSQLite(t)
	app := connect(t, o.platform, "invoices:read invoices:write events:read")
	for range 2 {
		if got := app.call(http.MethodPost, "/invoices", `{"number": "7", "total": 1250}`, http.StatusCreated); got != `{"number":"7","total":1250}` {
			t.Error(got)
		}
	}
	if got := app.call(http.MethodGet, "/events?types=invoice.created", "", http.StatusOK); strings.Count(got, `"data":{"number":"7","total":1250}`) != 1 {
		t.Error(got)
	}
	app.call(http.MethodGet, "/hello", "", http.StatusForbidden) // the office's own

	app.call(http.MethodPost, "/invoices", `{"number": "8"}`, http.StatusUnprocessableEntity) // another body under the key

	reader := connect(t, o.platform, "invoices:read")
	reader.call(http.MethodPost, "/invoices", `{"number": "9"}`, http.StatusForbidden)
}
