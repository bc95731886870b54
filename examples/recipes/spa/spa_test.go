package spa_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/spa"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

// A page of ours writes with the cookie; a page of somebody else's does not, and cannot read.
func TestAllow(t *testing.T) {
	const spa = "https://spa.example.com"
	h := partnertest.New(t, func(c *partnerkit.Config) {
		recipe.Allow(c, spa)
		c.Routes = []guard.Route{{Pattern: "POST /invoices", Scope: "invoices:write", SessionsAllowed: true, Handler: func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusCreated)
			return nil
		}}}
	})
	for origin, want := range map[string]struct {
		status int
		allow  string
	}{spa: {http.StatusCreated, spa}, h.AppURL: {http.StatusCreated, h.AppURL}, "https://evil.example": {http.StatusForbidden, "*"}} {
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			r := httptest.NewRequest(method, h.APIURL+"/invoices", strings.NewReader("{}"))
			r.Header.Set("Origin", origin)
			r.Header.Set("Content-Type", "application/json")
			if method == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", http.MethodPost)
			} else {
				r.AddCookie(h.Host.NewSession(partnertest.User, partnertest.Business))
			}
			got := partnertest.Serve(t, h.API(), r)
			if allow := got.Header.Get("Access-Control-Allow-Origin"); allow != want.allow {
				t.Errorf("%s %s: allowed is %q, want %q", origin, method, allow, want.allow)
			}
			if method == http.MethodPost && got.Status != want.status {
				t.Errorf("%s: %s, want %d", origin, got, want.status)
			}
		}
	}
	if got := recipe.Cookie("t", "example.com", time.Hour).String(); got != "__Secure-session=t; Path=/; Domain=example.com; Max-Age=3600; HttpOnly; Secure; SameSite=Lax" {
		t.Error(got)
	}
}
