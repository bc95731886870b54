package openapi_test

import "net/url"

func (s *service) operations() {
	for _, url := range []string{s.API + "/healthz", s.App + "/healthz", s.API + "/readyz", s.App + "/readyz", s.App + "/openapi",
		s.API + "/.well-known/oauth-authorization-server", s.API + "/.well-known/oauth-protected-resource", s.API + "/.well-known/jwks.json"} {
		s.do(call{method: "GET", url: url, want: 200})
	}
	etag := s.do(call{method: "GET", url: s.API + "/openapi.yaml", want: 200}).header.Get("Etag")
	s.do(call{method: "GET", url: s.API + "/openapi.yaml", header: map[string]string{"If-None-Match": etag}, want: 304})
}

func (s *service) pages() {
	visitor := s.person("usr_ada", "biz_bakery")
	page := func(method, path string, values map[string]string, want int) reply {
		s.t.Helper()
		c := call{method: method, url: s.App + path, as: visitor, want: want}
		if values != nil {
			c.form = form()
			for name, value := range values {
				c.form.Set(name, value)
			}
		}
		return s.do(c)
	}
	page("GET", "/", nil, 303)
	page("GET", "/login?return_to=/businesses", nil, 200)
	page("GET", "/businesses", nil, 200)
	page("POST", "/businesses", map[string]string{"business_id": "biz_bakery"}, 303)
	page("GET", "/settings/apps", nil, 200)
	page("GET", "/openapi", nil, 200)
	page("GET", "/openapi/shapes", nil, 200)
	page("GET", "/openapi/unknown", nil, 404)
	page("POST", "/theme", map[string]string{"theme": "dark"}, 303)
	page("GET", "/embedded/"+syncID, nil, 200)
	page("GET", "/embedded/unknown", nil, 404)
	page("POST", "/embedded/"+syncID+"/session-token", nil, 200)
	page("POST", "/embedded/unknown/session-token", nil, 404)
	page("POST", "/embedded/"+cliID+"/session-token", nil, 400)
	for _, path := range []string{"/businesses", "/settings/apps", "/embedded/" + syncID} {
		s.do(call{method: "GET", url: s.App + path, want: 303})
	}
	s.do(call{method: "POST", url: s.App + "/embedded/" + syncID + "/session-token", want: 401})
	page("POST", "/login", map[string]string{"email": "ada@example.com", "password": "wrong"}, 403)
	page("POST", "/login", map[string]string{"email": "ada@example.com", "password": "demo-ada"}, 303)
	page("POST", "/logout", nil, 303)
}

func (s *service) development(n *newcomers) {
	s.do(call{method: "GET", url: s.API + "/dev/clock", want: 200})
	s.do(call{method: "GET", url: s.API + "/dev/notifications", want: 200})
	s.do(call{method: "GET", url: s.API + "/dev/routes", want: 200})
	s.do(call{method: "GET", url: s.API + "/dev/openapi.json", want: 200})
	s.dev("/apps/papertrail-beta/version", map[string]any{"pinnedVersion": "2026-01-15"})
	s.dev("/apps/papertrail-beta/reviewed", map[string]any{"reviewed": true})
	s.dev("/apps/papertrail-beta/status", map[string]any{"status": "DEACTIVATED"})
	s.do(call{method: "POST", url: s.API + "/dev/apps/papertrail-beta/status", json: map[string]any{"status": "ACTIVE"}, want: 409})
	s.dev("/events", map[string]any{"businessId": "biz_bakery", "type": "invoice.sent", "data": map[string]any{"id": "inv_x"}})
	s.do(call{method: "POST", url: s.API + "/dev/keys/rotate", want: 200})
	s.do(call{method: "POST", url: s.API + "/dev/faults", json: map[string]any{"route": "webhook", "status": 503}, want: 201})
	s.do(call{method: "GET", url: s.API + "/dev/faults", want: 200})
	s.do(call{method: "DELETE", url: s.API + "/dev/faults", want: 204})
	s.dev("/memberships", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "role": nil})
	s.takeOver()
	s.dev("/memberships", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "role": "owner"})
	s.disconnect(n)
	s.dev("/installations/scopes", map[string]any{"clientId": syncID, "businessId": "biz_bakery", "scopes": []string{"profile:read"}})
	n.token = s.connect(n.ada, allScopes).text("access_token")
	n.poor = s.connect(n.ada, "profile:read").text("access_token")
}

// takeOver lets a member of the business take the connection over from the person who has left.
func (s *service) takeOver() {
	ben := s.person("usr_ben", "biz_bakery")
	post := func(values url.Values, want int) reply {
		s.t.Helper()
		return s.do(call{method: "POST", url: s.App + "/settings/apps/take-over", as: ben, form: values, want: want})
	}
	post(form("client_id", "unknown"), 404)
	page := post(form("client_id", syncID), 200)
	post(page.fields("decision", "allow"), 303)
	post(page.fields("decision", "allow"), 400)
	post(form("client_id", syncID), 409)
	taker := map[string]any{"clientId": syncID, "businessId": "biz_bakery", "userId": "usr_ben"}
	s.do(call{method: "POST", url: s.API + "/dev/installations/take-over", json: taker, want: 409})
	for _, role := range []any{"owner", nil} { // Ada comes back, connects the app, and leaves again
		s.dev("/memberships", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "role": role})
		if role != nil {
			s.connect(s.person("usr_ada", "biz_bakery"), "profile:read")
		}
	}
	s.dev("/installations/take-over", taker)
}

// disconnect ends the access of the app in every way, and connects it again.
func (s *service) disconnect(n *newcomers) {
	s.acting(n.olga, "/operator")("POST", "/apps/app_sync/installations/biz_bakery/uninstall", map[string]any{"reason": "A trial"}, 200)
	s.connect(n.ada, "profile:read")
	connection := map[string]any{"clientId": syncID, "businessId": "biz_bakery"}
	s.dev("/installations/uninstall", connection)
	s.connect(n.ada, "profile:read")
	s.dev("/installations/revoke-access", connection)
	s.connect(n.ada, "profile:read")
	connection["userId"] = "usr_ada"
	s.dev("/consents/revoke", connection)
	s.connect(n.ada, "profile:read")
	for _, path := range []string{"/settings/apps/revoke-access", "/settings/apps/uninstall"} {
		s.do(call{method: "POST", url: s.App + path, as: n.ada, form: form("client_id", syncID), want: 303})
		s.do(call{method: "POST", url: s.App + path, as: n.ada, form: form("client_id", "unknown"), want: 404})
		s.connect(n.ada, "profile:read")
	}
}
