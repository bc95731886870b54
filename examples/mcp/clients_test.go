package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/oauthserver"
)

const (
	bakery  = "biz_bakery"             // a real business
	sandbox = "biz_ledgerlink_sandbox" // of the organization that registrations belong to
)

// Models of the clients of agents, made from public reports: docs/agents.md has the sources.
// SITE stands for where a client's document is. TestGoSDK and TestTypeScriptSDK run the
// clients of the two SDKs themselves.
var clients = []client{
	{
		name: "Claude", document: "/oauth/mcp-oauth-client-metadata", needsNone: true,
		metadata: `{"client_id": "SITE/oauth/mcp-oauth-client-metadata", "client_name": "Claude", "client_uri": "https://claude.ai",
			"redirect_uris": ["https://claude.ai/api/mcp/auth_callback"], "grant_types": ["authorization_code", "refresh_token"],
			"response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "https://claude.ai/api/mcp/auth_callback", prompt: "consent", business: bakery,
	},
	{
		name: "Claude registers where there are no documents",
		metadata: `{"client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"], "grant_types": ["authorization_code", "refresh_token"],
			"response_types": ["code"], "token_endpoint_auth_method": "none", "scope": "SCOPE"}`,
		redirect: "https://claude.ai/api/mcp/auth_callback", business: sandbox,
	},
	{
		name: "Claude Code", document: "/oauth/claude-code-client-metadata",
		metadata: `{"client_id": "SITE/oauth/claude-code-client-metadata", "client_name": "Claude Code",
			"redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"], "grant_types": ["authorization_code", "refresh_token"],
			"response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "http://localhost:58135/callback", business: bakery,
	},
	{
		name: "ChatGPT", document: "/oauth/kDmjx77UnKOM/client.json", signs: true,
		metadata: `{"client_id": "SITE/oauth/kDmjx77UnKOM/client.json", "client_uri": "https://chatgpt.com/", "client_name": "ChatGPT",
			"redirect_uris": ["https://chatgpt.com/connector/oauth/kDmjx77UnKOM"], "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
			"token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
			"token_endpoint_auth_signing_alg": "RS256", "jwks_uri": "SITE/oauth/jwks.json"}`,
		redirect: "https://chatgpt.com/connector/oauth/kDmjx77UnKOM", business: bakery,
	},
	{
		name: "VS Code by document", document: "/oauth/client-metadata.json", isStrict: true,
		metadata: `{"client_id": "SITE/oauth/client-metadata.json", "client_name": "Visual Studio Code", "application_type": "native",
			"redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"], "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
			"response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "http://127.0.0.1:33418/", business: bakery,
	},
	{
		name: "VS Code by registration with a random port", isStrict: true,
		metadata: `{"client_name": "Visual Studio Code", "client_uri": "https://code.visualstudio.com", "application_type": "native",
			"redirect_uris": ["https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"],
			"grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"], "response_types": ["code"],
			"token_endpoint_auth_method": "none", "scope": "SCOPE"}`,
		redirect: "http://127.0.0.1:59656/", business: sandbox,
	},
	{
		name: "Cursor",
		metadata: `{"client_name": "Cursor", "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback", "http://localhost:8787/callback"],
			"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "cursor://anysphere.cursor-mcp/oauth/callback", business: sandbox,
	},
	{
		name: "Cursor's callback on the web",
		metadata: `{"client_name": "Cursor", "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback", "http://localhost:8787/callback"],
			"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "https://www.cursor.com/agents/mcp/oauth/callback", business: sandbox,
	},
	{
		name: "Codex", asksForAll: true,
		metadata: `{"client_name": "Codex", "redirect_uris": ["http://127.0.0.1:63546/callback/6MFBM1In3Ey-"], "grant_types": ["authorization_code", "refresh_token"],
			"response_types": ["code"], "token_endpoint_auth_method": "none"}`,
		redirect: "http://127.0.0.1:63546/callback/6MFBM1In3Ey-", business: sandbox,
	},
	{
		name: "MCP Inspector", origin: "http://localhost:6274",
		metadata: `{"client_name": "MCP Inspector", "client_uri": "https://github.com/modelcontextprotocol/inspector", "redirect_uris": ["http://localhost:6274/oauth/callback"],
			"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": "none", "scope": "SCOPE"}`,
		redirect: "http://localhost:6274/oauth/callback", business: sandbox,
	},
}

// META-05 to META-08, API-10, CIMD-01 to CIMD-05, REG-01: the model of every known client,
// from the first 401 to a tool's result, with refreshed tokens.
func TestClients(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	sites := httptest.NewTLSServer(documents(t, jose.JSONWebKey{Key: key.Public(), KeyID: "cimd-1", Use: "sig", Algorithm: "RS256"}))
	t.Cleanup(sites.Close)
	trusted, err := oauthserver.TrustDocuments(strings.TrimPrefix(sites.URL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, settings{Documents: oauthserver.DocumentConfig{AllowLoopback: true, Policy: trusted}})
	for _, c := range clients {
		t.Run("API-10 META-07 "+c.name, func(t *testing.T) {
			player{T: t, harness: h, client: c, site: sites.URL, key: key}.play()
		})
	}
}

// documents serves the documents of the clients, and the keys of the one that signs.
func documents(t *testing.T, key jose.JSONWebKey) http.Handler {
	t.Helper()
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/oauth/jwks.json" {
			_, _ = w.Write(keys)
			return
		}
		for _, c := range clients {
			if c.document != "" && c.document == r.URL.Path {
				_, _ = w.Write([]byte(strings.ReplaceAll(c.metadata, "SITE", "https://"+r.Host)))
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	})
}
