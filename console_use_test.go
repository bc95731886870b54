package partnerkit_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// CON-11: the platform notes the use of client secrets and of the limit of token requests,
// which the console shows.
func TestConsoleShowsUse_CON11(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	host := partnertest.NewHost()
	host.AddOrganization("usr_dev", console.Organization{ID: "org_1", Name: "One"})
	cfg.Host, cfg.Developers = host, host
	p := platform(t, cfg)
	signedIn := func(method, path, body string) *http.Request {
		r := httptest.NewRequest(method, "http://x"+path, strings.NewReader(body))
		r.AddCookie(host.NewSession("usr_dev", ""))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return r
	}
	data := func(path string) (list []map[string]any) {
		w := httptest.NewRecorder()
		p.API().ServeHTTP(w, signedIn(http.MethodGet, path, ""))
		var body struct{ Data []map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return body.Data
	}
	by, err := p.Console().Actor(signedIn(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	app, err := p.Console().CreateApp(t.Context(), by, console.NewApp{
		Name: "Sync", Type: partner.Confidential, RedirectURIs: []string{"https://partner.example/cb"}, Scopes: []string{"invoices:read"},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/developer/apps/" + app.App.ID
	if got := data(path + "/secrets")[0]; got["lastUsedAt"] != nil {
		t.Errorf("a new secret: %v", got)
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {app.App.ClientID}, "client_secret": {app.Secret}}
	r := httptest.NewRequest(http.MethodPost, "http://x/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	p.API().ServeHTTP(httptest.NewRecorder(), r)
	if got := data(path + "/secrets")[0]; got["lastUsedAt"] == nil {
		t.Errorf("a used secret: %v", got)
	}
	for _, limit := range data(path + "/limits") {
		if want := map[any]float64{"app": 0, "token": 1}[limit["name"]]; limit["used"] != want {
			t.Errorf("%v, want %v used", limit, want)
		}
	}
}
