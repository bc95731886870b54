package browser_test

import (
	"net/url"
	"testing"
)

// IT-01 to IT-03: a developer names a business in the settings of an app, a person there who is
// not signed in signs in, sees what calls may do and allows it, the app gets a token and calls
// with it, except where a person is needed.
func TestCustomConnection(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s, b := serveWith(t, []string{"-custom-connections"}), open(t)
	cookie := s.session("usr_dev", "")
	var app struct{ ID, ClientID, ClientSecret string }
	s.call(request{method: "POST", path: "/developer/apps", cookie: cookie, body: map[string]any{
		"name": "Night Import", "type": "CONFIDENTIAL", "organizationId": "org_ledgerlink", "redirectUris": []string{"https://import.example/cb"}, "scopes": []string{"invoices:read", "journal:write"},
	}}, &app)
	s.call(request{method: "PATCH", path: "/developer/apps/" + app.ID, cookie: cookie, body: map[string]any{"customBusinessId": "biz_bakery"}}, nil)

	b.visit(s.App + "/connections/new?client_id=" + app.ClientID)
	b.signIn("ada@example.com", "demo-ada")
	b.sees("Night Import")
	b.sees("This service has not reviewed this app")
	b.sees("journal.post")
	b.inspect("custom")
	b.submit("Allow")
	b.sees("Night Import is connected to")

	var token struct {
		Access string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ClientID}, "client_secret": {app.ClientSecret}}
	s.call(request{method: "POST", path: "/oauth/token", form: form}, &token)
	s.call(request{method: "GET", path: "/invoices", token: token.Access}, nil)
	if status, body := s.send(request{method: "GET", path: "/profile", token: token.Access}); status != 403 {
		t.Errorf("GET /profile: %d %s", status, body)
	}
	if faults := b.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}
}
