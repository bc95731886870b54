package partnerkit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partnertest"
)

// send sends a request, with the headers given in pairs.
func send(h http.Handler, call string, headers ...string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(call, " ")
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// clientsOf are the tokens of the host's clients: "own-" and the id of the user.
func clientsOf(_ *http.Request, token string) (identity.Session, bool, error) {
	userID, ok := strings.CutPrefix(token, "own-")
	return identity.Session{UserID: userID, BusinessID: "biz_1"}, ok, nil
}

// BIZ-05, API-01: the host's own clients call the API host with the host's own tokens.
func TestForeignTokens(t *testing.T) {
	t.Parallel()
	var worked atomic.Int64
	cfg := config(t)
	cfg.ForeignTokens, cfg.Developers, cfg.APIRoutes = clientsOf, partnertest.NewHost(), http.HandlerFunc(teapot)
	cfg.Routes = []guard.Route{{
		Pattern: "POST /invoices", Scope: "invoices:write", SessionsAllowed: true,
		Handler: func(w http.ResponseWriter, r *http.Request) error {
			principal, _ := identity.PrincipalFrom(r.Context())
			return apierror.WriteJSON(w, http.StatusCreated, map[string]any{"user": principal.UserID, "n": worked.Add(1)})
		},
	}}
	api := platform(t, cfg).API()
	write := func(userID, key string) *httptest.ResponseRecorder {
		return send(api, "POST /invoices", "Authorization", "Bearer own-"+userID, "Idempotency-Key", key)
	}
	t.Run("IDEM-01 a key belongs to user and business", func(t *testing.T) {
		first, again, other := write("usr_1", "once"), write("usr_1", "once"), write("usr_2", "once")
		if first.Code != http.StatusCreated || first.Body.String() != again.Body.String() || again.Header().Get(idempotency.ReplayedHeader) != "true" {
			t.Errorf("%d %s, repeated %d %s", first.Code, first.Body, again.Code, again.Body)
		}
		if other.Code != http.StatusCreated || !strings.Contains(other.Body.String(), "usr_2") || worked.Load() != 2 {
			t.Errorf("another user: %d %s, worked %d times", other.Code, other.Body, worked.Load())
		}
	})
	for _, test := range []struct {
		name, call, token string
		want              int
	}{
		{"BIZ-05 the host's own routes", "GET /home", "own-usr_1", http.StatusTeapot},
		{"API-01 an unknown token", "GET /home", "other", http.StatusUnauthorized},
		{"API-01 a token of our form", "GET /home", "pk_at_own-usr_1", http.StatusUnauthorized},
		{"API-04 the console takes cookies only", "GET /developer/apps", "own-usr_1", http.StatusTeapot},
		{"API-04 OAuth endpoints are for everybody", "GET /oauth/token", "own-usr_1", http.StatusMethodNotAllowed},
	} {
		t.Run(test.name, func(t *testing.T) {
			if w := send(api, test.call, "Authorization", "Bearer "+test.token); w.Code != test.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, test.want)
			}
		})
	}
}

// META-05: SessionOrigins are about exactly these origins, on routes that allow sessions alone.
func TestSessionOrigins(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.AppURL = "https://App.example.com:443" // browsers spell it in another way
	cfg.Host, cfg.Developers = somebody{partnertest.NewHost()}, partnertest.NewHost()
	cfg.Routes = []guard.Route{{Pattern: "POST /mine", Scope: "invoices:read", SessionsAllowed: true, Handler: guard.HTTP(http.HandlerFunc(teapot))}}
	off := platform(t, cfg)
	cfg.SessionOrigins = []string{cfg.AppURL, "https://SPA.example.com/"}
	on := platform(t, cfg)
	cfg.APIRoutes = http.HandlerFunc(teapot)
	withRoutes := platform(t, cfg)
	const app, spa, other = "https://app.example.com", "https://spa.example.com", "https://other.example.com"
	for _, test := range []struct {
		name        string
		p           *partnerkit.Platform
		call        string
		origin      string
		allowed     string
		credentials string
	}{
		{"a route", on, "POST /mine", app, app, "true"},
		{"its preflight", on, "OPTIONS /mine", app, app, "true"},
		{"the other origin", on, "POST /mine", spa, spa, "true"},
		{"its preflight too", on, "OPTIONS /mine", spa, spa, "true"},
		{"a route of the host", withRoutes, "POST /home", spa, spa, "true"},
		{"a preflight of the host's", withRoutes, "OPTIONS /home", spa, spa, "true"},
		{"a route of the host, another origin", withRoutes, "OPTIONS /home", other, "*", ""},
		{"no route of the host", on, "POST /home", spa, "*", ""},
		{"events beside routes of the host", withRoutes, "OPTIONS /events", spa, spa, "true"},
		{"another origin", on, "OPTIONS /mine", other, "*", ""},
		{"the API's own origin", on, "POST /mine", "https://api.example.com", "*", ""},
		{"origin null", on, "OPTIONS /mine", "null", "*", ""},
		{"off", off, "POST /mine", app, "*", ""},
		{"off, a preflight", off, "OPTIONS /mine", app, "*", ""},
		{"the token endpoint", on, "POST /oauth/token", app, "*", ""},
		{"the preflight of the token endpoint", on, "OPTIONS /oauth/token", app, "*", ""},
		{"metadata", on, "GET /.well-known/oauth-authorization-server", app, "*", ""},
		{"events", on, "GET /events", app, "*", ""},
		{"the console's JSON", on, "POST /developer/apps", app, "", ""},
	} {
		t.Run("META-05 "+test.name, func(t *testing.T) {
			w := send(test.p.API(), test.call, "Origin", test.origin, "Access-Control-Request-Method", "POST")
			h := w.Header()
			if h.Get("Access-Control-Allow-Origin") != test.allowed || h.Get("Access-Control-Allow-Credentials") != test.credentials {
				t.Errorf("%d %v, want origin %q, credentials %q", w.Code, h, test.allowed, test.credentials)
			}
			isOwn := test.call == "POST /mine" || test.call == "POST /home" && test.p != on
			if isOwn && test.credentials != "" && w.Code != http.StatusTeapot { // CON-07: our own page may write
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	page := send(on.App(), "POST /device", "Origin", app)
	if h := page.Header(); h.Get("Access-Control-Allow-Origin") != "" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("META-05 a page: %v", h)
	}
}
