package guard_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/guard"
)

const appOrigin = "https://app.example.com"

// META-05: with SessionOrigins the pages of some origins may send cookies to routes that allow
// sessions. All other responses are those for any origin.
func TestCredentialedCORS(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) {
		c.SessionOrigins, c.Fallback = []string{"https://first.example.com", appOrigin}, nil
	})
	off := newAPI(t)
	signedIn, token := k.session(user, business), bearer(k.token())
	preflight := func(method string) with { return header("Access-Control-Request-Method", method) }
	for _, test := range []struct {
		name, call      string
		changes         []with
		origins         []string
		credentials, on bool // allowed; the route allows sessions
	}{
		{"a session", "GET /profile", []with{signedIn}, []string{appOrigin}, true, true},
		{"a write", "POST /profile", []with{signedIn}, []string{appOrigin}, true, true},
		{"HEAD", "HEAD /profile", []with{signedIn}, []string{appOrigin}, true, true},
		{"a token", "GET /profile", []with{token}, []string{appOrigin}, true, true},
		{"a 401", "GET /profile", nil, []string{appOrigin}, true, true},
		{"a preflight", "OPTIONS /profile", []with{preflight("POST")}, []string{appOrigin}, true, true},
		{"a preflight of HEAD", "OPTIONS /profile", []with{preflight("HEAD")}, []string{appOrigin}, true, true},

		{"no origin", "GET /profile", []with{signedIn}, nil, false, true},
		{"origin null", "GET /profile", []with{signedIn}, []string{"null"}, false, true},
		{"an empty origin", "GET /profile", []with{signedIn}, []string{""}, false, true},
		{"any origin", "GET /profile", []with{signedIn}, []string{"*"}, false, true},
		{"another origin", "GET /profile", []with{signedIn}, []string{"https://evil.example.com"}, false, true},
		{"a longer origin", "GET /profile", []with{signedIn}, []string{appOrigin + ".evil.example"}, false, true},
		{"a shorter origin", "GET /profile", []with{signedIn}, []string{"https://app.example.co"}, false, true},
		{"plain http", "GET /profile", []with{signedIn}, []string{"http://app.example.com"}, false, true},
		{"a port", "GET /profile", []with{signedIn}, []string{appOrigin + ":8443"}, false, true},
		{"a slash", "GET /profile", []with{signedIn}, []string{appOrigin + "/"}, false, true},
		{"upper case", "GET /profile", []with{signedIn}, []string{"https://APP.example.com"}, false, true},
		{"two in one", "GET /profile", []with{signedIn}, []string{appOrigin + " https://evil.example.com"}, false, true},
		{"two origins", "GET /profile", []with{signedIn}, []string{appOrigin, "https://evil.example.com"}, false, true},
		{"a preflight of null", "OPTIONS /profile", []with{preflight("POST")}, []string{"null"}, false, true},
		{"a preflight of another origin", "OPTIONS /profile", []with{preflight("POST")}, []string{"https://evil.example.com"}, false, true},

		{"a route for apps", "GET /invoices", []with{signedIn}, []string{appOrigin}, false, false},
		{"a route for apps only", "GET /events", []with{signedIn}, []string{appOrigin}, false, false},
		{"no route", "GET /nothing", []with{signedIn}, []string{appOrigin}, false, false},
		{"another method", "DELETE /profile", []with{signedIn}, []string{appOrigin}, false, false},
		{"a path that is not clean", "GET /x/../profile", []with{signedIn}, []string{appOrigin}, false, false},
		{"a preflight of a route for apps", "OPTIONS /invoices", []with{preflight("POST")}, []string{appOrigin}, false, false},
		{"a preflight of another method", "OPTIONS /profile", []with{preflight("DELETE")}, []string{appOrigin}, false, false},
		{"a preflight of no method", "OPTIONS /profile", []with{preflight("post")}, []string{appOrigin}, false, false},
		{"OPTIONS", "OPTIONS /profile", []with{signedIn}, []string{appOrigin}, false, false},
	} {
		t.Run("META-05 "+test.name, func(t *testing.T) {
			changes := test.changes
			for _, origin := range test.origins {
				changes = append(changes, header("Origin", origin))
			}
			got, plain := k.send(test.call, changes...), off.send(test.call, changes...)
			allowed, credentials, vary := "*", "", ""
			if test.credentials {
				allowed, credentials = appOrigin, "true"
			}
			if test.on {
				vary = "Origin"
			}
			h := got.Header
			if h.Get("Access-Control-Allow-Origin") != allowed || h.Get("Access-Control-Allow-Credentials") != credentials || h.Get("Vary") != vary {
				t.Errorf("%d %v, want origin %s, credentials %q, Vary %q", got.Status, h, allowed, credentials, vary)
			}
			if len(h.Values("Access-Control-Allow-Origin")) != 1 {
				t.Errorf("%d %v", got.Status, h)
			}
			h = plain.Header
			if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Credentials") != "" || h.Get("Vary") != "" {
				t.Errorf("without SessionOrigins: %v", h)
			}
		})
	}
}
