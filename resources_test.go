package partnerkit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

// META-07, API-10, API-04: a resource at a path has metadata of its own, and challenges there
// point to it.
func TestResources(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Resources = []oauthserver.Resource{{Path: "/mcp", Scopes: []string{"invoices:read"}}}
		c.Routes = []guard.Route{
			{Pattern: "POST /mcp", Scope: guard.AnyScope, ChallengeScopes: []string{"invoices:read"}, ReadOnly: true, Handler: guard.HTTP(http.HandlerFunc(teapot))},
			{Pattern: "GET /mcp/payments", Scope: "payments:read", Handler: guard.HTTP(http.HandlerFunc(teapot))},
			{Pattern: "GET /payments", Scope: "payments:read", Handler: guard.HTTP(http.HandlerFunc(teapot))},
		}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
	metadata := h.APIURL + "/.well-known/oauth-protected-resource"
	for _, test := range []struct {
		name, call string
		token      bool
		status     int
		challenge  string
	}{
		{"META-07 metadata", "GET /.well-known/oauth-protected-resource/mcp", false, 200, ""},
		{"META-07 metadata with a slash", "GET /.well-known/oauth-protected-resource/mcp/", false, 200, ""},
		{"API-04 metadata is for everybody alike", "GET /.well-known/oauth-protected-resource/mcp", true, 200, ""},
		{"API-04 no such metadata", "GET /.well-known/oauth-protected-resource/other", true, 403, ""},
		{"API-04 no such metadata below", "GET /.well-known/oauth-protected-resource/mcp/x", true, 403, ""},
		{"API-04 no such metadata, no credentials", "GET /.well-known/oauth-protected-resource/other", false, 401, `Bearer resource_metadata="` + metadata + `"`},
		{"API-10 a 401 at the resource", "POST /mcp", false, 401, `Bearer scope="invoices:read", resource_metadata="` + metadata + `/mcp"`},
		{"API-10 a 401 below it", "GET /mcp/payments", false, 401, `Bearer scope="payments:read", resource_metadata="` + metadata + `/mcp"`},
		{"API-10 a 403 below it", "GET /mcp/payments", true, 403, `Bearer error="insufficient_scope", scope="payments:read", resource_metadata="` + metadata + `/mcp"`},
		{"API-10 a 403 elsewhere", "GET /payments", true, 403, `Bearer error="insufficient_scope", scope="payments:read", resource_metadata="` + metadata + `"`},
		{"API-04 not declared", "GET /mcp", true, 403, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(test.call, " ")
			r := httptest.NewRequest(method, path, nil)
			if test.token {
				r.Header.Set("Authorization", "Bearer "+app.AccessToken)
			}
			got := partnertest.Serve(t, h.API(), r).Want(test.status)
			if challenge := got.Header.Get("WWW-Authenticate"); challenge != test.challenge {
				t.Errorf("challenge %q, want %q", challenge, test.challenge)
			}
		})
	}
	t.Run("META-05 a browser may call the resource and its metadata", func(t *testing.T) {
		for _, path := range []string{"/mcp", "/.well-known/oauth-protected-resource/mcp"} {
			r := httptest.NewRequest(http.MethodOptions, path, nil)
			r.Header.Set("Origin", "https://inspector.example")
			r.Header.Set("Access-Control-Request-Method", "POST")
			got := partnertest.Serve(t, h.API(), r).Want(http.StatusNoContent)
			allowed := got.Header.Get("Access-Control-Allow-Headers")
			for _, name := range []string{"Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID"} {
				if !strings.Contains(allowed, name) {
					t.Errorf("%s: %s is not in %q", path, name, allowed)
				}
			}
			if got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %v", path, got.Header)
			}
			exposed := partnertest.Serve(t, h.API(), httptest.NewRequest(http.MethodGet, path, nil)).Header.Get("Access-Control-Expose-Headers")
			if !strings.Contains(exposed, "WWW-Authenticate") || !strings.Contains(exposed, "Mcp-Session-Id") {
				t.Errorf("%s: exposed %q", path, exposed)
			}
		}
	})
	if description := string(h.OpenAPI()); !strings.Contains(description, `"/.well-known/oauth-protected-resource/mcp"`) || !strings.Contains(description, "getWellKnownOauthProtectedResourceMcp") {
		t.Error("the metadata is not described")
	}
}
