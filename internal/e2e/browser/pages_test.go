package browser_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ids matches the ids of records whose pages all have the same layout.
var ids = regexp.MustCompile(`(whk|dlv|adf|ext|fnc|ast|req|evt)_[0-9a-z_]+`)

// crawl follows every link, except to downloads, from the first addresses on, and calls each on every kind
// of page, once. It returns the kinds, such as /developer/apps/app_sync/webhooks/whk.
func (s *service) crawl(b *tab, first []string, each func(kind string)) []string {
	s.t.Helper()
	var kinds []string
	todo := slices.Clone(first)
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		kind := ids.ReplaceAllString(path, "$1")
		if slices.Contains(kinds, kind) {
			continue
		}
		kinds = append(kinds, kind)
		if status := b.visit(s.App + path); status >= 400 && !slices.Contains(first, path) {
			b.t.Errorf("a link leads to %s, which answers %d", path, status)
		}
		each(kind)
		for _, link := range get[[]string](b, `[...document.querySelectorAll("a[href]:not([download])")].map((a) => a.href.split("#")[0])`) {
			if path, ok := strings.CutPrefix(link, s.App); ok && !strings.Contains(path, "/apps/app_0") { // one of many, with the pages of any other
				todo = append(todo, path)
			}
		}
	}
	return kinds
}

// console sends JSON to the console as a signed-in user.
func (s *service) console(cookie, path string, in, out any) {
	s.t.Helper()
	s.call(request{method: "POST", path: "/developer/apps/" + path, cookie: cookie, body: in}, out)
}

// furnish gives the sync app much of everything, in a business that has connected it.
func (s *service) furnish() {
	s.t.Helper()
	b := s.enter(open(s.t), "usr_ada", "biz_bakery")
	s.partner.responses(http.StatusInternalServerError, "not today")
	token := s.connect(b)
	for _, path := range []string{"/profile", "/nowhere"} {
		s.send(request{method: "GET", path: path, token: token})
	}
	dev := s.session("usr_dev", "biz_ledgerlink_sandbox")
	s.console(dev, "app_sync/webhooks/whk_sync/test", map[string]any{}, nil)
	s.console(dev, "app_sync/app-data-fields", map[string]any{"resourceType": "customer", "key": "tier", "type": "NUMBER", "min": 1, "max": 5}, nil)
	s.console(dev, "app_sync/extensions", map[string]any{"resourceType": "invoice", "path": "/invoice", "label": "Where it went"}, nil)
	s.console(dev, "app_sync/functions", map[string]any{"name": "remind", "source": "export const handler = () => 1"}, nil)
	s.console(dev, "app_sync/listing", map[string]any{"slug": "sync", "name": "Sync", "summary": "Books in step", "description": "It keeps\n\nbooks in step."}, nil)
	for i := range 12 {
		name := fmt.Sprintf("Umsatzsteuervoranmeldungsabgleich & Zahlungserinnerungen %02d", i)
		s.call(request{method: "POST", path: "/developer/apps", cookie: dev, body: map[string]any{
			"name": name, "type": "PUBLIC", "redirectUris": []string{"https://reconciliation-of-advance-returns.partner.example/oauth/callback"}, "scopes": []string{"invoices:read", "customers:read"},
		}}, nil)
	}
	for i, status := range []int{http.StatusUnauthorized, http.StatusInternalServerError, http.StatusNotFound} {
		s.partner.responses(status, "not today")
		for j := range 10 {
			s.write(token, "/customers", map[string]any{"name": fmt.Sprintf("Handelsgesellschaft für Befestigungstechnik %d-%d", i, j)}, nil)
			s.send(request{method: "GET", path: "/invoices/inv_" + strings.Repeat("0", 20) + strconv.Itoa(j), token: token})
		}
		eventually(s.t, "deliveries", func() bool { return len(s.partner.arrived("/webhooks/sync")) >= 2+10*(i+1) })
	}
	s.call(request{method: "PATCH", path: "/developer/apps/app_cli", cookie: dev, body: map[string]any{
		"name": "Ledgerlink Terminal", "redirectUris": []string{s.partner.origin + "/callback", "https://reconciliation-of-advance-returns.partner.example/oauth/callback"}, "scopes": []string{"profile:read", "invoices:read", "payments:write"},
	}}, nil)
	s.call(request{method: "POST", path: "/developer/apps/app_cli/review", cookie: dev, body: map[string]any{}}, nil)
}

// Every linked page, with data and without: no element is wider than a narrow window, the
// browser console stays empty, and axe finds nothing serious.
func TestPages(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	s.furnish()
	s.dev("/apps/papertrail-beta/status", map[string]string{"status": "DEACTIVATED"}, nil) // all can be read, nothing changed
	for _, who := range []struct {
		user, business string
		first          []string
		want           []string // among what is found
	}{
		{"usr_dev", "biz_ledgerlink_sandbox", []string{"/developer"}, []string{
			"/developer", "/developer/apps/new", "/developer/registration", "/settings/apps", "/businesses",
			"/developer/apps/app_sync", "/developer/apps/app_sync/settings", "/developer/apps/app_sync/secrets",
			"/developer/apps/app_sync/webhooks", "/developer/apps/app_sync/webhooks/new", "/developer/apps/app_sync/webhooks/whk",
			"/developer/apps/app_sync/webhooks/whk/deliveries", "/developer/apps/app_sync/webhooks/whk/deliveries/dlv", "/developer/apps/app_sync/fields", "/developer/apps/app_sync/fields/new",
			"/developer/apps/app_sync/listing", "/developer/apps/app_sync/review", "/developer/apps/app_sync/extensions", "/developer/apps/app_sync/extensions/new",
			"/developer/apps/app_sync/functions", "/developer/apps/app_sync/functions/new", "/developer/apps/app_sync/analytics",
			"/developer/apps/app_sync/audit", "/developer/apps/app_cli", "/developer/apps/app_cli/webhooks", "/developer/apps/app_cli/analytics",
		}},
		{"usr_ada", "biz_bakery", []string{"/settings/apps"}, []string{"/settings/apps", "/embedded/ledgerlink-sync", "/developer"}},
		{"usr_cleo", "biz_papertrail_sandbox", []string{"/developer"}, []string{"/developer/apps/app_beta/settings", "/developer/apps/app_beta/listing"}},
		{"usr_olga", "", []string{"/operator", "/operator/people?query=ada", "/operator/users/usr_ada", "/operator/users/usr_gone"}, []string{
			"/operator", "/operator/apps", "/operator/apps/app_sync", "/operator/reviews/app_sync", "/operator/apps/app_beta", "/operator/reviews",
			"/operator/trusted-documents", "/operator/people", "/operator/audit", "/operator/apps/app_sync/deliveries", "/operator/apps/app_sync/requests",
		}},
		{"usr_nia", "", []string{"/businesses", "/developer", "/device", "/nowhere", "/operator", "/developer/nowhere", "/developer/apps/app_sync", "/oauth/authorize", "/openapi"}, nil},
	} {
		t.Run(who.user, func(t *testing.T) {
			t.Parallel()
			b := s.enter(open(t), who.user, who.business)
			kinds := s.crawl(b, who.first, func(kind string) {
				if strings.HasPrefix(kind, "/openapi") && who.user != "usr_nia" {
					return // the reference is the same for all users, and by far the largest
				}
				if strings.Contains(kind, "?") && !slices.Contains(who.first, kind) {
					return // a list that was inspected, with another filter or order
				}
				b.inspect(who.user + strings.NewReplacer("/", "-", "?", "-").Replace(kind))
			})
			for _, kind := range who.want {
				if !slices.Contains(kinds, kind) {
					t.Errorf("no link leads to %s, only to %v", kind, kinds)
				}
			}
		})
	}
}
