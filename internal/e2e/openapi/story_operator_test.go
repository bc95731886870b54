package openapi_test

import (
	"net/http"
	"net/http/cookiejar"
)

// operator is what the platform's own staff does.
func (s *service) operator(n *newcomers) {
	act := s.acting(n.olga, "/operator")
	develop := s.acting(n.dev, "/developer")
	created := develop("POST", "/apps", map[string]any{"name": "Reviewed", "type": "PUBLIC", "organizationId": "org_ledgerlink",
		"redirectUris": []string{"https://reviewed.example/callback"}, "scopes": []string{"invoices:read"}}, 201)
	app := "/apps/" + created.text("id")
	develop("POST", app+"/listing", map[string]any{"slug": "reviewed", "name": "Reviewed", "summary": "It is reviewed", "description": "By the staff"}, 201)
	develop("POST", app+"/listing/submit", nil, 200)

	act("GET", "/figures", nil, 200)
	page := act("GET", "/apps?limit=1", nil, 200)
	act("GET", "/apps?after="+page.text("nextCursor"), nil, 200)
	act("GET", "/apps?query=review&status=ACTIVE", nil, 200)
	act("GET", "/apps?status=LOST", nil, 400)
	act("GET", "/apps/app_sync", nil, 200)
	act("GET", app, nil, 200)
	act("GET", app+"/usage?from=2026-09-01&to=2026-09-02", nil, 200)
	act("GET", app+"/usage?from=yesterday", nil, 400)
	act("GET", "/apps/app_sync/deliveries?limit=1", nil, 200)
	act("GET", "/apps/app_sync/requests?limit=1", nil, 200)
	act("GET", "/users?query=ada", nil, 200)

	act("GET", "/reviews?limit=1", nil, 200)
	act("GET", app+"/listing", nil, 200)
	act("POST", app+"/listing", map[string]any{"state": "in_review"}, 200)
	act("POST", app+"/listing", map[string]any{"state": "in_review"}, 400)
	s.acting(n.otto, "/operator")("POST", app+"/listing", map[string]any{"state": "approved"}, 409) // OPS-02
	act("POST", app+"/listing", map[string]any{"state": "changes_requested", "note": "Add an icon"}, 200)
	act("POST", app+"/listing", map[string]any{"state": "lost"}, 400)

	act("POST", app+"/review", map[string]any{"state": "approved"}, 400)
	develop("POST", app+"/review", nil, 202) // AZ-16
	develop("POST", app+"/review", nil, 409)
	act("GET", "/reviews", nil, 200)
	act("POST", app+"/review", map[string]any{"state": "in_review"}, 200)
	s.acting(n.otto, "/operator")("POST", app+"/review", map[string]any{"state": "approved"}, 409)
	develop("PUT", app+"/listing", map[string]any{"slug": "reviewed", "name": "Reviewed", "summary": "It is reviewed", "description": "By the staff"}, 200)
	develop("POST", app+"/listing/submit", nil, 409) // one submission at a time
	act("POST", app+"/review", map[string]any{"state": "approved", "note": "Welcome"}, 200)
	develop("POST", app+"/review", nil, 400) // nothing waits
	develop("PATCH", app, map[string]any{"name": "Renamed"}, 200)
	act("GET", app, nil, 200)

	act("POST", app+"/status", map[string]any{"status": "SUSPENDED", "reason": "It sends spam"}, 200)
	act("POST", app+"/status", map[string]any{"status": "SUSPENDED"}, 400)
	act("POST", app+"/status", map[string]any{"status": "DEACTIVATED", "reason": "It still does"}, 200)
	act("POST", app+"/status", map[string]any{"status": "ACTIVE", "reason": "It stopped"}, 409)

	act("GET", "/users/usr_ben", nil, 200)
	for _, status := range []string{"RESTRICTED", "SUSPENDED", "ACTIVE"} {
		act("POST", "/users/usr_ben/status", map[string]any{"status": status, "reason": "A trial"}, 200)
	}
	act("POST", "/users/usr_olga/status", map[string]any{"status": "SUSPENDED", "reason": "A trial"}, 400)
	act("POST", "/users/usr_gone/erase", nil, 200)
	act("POST", "/users/usr_gone/erase", map[string]any{"reason": "The user asked for it"}, 200)
	act("POST", "/users/"+erasedUser+"/erase", nil, 404)

	act("POST", "/businesses/biz_gone/erase", map[string]any{"reason": "The business asked for it"}, 200)

	document := act("POST", "/trusted-documents", map[string]any{"host": "agent.example", "reason": "A partner"}, 201).text("id")
	act("POST", "/trusted-documents", map[string]any{"host": "agent.example"}, 409)
	act("GET", "/trusted-documents", nil, 200)
	act("DELETE", "/trusted-documents/"+document, nil, 204)

	act("GET", "/audit?limit=1", nil, 200)
	act("GET", "/audit?actor=usr_olga&action=app.suspended&since=2026-01-01T00:00:00Z", nil, 200)
	s.do(call{method: "GET", url: s.API + "/operator/audit", as: n.olga, header: map[string]string{"Accept": "application/jsonl"}, want: 200})
}

// acting returns a function that makes calls below a path of the API host with the
// browser of a user.
func (s *service) acting(as *http.Client, below string) acting {
	return func(method, path string, body any, want int) reply {
		s.t.Helper()
		return s.do(call{method: method, url: s.API + below + path, as: as, json: body, want: want})
	}
}

// erasedUser stands for every user who was erased.
const erasedUser = "erased"

// refusedOperator calls every operator endpoint as a user who is not an operator, and
// with invalid input.
func (s *service) refusedOperator(n *newcomers) {
	s.nextMinute()
	for _, o := range s.targets("session", "/operator") {
		c := call{method: o.method, url: o.url}
		try := func(want int, change func(*call)) {
			s.t.Helper()
			changed := c
			changed.want = want
			change(&changed)
			s.do(changed)
		}
		try(401, func(*call) {})
		try(403, func(c *call) { c.token, c.as = n.token, n.olga })
		try(400, func(c *call) { c.token, c.header = n.token, map[string]string{"Service-Version": "1999-01-01"} })
		try(404, func(c *call) { c.as = n.dev })
		if !o.writes() {
			try(0, func(c *call) { c.as = n.olga; c.url += "?limit=0" })
			continue
		}
		try(403, func(c *call) { c.as, c.header = n.olga, foreign })
		if !o.takes("application/json") {
			try(404, func(c *call) { c.as = n.olga })
			continue
		}
		try(415, func(c *call) { c.as, c.media, c.body = n.olga, "text/plain", "x" })
		try(413, func(c *call) { c.as, c.media, c.body = n.olga, "application/json", big })
		try(400, func(c *call) { c.as, c.json = n.olga, map[string]any{"unheard": "of"} })
	}
	for path, body := range map[string]map[string]any{
		"/apps/nothing/status":  {"status": "SUSPENDED", "reason": "A trial"},
		"/apps/nothing/listing": {"state": "in_review"},
		"/apps/nothing/review":  {"state": "in_review"},
		"/users/nothing/status": {"status": "SUSPENDED", "reason": "A trial"},
	} {
		s.do(call{method: "POST", url: s.API + "/operator" + path, as: n.olga, json: body, want: 404})
	}
}

// staff is the browser of an operator, who is a member of no business.
func (s *service) staff(name string) *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := s.browser(jar)
	s.do(call{method: "POST", url: s.App + "/login", as: client, form: form("email", name+"@example.com", "password", "demo-"+name), want: 303})
	return client
}
