package browser_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// hostile is the text that the tests store in every text field: markup that would break
// out of any element, attribute or script that contains it unescaped.
const hostile = `'"></textarea></title></script><script>pwned=1</script><img src=x onerror=alert(1)>`

// isHarmless checks that the page contains no element that only an attacker could have
// added.
func (b *tab) isHarmless(where string) {
	b.t.Helper()
	planted := get[[]string](b, `[...document.querySelectorAll("[onerror], img[src=x], script:not([src])")].map((e) => e.outerHTML).concat(window.pwned ? ["it ran"] : [])`)
	if faults := b.faults(); len(planted)+len(faults) > 0 {
		b.t.Errorf("%s: %v %v", where, planted, faults)
	}
}

// CON-02, DLV-09: names and texts of apps, businesses, users and receivers are shown as
// text on every page.
func TestStoredMarkup(t *testing.T) {
	t.Parallel()
	s := serve(t, "Ledgerlink Sync", hostile, "Ledgerlink Software", hostile, "Moreau Bakery", hostile, "Ada Moreau", hostile, "Dana Petrova", hostile, "Sync status", hostile)
	s.partner.responses(http.StatusBadGateway, hostile+strings.Repeat(" and so on", 200))
	ada := s.enter(open(t), "usr_ada", "biz_bakery")
	ada.visit(s.authorize(url.Values{"scope": {"profile:read invoices:read invoices:write customers:read"}, "state": {hostile}}))
	ada.isHarmless("consent")
	ada.sees("onerror=alert(1)")
	ada.submit("Allow")
	if back, err := url.Parse(ada.at()); err != nil || back.Query().Get("state") != hostile {
		t.Errorf("state came back as %s", ada.at())
	}
	s.send(request{method: "GET", path: "/profile", token: s.tokens(ada)})

	dev := s.session("usr_dev", "biz_ledgerlink_sandbox")
	origin := s.partner.origin
	query := "?" + url.Values{"x": {hostile}}.Encode()
	for path, body := range map[string]map[string]any{
		"app_sync/webhooks":        {"url": origin + "/webhooks/hostile" + query, "events": []string{"invoice.created"}},
		"app_sync/app-data-fields": {"resourceType": "customer", "key": "tier", "type": "CHOICE", "label": hostile, "choices": []string{`<img src=x onerror=alert(2)>`}},
		"app_sync/extensions":      {"resourceType": "invoice", "path": "/p" + query, "label": `<img src=x onerror=alert(3)>`},
		"app_sync/functions":       {"name": `<img src=x onerror=alert(4)>`, "source": "export const handler = () => `" + hostile + "`"},
		"app_sync/listing":         {"slug": "sync", "name": hostile, "summary": hostile, "description": hostile},
	} {
		s.console(dev, path, body, nil)
	}
	s.call(request{method: "PATCH", path: "/developer/apps/app_sync", cookie: dev, body: map[string]any{
		"redirectUris": []string{origin + "/callback" + query, origin + "/callback"}, "appUrl": origin + "/embedded" + query,
	}}, nil)
	s.dev("/events", map[string]any{"businessId": "biz_bakery", "type": "invoice.created", "data": map[string]any{"id": hostile, "number": hostile}}, nil)
	eventually(t, "deliveries", func() bool { return len(s.partner.arrived("/webhooks/hostile")) > 0 })

	shown := 0
	for user, first := range map[string][]string{
		"usr_dev": {"/developer", "/developer?done=" + url.QueryEscape(hostile), "/developer/apps/" + url.PathEscape(hostile), "/" + url.PathEscape(hostile)},
		"usr_ada": {"/settings/apps", "/businesses", "/device?user_code=" + url.QueryEscape(hostile), "/embedded/ledgerlink-sync", "/oauth/authorize?client_id=" + url.QueryEscape(hostile)},
	} {
		business := map[string]string{"usr_dev": "biz_ledgerlink_sandbox", "usr_ada": "biz_bakery"}[user]
		b := s.enter(open(t), user, business)
		s.crawl(b, first, func(kind string) {
			b.isHarmless(kind)
			if strings.Contains(b.where(), "onerror=alert") {
				shown++
			}
		})
	}
	if shown < 15 {
		t.Errorf("only %d pages show what was stored", shown)
	}

	b := open(t)
	b.visit(s.App + "/login?return_to=" + url.QueryEscape("/"+hostile))
	b.isHarmless("login")
	get[any](b, `void (labelled("Email").control.type = "text")`)
	b.signIn(hostile, hostile)
	b.isHarmless("login again")
}
