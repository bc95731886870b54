package browser_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// authorize returns the address of an authorization request of the sync app. The
// parameters in more replace the default ones.
func (s *service) authorize(more url.Values) string {
	query := url.Values{
		"response_type": {"code"}, "client_id": {"ledgerlink-sync"}, "redirect_uri": {s.partner.origin + "/callback"},
		"scope": {"profile:read invoices:read"}, "state": {"a b&c"},
	}
	for name, values := range more {
		query[name] = values
	}
	return s.App + "/oauth/authorize?" + query.Encode()
}

// tokens redeems the code of the callback that a browser is at, for the sync app.
func (s *service) tokens(b *tab) string {
	s.t.Helper()
	return s.redeem(b, "ledgerlink-sync", "demo-secret-ledgerlink-sync")
}

// redeem redeems the code of the callback that a browser is at, for an app.
func (s *service) redeem(b *tab, clientID, secret string) string {
	s.t.Helper()
	at, err := url.Parse(b.at())
	if err != nil {
		s.t.Fatal(err)
	}
	var out struct {
		AccessToken string `json:"access_token"`
	}
	s.call(request{method: "POST", path: "/oauth/token", form: url.Values{
		"grant_type": {"authorization_code"}, "code": {at.Query().Get("code")}, "redirect_uri": {s.partner.origin + "/callback"},
		"client_id": {clientID}, "client_secret": {secret},
	}}, &out)
	return out.AccessToken
}

// AZ-01, AZ-10, AZ-13, AZ-14: a user who is not signed in signs in and sees the requested
// scopes. Allow leads to the app with a code for tokens of the chosen business. Deny leads
// to the app too. The form-action policy allows both redirects.
func TestConsent(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s, b := serve(t), open(t)
	b.visit(s.authorize(nil))
	b.signIn("ada@example.com", "demo-ada")
	b.sees("Ledgerlink Sync")
	b.sees("invoices:read")
	b.inspect("consent")

	b.submit("Deny")
	back, _ := url.Parse(b.at())
	if q := back.Query(); b.title() != "Back at the partner" || q.Get("error") != "access_denied" || q.Get("state") != "a b&c" || q.Has("code") {
		t.Fatalf("denied: %s", b.where())
	}
	b.visit(s.App + "/settings/apps")
	b.sees("No apps are connected")

	b.visit(s.authorize(nil))
	b.choose("Moreau Mill")
	b.submit("Allow")
	back, _ = url.Parse(b.at())
	if q := back.Query(); b.title() != "Back at the partner" || q.Get("state") != "a b&c" {
		t.Fatalf("allowed: %s", b.where())
	}
	var profile json.RawMessage
	s.call(request{method: "GET", path: "/profile", token: s.tokens(b)}, &profile)
	if !strings.Contains(string(profile), "Moreau Mill") {
		t.Errorf("profile of another business: %s", profile)
	}
	if faults := b.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}
}

// AZ-14: a callback can redirect the browser to another site. Chromium checks every
// redirect after a form post against form-action.
func TestConsentHops(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.enter(open(t), "usr_ada", "biz_bakery")
	for _, decision := range []string{"Deny", "Allow"} {
		b.visit(s.authorize(url.Values{"redirect_uri": {s.partner.origin + "/hop"}}))
		b.submit(decision)
		if !strings.HasPrefix(b.at(), s.partner.elsewhere+"/landed?") {
			t.Fatalf("%s: %s\n%s", decision, b.where(), b.faults())
		}
	}
}

// AZ-03, AZ-11, AZ-12: an app that was not reviewed is rejected for a business and
// allowed for the sandbox of its own organization.
func TestUnreviewed(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	beta := s.authorize(url.Values{"client_id": {"papertrail-beta"}, "scope": {"journal:read"}})

	b := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	if status := b.visit(beta); status != 403 || b.alert() != "This app has not completed review and can only connect to its own sandbox businesses" {
		t.Fatalf("%d %s", status, b.where())
	}
	b.inspect("consent-unreviewed")

	b = s.enter(open(t), "usr_ada", "biz_bakery")
	b.visit(beta)
	b.sees("Papertrail Sandbox")
	if text := b.where(); strings.Contains(text, "Moreau Bakery") {
		t.Fatalf("businesses are offered: %s", text)
	}
	b.inspect("consent-sandbox")
	// A value that the page does not offer is rejected if it is sent.
	get[any](b, `void (document.querySelector("[name=business_id]").value = "biz_bakery")`)
	b.submit("Allow")
	if b.status() != 403 || b.alert() == "" {
		t.Fatalf("a business that was not offered: %s", b.where())
	}
	b.visit(beta)
	b.submit("Allow")
	if b.title() != "Back at the partner" || !strings.Contains(b.at(), "code=") {
		t.Fatalf("the sandbox: %s", b.where())
	}
}

// AZ-02, AZ-03, AZ-12: a rejected request shows an error page and does not redirect.
func TestConsentRefusals(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_ben", "biz_bakery")
	for name, test := range map[string]struct {
		more   url.Values
		status int
		alert  string
	}{
		"client":     {url.Values{"client_id": {"nobody"}}, 400, "Invalid client_id"},
		"redirect":   {url.Values{"redirect_uri": {s.partner.elsewhere + "/callback"}}, 400, "redirect_uri does not match any registered URI"},
		"scopes":     {url.Values{"scope": {"suppliers:read"}}, 400, "Requested scopes not permitted for this client"},
		"permission": {nil, 403, "You do not have permission to connect apps to this business"},
	} {
		if status := b.visit(s.authorize(test.more)); status != test.status || b.alert() != test.alert {
			t.Errorf("%s: %d %s", name, status, b.where())
		}
	}
	b.inspect("consent-error")
}
