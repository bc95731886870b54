package guard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// API-10, META-06, META-07: the content of challenges when a handler checks scopes itself,
// and on the paths of a resource.
func TestChallenges(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) {
		c.ResourceMetadata = func(path string) string { return "https://api.example.com/metadata" + path }
	})
	k.Must(k.surface.Handle(
		guard.Route{Pattern: "POST /mcp", Scope: guard.AnyScope, ChallengeScopes: []string{"invoices:read", "customers:read"}, ReadOnly: true,
			Handler: func(_ http.ResponseWriter, r *http.Request) error {
				p, _ := identity.PrincipalFrom(r.Context())
				return codes.InsufficientScope.New("payments:read").WithScope(p.Scopes.String() + " payments:read")
			}},
		guard.Route{Pattern: "GET /mcp", Scope: guard.AnyScope, Handler: k.echo},
	))
	token := k.grant(business, identity.MustScopes("invoices:read")).Access
	for _, test := range []struct {
		name, call string
		changes    []with
		status     int
		want       string
	}{
		{"the first scopes of a route with any scope", "POST /mcp", nil, 401, `Bearer scope="invoices:read customers:read", resource_metadata="https://api.example.com/metadata/mcp"`},
		{"the same for a token that has ended", "POST /mcp", []with{bearer("x")}, 401, `Bearer error="invalid_token", error_description="the access token is not valid", scope="invoices:read customers:read", resource_metadata="https://api.example.com/metadata/mcp"`},
		{"no scope is suggested", "GET /mcp", nil, 401, `Bearer resource_metadata="https://api.example.com/metadata/mcp"`},
		{"a scope that the handler misses", "POST /mcp", []with{bearer(token)}, 403, `Bearer error="insufficient_scope", scope="invoices:read payments:read", resource_metadata="https://api.example.com/metadata/mcp"`},
		{"a path that is not declared", "GET /mcp/below", nil, 401, `Bearer resource_metadata="https://api.example.com/metadata/mcp/below"`},
		{"a path that is not declared, with a token", "GET /mcp/below", []with{bearer(token)}, 403, ""},
		{"a route for people too", "GET /profile", nil, 401, `Bearer scope="profile:read", resource_metadata="https://api.example.com/metadata/profile"`},
	} {
		t.Run("API-10 "+test.name, func(t *testing.T) {
			a := k.send(test.call, test.changes...)
			if got := a.Header.Get("WWW-Authenticate"); a.Status != test.status || got != test.want {
				t.Errorf("%d with the challenge %q, want %d %q", a.Status, got, test.status, test.want)
			}
		})
	}
	for name, route := range map[string]guard.Route{
		"AnyScope":               {Pattern: "GET /other", Scope: "invoices:read", ChallengeScopes: []string{"invoices:read"}, Handler: k.echo},
		"unknown scope \"nope\"": {Pattern: "GET /other", Scope: guard.AnyScope, ChallengeScopes: []string{"nope"}, Handler: k.echo},
	} {
		if err := k.surface.Handle(route); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
