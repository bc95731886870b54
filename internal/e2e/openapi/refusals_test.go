package openapi_test

import (
	"strings"
	"sync"
)

func (s *service) refusedCalls(n *newcomers) {
	other := s.connect(n.ada, "invoices:read").text("access_token")
	s.do(call{method: "POST", url: s.API + "/customers", token: n.token, header: key("used"), json: map[string]any{"name": "Somebody"}, want: 201})
	for i, o := range s.targets("accessToken", "/") {
		if i%20 == 0 {
			s.nextMinute()
		}
		c := call{method: o.method, url: o.url}
		try := func(want int, change func(*call)) {
			s.t.Helper()
			changed := c
			changed.want = want
			change(&changed)
			s.do(changed)
		}
		try(401, func(*call) {})
		try(401, func(c *call) { c.token = "pk_at_unknown" })
		try(0, func(c *call) { c.as = n.ada })
		try(400, func(c *call) { c.token, c.header = n.token, map[string]string{"Service-Version": "1999-01-01"} })
		poor := n.poor
		if o.OperationID == "getProfile" {
			poor = other
		}
		try(0, func(c *call) { c.token = poor })
		if strings.HasSuffix(o.path, "{id}") && !o.takes("application/json") {
			try(404, func(c *call) { c.token = n.token })
		}
		if o.writes() {
			try(422, func(c *call) { c.token, c.header, c.json = n.token, key("used"), map[string]any{} })
			try(413, func(c *call) { c.token, c.header, c.media, c.body = n.token, key("big"), "application/json", big })
		}
		if o.takes("application/json") {
			try(415, func(c *call) { c.token, c.media, c.body = n.token, "text/plain", "x" })
			try(400, func(c *call) { c.token, c.media, c.body = n.token, "application/json", "{" })
			try(0, func(c *call) { c.token, c.json = n.token, o.example() })
		}
	}
	s.nextMinute()
	// App data asks for the scopes of records by itself.
	invoice := s.do(call{method: "GET", url: s.API + "/invoices", token: n.token, want: 200}).text("data.0.id")
	at := s.API + "/app-data?resourceType=invoice&resourceId=" + invoice
	values := map[string]any{"values": []any{map[string]any{"resourceType": "invoice", "resourceId": invoice, "key": "syncStatus", "value": "synced"}}}
	id := s.do(call{method: "PUT", url: s.API + "/app-data", token: n.token, json: values, want: 200}).text("values.0.id")
	s.do(call{method: "GET", url: at, token: n.poor, want: 403})
	s.do(call{method: "PUT", url: s.API + "/app-data", token: n.poor, json: values, want: 403})
	s.do(call{method: "DELETE", url: s.API + "/app-data/" + id, token: n.poor, want: 403})
	values["values"].([]any)[0].(map[string]any)["resourceId"] = "inv_nothing"
	s.do(call{method: "PUT", url: s.API + "/app-data", token: n.token, json: values, want: 404})
	s.do(call{method: "GET", url: at + "&resourceType=invoice", token: n.token, want: 400})
	// Repeated requests are rejected with a request to retry while the first one runs.
	many := make([]any, 200)
	for i := range many {
		many[i] = map[string]any{"number": "x", "currency": "EUR", "total": i}
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			s.do(call{method: "POST", url: s.API + "/invoices/bulk-import", token: n.token, header: key("together"), json: map[string]any{"invoices": many}})
		})
	}
	together.Wait()
}

func (s *service) refusedDevelopment() {
	for _, o := range s.targets("", "/dev/") {
		s.do(call{method: o.method, url: o.url, header: map[string]string{"X-Forwarded-For": "192.0.2.1"}, want: 403})
		s.do(call{method: o.method, url: o.url, media: "text/plain", body: "x", want: 415})
		if !o.takes("application/json") {
			continue
		}
		s.do(call{method: o.method, url: o.url, media: "application/json", body: "{", want: 400})
		s.do(call{method: o.method, url: o.url, media: "application/json", body: big, want: 413})
		if o.OperationID != "devMoveClock" && o.OperationID != "devAddFault" { // these are about no record
			s.do(call{method: o.method, url: strings.Replace(o.url, syncID, "nothing", 1), json: o.example(), want: 404})
		}
	}
}

func (s *service) refusedOAuth() {
	s.nextMinute()
	for _, path := range []string{"token", "revoke", "introspect", "device/authorize", "register"} {
		at := s.API + "/oauth/" + path
		s.do(call{method: "POST", url: at, media: "text/plain", body: "x", want: 400})
		s.do(call{method: "POST", url: at, media: "application/json", body: big, want: 400})
		if path != "register" {
			s.do(call{method: "POST", url: at, basic: [2]string{syncID, "wrong"}, form: form("token", "x"), want: 401})
			s.do(call{method: "POST", url: at, form: form("token", "x", "client_id", "unknown", "grant_type", "refresh_token")})
		}
	}
}
