package browser_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// CON-07, AZ-14: forms on the pages of other sites change nothing, even if the browser sends
// the cookies, as it does to another port of the same host.
func TestForeignForms(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.connect(s.enter(open(t), "usr_ada", "biz_bakery"))
	cookie := s.session("usr_dev", "biz_ledgerlink_sandbox")
	state := func() string {
		t.Helper()
		var all []json.RawMessage
		for _, path := range []string{"", "/app_sync", "/app_sync/webhooks", "/app_sync/secrets", "/app_sync/app-data-fields", "/app_sync/audit"} {
			var one json.RawMessage
			s.call(request{method: "GET", path: "/developer/apps" + path, cookie: cookie}, &one)
			all = append(all, one)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var start, end struct{ Now int64 }
	s.call(request{method: "GET", path: "/dev/clock"}, &start)
	before := state()

	const app, hook = "/developer/apps/app_sync", "/developer/apps/app_sync/webhooks/whk_sync"
	for name, origin := range map[string]string{"same site": s.partner.origin, "another site": s.partner.elsewhere} {
		dev := open(t)
		dev.visit(s.App + "/developer")
		dev.signIn("dev@example.com", "demo-dev")
		for path, fields := range map[string]url.Values{
			"/developer/apps/new":   {"name": {"Trojan"}, "type": {"CONFIDENTIAL"}, "redirect_uris": {s.partner.origin + "/callback"}},
			"/developer/clock":      {"by": {"30d"}, "return_to": {"/developer"}},
			app + "/settings":       {"name": {"Trojan"}},
			app + "/secrets":        {},
			app + "/fields/new":     {"resource_type": {"invoice"}, "type": {"TEXT"}, "key": {"trojan"}},
			app + "/webhooks/new":   {"url": {s.partner.origin + "/webhooks/trojan"}, "events": {"invoice.created"}},
			hook:                    {"url": {s.partner.origin + "/webhooks/trojan"}, "enabled": {"on"}},
			hook + "/test":          {},
			hook + "/record":        {"event": {"invoice.created"}, "business": {"biz_bakery"}},
			hook + "/rotate-secret": {},
			hook + "/delete":        {},
		} {
			dev.isRefused(name, form(origin, s.App+path, fields))
		}

		ada := open(t)
		ada.visit(s.App + "/settings/apps")
		ada.signIn("ada@example.com", "demo-ada")
		for path, fields := range map[string]url.Values{
			"/settings/apps/uninstall":     {"client_id": {"ledgerlink-sync"}},
			"/settings/apps/revoke-access": {"client_id": {"ledgerlink-sync"}},
			"/businesses":                  {"business_id": {"biz_mill"}},
			"/login":                       {"email": {"cleo@example.com"}, "password": {"demo-cleo"}},
			"/logout":                      {},
		} {
			ada.isRefused(name, form(origin, s.App+path, fields))
		}
		// The form is rejected even with the fields of the page itself.
		ada.visit(s.authorize(url.Values{"client_id": {"ledgerlink-cli"}, "code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"}}))
		fields := get[url.Values](ada, `Object.fromEntries([...new FormData(document.forms[0])].map(([name, value]) => [name, [value]]))`)
		if fields.Get("business_id") == "" || len(fields) < 2 {
			t.Fatalf("the fields of the consent page: %v", fields)
		}
		fields.Set("decision", "allow")
		ada.isRefused(name, form(origin, s.App+"/oauth/authorize", fields))

		ada.visit(s.App + "/settings/apps")
		if text := ada.where(); !strings.Contains(text, "Moreau Bakery") || !strings.Contains(text, "Ledgerlink Sync") || strings.Contains(text, "Ledgerlink CLI") {
			t.Errorf("%s: the business is not as it was: %s", name, text)
		}
	}
	if after := state(); after != before {
		t.Errorf("the console is not as it was:\n%s\nwas\n%s", after, before)
	}
	if s.call(request{method: "GET", path: "/dev/clock"}, &end); end.Now-start.Now > 24*3600 {
		t.Error("the clock was moved")
	}
	if n := len(s.partner.arrived("/webhooks/trojan")); n > 0 {
		t.Errorf("%d deliveries to the attacker", n)
	}
}

// isRefused opens a page that submits a form, and expects a response that explains why
// the form was rejected.
func (b *tab) isRefused(name, page string) {
	b.t.Helper()
	b.do(chromedp.Navigate(page))
	b.await(`document.title !== "Attack" && document.readyState === "complete"`)
	if status := b.status(); status != http.StatusForbidden || !strings.Contains(b.alert(), "another site") {
		b.t.Errorf("%s: %s: %d %s", name, page, status, b.where())
	}
	if name == "another site" && get[bool](b, `!!document.querySelector(".who")`) {
		b.t.Errorf("%s: cookies came along to %s", name, b.where())
	}
}

// AZ-14: no site can frame a page.
func TestFrames(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.connect(s.enter(open(t), "usr_ada", "biz_bakery"))
	b := s.enter(open(t), "usr_ada", "biz_bakery")
	for _, origin := range []string{s.partner.origin, s.partner.elsewhere} {
		for _, address := range []string{
			s.App + "/login", s.App + "/settings/apps", s.App + "/businesses", s.App + "/developer", s.App + "/embedded/ledgerlink-sync",
			s.App + "/device", s.App + "/nowhere", s.authorize(nil), s.authorize(url.Values{"client_id": {"nobody"}}),
		} {
			b.faults()
			b.visit(origin + "/frame?" + url.Values{"src": {address}}.Encode())
			eventually(t, "a refusal to frame "+address, func() bool {
				return strings.Contains(strings.Join(b.faults(), "\n"), "frame-ancestors")
			})
		}
	}
}
