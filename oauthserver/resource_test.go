package oauthserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

// META-06, META-07: each resource has a document, whose resource is the URL that the client
// called.
func TestResources(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) {
		c.Resources = []oauthserver.Resource{
			{Path: "/mcp", Name: "The books", Scopes: []string{"invoices:read", "invoices:write"}},
			{Path: "/mcp/admin"},
		}
	})
	const metadata = "/.well-known/oauth-protected-resource"
	requestable := identity.DefaultScopes().Requestable().Names()
	for _, test := range []struct {
		name, path string
		resource   string // empty: there is no such document
		scopes     []string
	}{
		{"the API host", "", apiOrigin, requestable},
		{"a resource", "/mcp", apiOrigin + "/mcp", []string{"invoices:read", "invoices:write"}},
		{"a slash at its end", "/mcp/", apiOrigin + "/mcp/", []string{"invoices:read", "invoices:write"}},
		{"a resource below it, with all scopes", "/mcp/admin", apiOrigin + "/mcp/admin", requestable},
		{"nothing is declared", "/other", "", nil},
		{"below a resource", "/mcp/below", "", nil},
		{"only a prefix", "/mc", "", nil},
		{"the root with a slash", "/", "", nil},
	} {
		t.Run("META-07 "+test.name, func(t *testing.T) {
			got := k.send("GET", metadata+test.path, "", func(r *http.Request) { r.Host = "evil.example.com" })
			if test.resource == "" {
				if got.Status != http.StatusNotFound {
					t.Errorf("response %d %s", got.Status, got.Body)
				}
				return
			}
			want := map[string]any{
				"resource": test.resource, "authorization_servers": []any{apiOrigin},
				"scopes_supported": anything(test.scopes), "bearer_methods_supported": []any{"header"},
			}
			if strings.HasPrefix(test.path, "/mcp") && test.path != "/mcp/admin" {
				want["resource_name"] = "The books"
			}
			if diff := cmp.Diff(want, got.body); diff != "" || got.Status != http.StatusOK || got.Header.Get("Cache-Control") != "public, max-age=3600" {
				t.Errorf("response %d %v (-want +got):\n%s", got.Status, got.Header, diff)
			}
			if slices.Contains(test.scopes, "internal:admin") {
				t.Error("META-06: an internal scope is listed")
			}
			if origin := got.Header.Get("Access-Control-Allow-Origin"); origin != "*" {
				t.Errorf("META-05: Access-Control-Allow-Origin %q", origin)
			}
			preflight := k.send("OPTIONS", metadata+test.path, "", withHeader("Origin", "https://spa.example.com"), withHeader("Access-Control-Request-Method", "GET"),
				withHeader("Access-Control-Request-Headers", "mcp-protocol-version"))
			if preflight.Status != http.StatusNoContent || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "MCP-Protocol-Version") {
				t.Errorf("META-05: preflight %d %v", preflight.Status, preflight.Header)
			}
		})
	}
	for path, want := range map[string]string{
		"/": "", "/invoices": "", "/mcpx": "", "/mcp": "/mcp", "/mcp/": "/mcp/", "/mcp/below": "/mcp", "/mcp/below/": "/mcp",
		"/mcp/admin": "/mcp/admin", "/mcp/admin/": "/mcp/admin/", "/mcp/admin/x": "/mcp/admin", "/mcp/administrator": "/mcp",
	} {
		if got := k.OAuth.ResourceMetadataURL(path); got != apiOrigin+metadata+want {
			t.Errorf("META-07: challenges on %s point to %s", path, got)
		}
	}
	for _, want := range []string{"GET " + metadata, "GET " + metadata + "/mcp", "GET " + metadata + "/mcp/{$}"} {
		if !slices.Contains(k.OAuth.APIPatterns(), want) {
			t.Errorf("APIPatterns has no %s", want)
		}
	}
}

func anything(names []string) []any {
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = name
	}
	return all
}

// A resource that cannot be served as declared is rejected when the server is built.
func TestResourcesAreChecked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resources []oauthserver.Resource
		want      string
	}{
		{[]oauthserver.Resource{{}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "mcp"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/mcp/"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/a/../mcp"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/mcp?x"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/m%63p"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/{id}"}}, "is not a path"},
		{[]oauthserver.Resource{{Path: "/oauth/mcp"}}, "belongs to the OAuth server"},
		{[]oauthserver.Resource{{Path: "/.well-known"}}, "belongs to the OAuth server"},
		{[]oauthserver.Resource{{Path: "/mcp"}, {Path: "/mcp"}}, "declared twice"},
		{[]oauthserver.Resource{{Path: "/mcp", Scopes: []string{"internal:admin"}}}, "internal:admin"},
		{[]oauthserver.Resource{{Path: "/mcp", Scopes: []string{"nope"}}}, "nope"},
	} {
		_, err := oauthserver.New(oauthserver.Config{
			Store: testdb.NewEnv(t, testdb.SQLite), Host: partnertest.NewHost(), Keyring: fixture.Keyring(1), Pages: harness.NoPages{},
			APIURL: apiOrigin, AppURL: appOrigin, Resources: test.resources,
		})
		if err == nil || !strings.Contains(err.Error(), "Config.Resources") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.resources, err)
		}
	}
}
