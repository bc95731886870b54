package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// No web page and no proxy reaches /dev.
func TestDevGuards(t *testing.T) {
	t.Parallel()
	r := start(t)
	u, err := url.Parse(r.api)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name          string
		host          string
		header, value string
		kind          string // content type
		want          int
	}{
		{"a program", "", "", "", "application/json", http.StatusOK},
		{"with charset", "", "", "", "application/json; charset=utf-8", http.StatusOK},
		{"by address", "127.0.0.1:" + u.Port(), "", "", "application/json", http.StatusOK},
		{"by IPv6", "[::1]:" + u.Port(), "", "", "application/json", http.StatusOK},
		{"without port", "localhost", "", "", "application/json", http.StatusOK},
		{"our page", "", "Origin", r.app, "application/json", http.StatusOK},
		{"another name", "evil.example:" + u.Port(), "", "", "application/json", http.StatusForbidden},
		{"a name that begins so", "localhost.evil.example", "", "", "application/json", http.StatusForbidden},
		{"another address", "192.0.2.1:80", "", "", "application/json", http.StatusForbidden},
		{"another origin", "", "Origin", "https://evil.example", "application/json", http.StatusForbidden},
		{"another port", "", "Origin", "http://localhost:1", "application/json", http.StatusForbidden},
		{"no origin", "", "Origin", "null", "application/json", http.StatusForbidden},
		{"another site", "", "Sec-Fetch-Site", "cross-site", "application/json", http.StatusForbidden},
		{"Forwarded", "", "Forwarded", "for=127.0.0.1", "application/json", http.StatusForbidden},
		{"X-Forwarded-For", "", "X-Forwarded-For", "127.0.0.1", "application/json", http.StatusForbidden},
		{"X-Forwarded-Proto", "", "X-Forwarded-Proto", "https", "application/json", http.StatusForbidden},
		{"x-forwarded-anything", "", "x-forwarded-anything", "", "application/json", http.StatusForbidden},
		{"a form", "", "", "", "application/x-www-form-urlencoded", http.StatusUnsupportedMediaType},
		{"plain text", "", "", "", "text/plain", http.StatusUnsupportedMediaType},
		{"no type", "", "", "", "", http.StatusUnsupportedMediaType},
	} {
		req := request(t, http.MethodPost, r.api+"/dev/clock", test.kind, `{"advanceSeconds": 0}`)
		if test.host != "" {
			req.Host = test.host
		}
		if test.header != "" {
			req.Header.Set(test.header, test.value)
		}
		a := do(t, http.DefaultClient, req)
		if a.StatusCode != test.want {
			t.Errorf("%s: %d %s, want %d", test.name, a.StatusCode, a.body, test.want)
		}
		if test.want != http.StatusOK && a.json(t)["statusCode"] != float64(test.want) {
			t.Errorf("%s: not the standard shape: %s", test.name, a.body)
		}
	}
}

func TestDevCalls(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, test := range []struct {
		path, body string
		want       int
		says       string
	}{
		{"clock", `{"advanceSeconds": 60}`, 200, `"now"`},
		{"clock", `{"advanceSeconds": -1}`, 400, "forward"},
		{"clock", `{"advanceSeconds": 1.5}`, 400, "advanceSeconds"},
		{"clock", `{"advanceSeconds": 9223372036}`, 400, "100 years"},
		{"clock", `{"seconds": 1}`, 400, "seconds is not a known member"},
		{"clock", `{}`, 400, "advanceSeconds is missing"},
		{"nothing", `{}`, 404, "no such endpoint"},

		{"sessions", `{"userId": "usr_ada", "businessId": "biz_bakery"}`, 200, `"cookie":"books_session=pk_ses_`},
		{"sessions", `{"userId": "usr_ada"}`, 200, `"cookie"`},
		{"sessions", `{"userId": "usr_none", "businessId": "biz_bakery"}`, 404, "usr_none"},
		{"sessions", `{"userId": "usr_ada", "businessId": "biz_none"}`, 404, "biz_none"},
		{"sessions", `{"userId": "usr_ada", "businessId": "biz_cycles"}`, 400, "not a member"},

		{"apps/ledgerlink-cli/status", `{"status": "SUSPENDED"}`, 200, ""},
		{"apps/ledgerlink-cli/status", `{"status": "ACTIVE"}`, 200, ""},
		{"apps/ledgerlink-cli/status", `{"status": "DEACTIVATED"}`, 200, ""},
		{"apps/ledgerlink-cli/status", `{"status": "ACTIVE"}`, 409, "final"}, // APP-01
		{"apps/ledgerlink-cli/status", `{"status": "GONE"}`, 400, "status must be"},
		{"apps/nobody/status", `{"status": "ACTIVE"}`, 404, "nobody"},
		{"apps/https%3A%2F%2Fapp.example%2Fclient.json/status", `{"status": "ACTIVE"}`, 404, "https://app.example/client.json"},
		{"apps/papertrail-beta/reviewed", `{"reviewed": true}`, 200, ""},
		{"apps/papertrail-beta/reviewed", `{}`, 400, "reviewed is missing"},
		{"apps/papertrail-beta/scopes", `{"scopes": ["journal:read"]}`, 200, ""},
		{"apps/papertrail-beta/scopes", `{"scopes": "journal:read accounts:read"}`, 200, ""},
		{"apps/papertrail-beta/scopes", `{"scopes": ["internal:admin"]}`, 400, "internal:admin"},
		{"apps/papertrail-beta/scopes", `{"scopes": [""]}`, 400, "scopes"},
		{"apps/papertrail-beta/version", `{"pinnedVersion": "2026-01-15"}`, 200, ""},
		{"apps/papertrail-beta/version", `{"pinnedVersion": null}`, 200, ""},

		{"users/usr_ada/status", `{"status": "RESTRICTED"}`, 200, ""},
		{"users/usr_ada/status", `{"status": "ACTIVE"}`, 200, ""},
		{"users/usr_ada/status", `{"status": "ABSENT"}`, 400, "status must be"},
		{"users/usr_none/status", `{"status": "ACTIVE"}`, 404, "usr_none"},

		{"installations/uninstall", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`, 404, "ledgerlink-sync in business biz_bakery"},
		{"installations/revoke-access", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`, 404, "biz_bakery"},
		{"installations/uninstall", `{"clientId": "nobody", "businessId": "biz_bakery"}`, 404, "client nobody"},
		{"installations/scopes", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "scopes": []}`, 404, "biz_bakery"},
		{"consents/revoke", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "userId": "usr_ada"}`, 404, "usr_ada"},
		{"session-tokens", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "userId": "usr_ada"}`, 400, "not installed"},
		{"session-tokens", `{"clientId": "ledgerlink-cli", "businessId": "biz_bakery", "userId": "usr_ada"}`, 400, "PUBLIC"},
		{"session-tokens", `{"clientId": "nobody", "businessId": "biz_bakery", "userId": "usr_ada"}`, 404, "nobody"},

		{"events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "inv_1"}}`, 200, `"id":"evt_`},
		{"events", `{"businessId": "biz_bakery", "type": "app.installed", "data": {}, "clientId": "ledgerlink-sync"}`, 200, `"id":"evt_`},
		{"events", `{"businessId": "biz_none", "type": "invoice.created", "data": {}}`, 404, "biz_none"},
		{"events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": [1]}`, 400, "data"},
		{"events", `{"businessId": "biz_bakery", "type": "invoice", "data": {}}`, 400, "type"},
		{"events", `{"businessId": "biz_bakery", "type": "app.installed", "data": {}}`, 400, "clientId"},

		{"keys/rotate", ``, 200, "{}"},
		{"keys/rotate", `{}`, 200, "{}"},
		{"keys/rotate", `{"now": true}`, 400, "now is not a known member"},
		{"sessions", `{}`, 400, "userId is missing"},
		{"session-tokens", `{"clientId": "ledgerlink-sync", "userId": "usr_ada"}`, 400, "businessId is missing"},
		{"installations/uninstall", `{}`, 400, "clientId is missing"},
		{"permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": ["apps.install"]}`, 200, ""},
		{"permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": []}`, 200, ""},
		{"permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": ["fly"]}`, 400, "fly"},
		{"permissions", `{"businessId": "biz_cycles", "userId": "usr_ada", "permissions": []}`, 400, "not a member"},
		{"permissions", `{"businessId": "biz_none", "userId": "usr_ada", "permissions": []}`, 404, "biz_none"},
	} {
		a := r.dev(test.path, test.body)
		if a.StatusCode != test.want || !strings.Contains(a.body, test.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", test.path, test.body, a.StatusCode, a.body, test.want, test.says)
		}
	}
	if a := get(t, http.DefaultClient, r.api+"/dev/sessions").want(t, http.StatusMethodNotAllowed); a.Header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", a.Header.Get("Allow"))
	}
}

// LIM-05 is not for /dev: moving time must not use up what is being tested.
func TestDevIsNotLimited(t *testing.T) {
	t.Parallel()
	r := start(t)
	for range 610 {
		get(t, http.DefaultClient, r.api+"/dev/clock").want(t, http.StatusOK)
	}
	get(t, http.DefaultClient, r.api+"/nothing").want(t, http.StatusUnauthorized)
}

// SBX-01: the page of a webhook records an event in a connected business, in development mode
// alone.
func TestRecordEventOnPage_SBX01(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "events:read invoices:read")
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	page := r.app + "/developer/apps/app_sync/webhooks/whk_sync"
	if a := get(t, developer, page).want(t, http.StatusOK); !strings.Contains(a.body, "Record an event") {
		t.Errorf("the page does not offer it: %s", a.body)
	}
	event := url.Values{"event": {"invoice.created"}, "business": {"biz_bakery"}}
	post(t, developer, page+"/record", event).want(t, http.StatusSeeOther)
	r.dev("clock", `{"advanceSeconds": 0}`).want(t, http.StatusOK) // once its deliveries are attempted
	found := get(t, developer, r.api+"/developer/apps/app_sync/webhooks/whk_sync/deliveries?event=invoice.created&businessId=biz_bakery").want(t, http.StatusOK)
	if rows := found.json(t)["data"].([]any); len(rows) != 1 {
		t.Errorf("the deliveries are %s", found.body)
	}

	production := start(t, "-dev=false", "-key", developmentKey, "-fixtures",
		file(t, "fixtures.json", strings.ReplaceAll(demo, "http://localhost:9090/webhooks", "https://partner.example/webhooks")))
	developer = production.signIn("dev@example.com", "demo-dev")
	page = production.app + "/developer/apps/app_sync/webhooks/whk_sync"
	if a := get(t, developer, page).want(t, http.StatusOK); strings.Contains(a.body, "Record an event") {
		t.Error("outside development mode the page offers to record events")
	}
	post(t, developer, page+"/record", event).want(t, http.StatusNotFound)
}

// CON-12, REG-05: an organization has at most 100 apps in development mode too, and anonymous
// registrations leave room for those of its developers.
func TestAppsOfTheFirstOrganization_CON12_REG05(t *testing.T) {
	t.Parallel()
	r := start(t)
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	list := func() int {
		return len(r.console(developer, http.MethodGet, "apps?limit=100", "").want(t, http.StatusOK).json(t)["data"].([]any))
	}
	demo := list()
	for i := range 50 {
		if i%25 == 0 {
			r.move(60) // the limit of registrations
		}
		r.register(t, `{"client_name": "Registered", "redirect_uris": ["http://localhost:9000/cb"]}`)
	}
	if got := list(); got != 50 {
		t.Errorf("%d apps after %d registrations beside %d, want %d", got, 50, demo, 50)
	}
	const app = `{"name": "Made", "type": "PUBLIC", "organizationId": "org_ledgerlink", "redirectUris": ["http://localhost:9000/cb"], "scopes": ["invoices:read"]}`
	for range 100 - 50 {
		r.console(developer, http.MethodPost, "apps", app).want(t, http.StatusCreated)
	}
	if a := r.console(developer, http.MethodPost, "apps", app).want(t, http.StatusBadRequest); !strings.Contains(a.body, "at most 100 apps") {
		t.Errorf("%s", a.body)
	}
}
