package oauthserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// META-01, META-02: the whole document, to the letter; nothing that a request
// says changes it.
func TestServerMetadata(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	want := map[string]any{
		"issuer":                        apiOrigin,
		"authorization_endpoint":        appOrigin + "/oauth/authorize",
		"token_endpoint":                apiOrigin + "/oauth/token",
		"device_authorization_endpoint": apiOrigin + "/oauth/device/authorize",
		"registration_endpoint":         apiOrigin + "/oauth/register",
		"revocation_endpoint":           apiOrigin + "/oauth/revoke",
		"introspection_endpoint":        apiOrigin + "/oauth/introspect",
		"jwks_uri":                      apiOrigin + "/.well-known/jwks.json",
		"api_base_url":                  apiOrigin,
		"scopes_supported": []any{
			"profile:read", "events:read", "invoices:read", "invoices:write", "customers:read", "customers:write", "payments:read",
			"payments:write", "accounts:read", "accounts:write", "journal:read", "journal:write", "suppliers:read", "suppliers:write", "internal:admin",
		},
		"response_types_supported": []any{"code"},
		"grant_types_supported": []any{
			"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:token-exchange",
		},
		"code_challenge_methods_supported":      []any{"S256"},
		"token_endpoint_auth_methods_supported": []any{"client_secret_basic", "client_secret_post", "none"},
		"client_id_metadata_document_supported": true,
	}
	for name, change := range map[string]apiRequest{
		"plain": nil,
		"spoofed": func(r *http.Request) {
			r.Host = "evil.example.com"
			r.Header.Set("X-Forwarded-Host", "evil.example.com")
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("Forwarded", "host=evil.example.com")
		},
	} {
		got := k.send("GET", "/.well-known/oauth-authorization-server", "", change)
		if diff := cmp.Diff(want, got.body); diff != "" || got.Status != http.StatusOK {
			t.Errorf("%s: %d (-want +got):\n%s", name, got.Status, diff)
		}
		if got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Cache-Control") != "public, max-age=3600" {
			t.Errorf("%s: headers %v", name, got.Header)
		}
	}
}

// META-06: the resource, its server and the scopes that can be asked for.
func TestResourceMetadata(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	got := k.send("GET", "/.well-known/oauth-protected-resource", "")
	scopes, _ := got.body["scopes_supported"].([]any)
	if got.Status != http.StatusOK || got.keys() != "authorization_servers bearer_methods_supported resource scopes_supported" || len(scopes) != 14 {
		t.Errorf("answer %d %s", got.Status, got.Body)
	}
	if got.body["resource"] != apiOrigin || !cmp.Equal(got.body["authorization_servers"], []any{apiOrigin}) {
		t.Errorf("answer %s", got.Body)
	}
}

// META-03: the key set is served and may be kept for an hour at most.
func TestKeySetIsServed(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	got := k.send("GET", "/.well-known/jwks.json", "")
	age, err := time.ParseDuration(strings.TrimPrefix(got.Header.Get("Cache-Control"), "public, max-age=") + "s")
	if got.Status != http.StatusOK || got.keys() != "keys" || err != nil || age <= 0 || age > time.Hour {
		t.Errorf("answer %d %s %v", got.Status, got.Body, got.Header)
	}
}

func documentPaths() []string {
	return []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource", "/.well-known/jwks.json"}
}

func endpointPaths() []string {
	return []string{"/oauth/token", "/oauth/revoke", "/oauth/introspect", "/oauth/device/authorize", "/oauth/register"}
}

// OERR-02, ERR-02: wrong methods are 405 with Allow, in the shape of the path;
// HEAD goes with GET.
func TestMethods(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post"} {
		for _, path := range endpointPaths() {
			got := k.send(method, path, "")
			if got.Header.Get("Allow") != "POST" {
				t.Errorf("%s %s: Allow %q", method, path, got.Header.Get("Allow"))
			}
			got.refused(http.StatusMethodNotAllowed, "invalid_request", "*")
		}
	}
	for _, path := range documentPaths() {
		if got := k.send("HEAD", path, ""); got.Status != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, got.Status)
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			got := k.send(method, path, "")
			if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "GET, HEAD" || got.keys() != "error message params statusCode" {
				t.Errorf("%s %s: %d %s, Allow %q", method, path, got.Status, got.Body, got.Header.Get("Allow"))
			}
		}
	}
}

// ERR-02: a path that only resembles one is unknown; nothing redirects.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for _, path := range []string{
		"/oauth/token/", "/oauth/", "/oauth/Token", "//oauth/token", "/oauth//token", "/oauth/./token", "/oauth/x/../token",
		"/.well-known/", "/.well-known/oauth-authorization-server/", "/.well-known/openid-configuration", "/oauth/authorize", "/",
	} {
		for _, method := range []string{"GET", "POST"} {
			got := k.send(method, path, "", func(r *http.Request) { r.URL.Path = path })
			if got.Status != http.StatusNotFound || got.keys() != "error message statusCode" || got.Header.Get("Location") != "" {
				t.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
			}
		}
	}
}

// META-05: preflights, what is allowed by name, what is exposed, and never
// credentials; on errors too.
func TestCORS(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.Service = "Ledger" })
	const exposed = "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, Idempotency-Replayed, X-Request-Id, Mcp-Session-Id, Ledger-Version"
	for _, path := range append(documentPaths(), endpointPaths()...) {
		got := k.send("OPTIONS", path, "", withHeader("Origin", "https://spa.example.com"), withHeader("Access-Control-Request-Method", "POST"),
			withHeader("Access-Control-Request-Headers", "authorization"))
		want := http.Header{
			"Access-Control-Allow-Origin":  {"*"},
			"Access-Control-Allow-Methods": {"GET, HEAD, POST, PUT, PATCH, DELETE"},
			"Access-Control-Allow-Headers": {"Authorization, Content-Type, Idempotency-Key, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Ledger-Version"},
			"Access-Control-Max-Age":       {"3600"},
		}
		if diff := cmp.Diff(want, got.Header); diff != "" || got.Status != http.StatusNoContent || got.Body != "" {
			t.Errorf("preflight of %s: %d %q (-want +got):\n%s", path, got.Status, got.Body, diff)
		}
		for _, method := range []string{"GET", "POST"} {
			got := k.send(method, path, "", withHeader("Origin", "https://spa.example.com"))
			if got.Header.Get("Access-Control-Allow-Origin") != "*" || got.Header.Get("Access-Control-Expose-Headers") != exposed ||
				got.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s: headers %v", method, path, got.Header)
			}
		}
	}
}

// LIM-05: what has no limit of its own has the default one, in the standard
// shape.
func TestDefaultLimit(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	for i := range 601 {
		path := documentPaths()[i%3]
		if i%4 == 0 {
			path = "/oauth/nothing"
		}
		got := k.send("GET", path, "")
		if limited := got.Status == http.StatusTooManyRequests; limited != (i == 600) {
			t.Fatalf("request %d: %d", i+1, got.Status)
		}
		if i == 600 && (got.keys() != "error message params statusCode" || got.Header.Get("Retry-After") == "") {
			t.Errorf("answer %s %v", got.Body, got.Header)
		}
	}
	k.token(k.as(publicID), "grant_type", "x").passed()
}

// OERR-01: one option drops the deprecated member.
func TestOmitDeprecatedMessage(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.OmitDeprecatedMessage = true })
	if got := k.token(nil); got.keys() != "error error_description" {
		t.Errorf("members %q", got.keys())
	}
	if got := k.redeem(publicID, "x"); got.keys() != "error" {
		t.Errorf("members %q", got.keys())
	}
}
