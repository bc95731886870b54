package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requestable are the scopes that apps may request, in the order of the catalog.
const requestable = "profile:read events:read invoices:read invoices:write customers:read customers:write payments:read payments:write " +
	"accounts:read accounts:write journal:read journal:write suppliers:read suppliers:write"

// list is a JSON array of the words of a text.
func list(text string) []any {
	var all []any
	for word := range strings.FieldsSeq(text) {
		all = append(all, word)
	}
	return all
}

// serverMetadata is the document that the specification asks for.
func (r *harness) serverMetadata() map[string]any {
	return map[string]any{
		"issuer": r.api, "authorization_endpoint": r.app + "/oauth/authorize", "token_endpoint": r.api + "/oauth/token",
		"device_authorization_endpoint": r.api + "/oauth/device/authorize", "registration_endpoint": r.api + "/oauth/register",
		"revocation_endpoint": r.api + "/oauth/revoke", "introspection_endpoint": r.api + "/oauth/introspect",
		"jwks_uri": r.api + "/.well-known/jwks.json", "api_base_url": r.api, "scopes_supported": list(requestable + " internal:admin"),
		"response_types_supported":              list("code"),
		"grant_types_supported":                 list("authorization_code refresh_token urn:ietf:params:oauth:grant-type:device_code urn:ietf:params:oauth:grant-type:token-exchange"),
		"code_challenge_methods_supported":      list("S256"),
		"token_endpoint_auth_methods_supported": list("client_secret_basic client_secret_post none"),
		"client_id_metadata_document_supported": true,
	}
}

// wantMetadata compares the server metadata, and the resource metadata, which has no options.
func (r *harness) wantMetadata(t *testing.T, want map[string]any) {
	t.Helper()
	a := get(t, http.DefaultClient, r.api+"/.well-known/oauth-authorization-server").want(t, http.StatusOK)
	if diff := cmp.Diff(want, a.json(t)); diff != "" {
		t.Errorf("server metadata (-want +got):\n%s", diff)
	}
	resource := get(t, http.DefaultClient, r.api+"/.well-known/oauth-protected-resource").want(t, http.StatusOK)
	if diff := cmp.Diff(map[string]any{
		"resource": r.api, "authorization_servers": []any{r.api}, "scopes_supported": list(requestable), "bearer_methods_supported": list("header"),
	}, resource.json(t)); diff != "" {
		t.Errorf("META-06 (-want +got):\n%s", diff)
	}
	// META-07: the reference server declares no resource by path.
	get(t, http.DefaultClient, r.api+"/.well-known/oauth-protected-resource/mcp").want(t, http.StatusUnauthorized)
}

// wantChallenges checks what the API responds without a token and with one that has a scope too few.
func (r *harness) wantChallenges(t *testing.T) {
	t.Helper()
	pointer := `resource_metadata="` + r.api + `/.well-known/oauth-protected-resource"`
	token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "profile:read")["access_token"].(string)
	for _, test := range []struct {
		call, token string
		status      int
		want        string
	}{
		{"GET /invoices", "", http.StatusUnauthorized, `Bearer scope="invoices:read", ` + pointer},
		{"GET /invoices", "pk_at_unknown", http.StatusUnauthorized, `Bearer error="invalid_token", error_description="the access token is not valid", scope="invoices:read", ` + pointer},
		{"GET /undeclared", "", http.StatusUnauthorized, `Bearer ` + pointer},
		{"GET /invoices", token, http.StatusForbidden, `Bearer error="insufficient_scope", scope="invoices:read", ` + pointer},
		{"DELETE /payments/pay_1", token, http.StatusForbidden, `Bearer error="insufficient_scope", scope="payments:write", ` + pointer},
	} {
		method, path, _ := strings.Cut(test.call, " ")
		req := request(t, method, r.api+path, "", "")
		if test.token != "" {
			req.Header.Set("Authorization", "Bearer "+test.token)
		}
		if got := do(t, http.DefaultClient, req).want(t, test.status).Header.Get("WWW-Authenticate"); got != test.want {
			t.Errorf("API-10 %s: %s, want %s", test.call, got, test.want)
		}
	}
}

// TestAgents drives the server with -agents and -trusted-documents as a process.
func TestAgents(t *testing.T) {
	t.Parallel()
	trusted, other := newDocuments(t), newDocuments(t)
	p := startProcess(t, "-db", ":memory:", "-agents", "-trusted-documents", "agent.example, "+trusted.host())
	r := &p.harness
	t.Run("META-08 metadata", func(t *testing.T) {
		want := r.serverMetadata()
		want["scopes_supported"] = list(requestable)
		want["token_endpoint_auth_methods_supported"] = list("client_secret_basic client_secret_post none private_key_jwt")
		want["token_endpoint_auth_signing_alg_values_supported"] = list("ES256 PS256 RS256 EdDSA")
		want["authorization_response_iss_parameter_supported"] = true
		r.wantMetadata(t, want)
	})
	t.Run("API-10 challenges", r.wantChallenges)
	t.Run("META-08 registered client", func(t *testing.T) {
		c := r.register(t, `{"client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none", "scope": "invoices:read"}`)
		c.redirect = "http://127.0.0.1:41999/cb" // a port that it did not register
		b := r.session("usr_ada", "biz_bakery")
		back := c.decide(t, b, "biz_ledgerlink_sandbox", "allow", "invoices:read customers:read")
		if back.Get("iss") != r.api || back.Get("state") != "s" || len(back) != 3 {
			t.Errorf("approval %v", back)
		}
		tokens := c.redeem(t, back.Get("code")).want(t, http.StatusOK).json(t)
		if tokens["scope"] != "invoices:read customers:read" { // more than it registered
			t.Errorf("tokens %v", tokens)
		}
		r.call(http.MethodGet, "/customers", tokens["access_token"].(string)).want(t, http.StatusOK)
		if back := c.decide(t, b, "biz_ledgerlink_sandbox", "deny", "invoices:read"); back.Encode() != "error=access_denied&iss="+escaped(r.api)+"&state=s" {
			t.Errorf("denial %v", back)
		}
		if a := c.ask(t, b, "invoices:read internal:admin"); a.StatusCode == http.StatusOK {
			t.Error("an internal scope is offered")
		}
	})
	t.Run("AZ-18 no scope", func(t *testing.T) {
		c := r.register(t, `{"client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none", "scope": " invoices:read   customers:read "}`)
		tokens := c.connect(t, "biz_ledgerlink_sandbox", "").want(t, http.StatusOK).json(t)
		if tokens["scope"] != "invoices:read customers:read" {
			t.Errorf("tokens %v", tokens)
		}
	})
	t.Run("AZ-05 console client", func(t *testing.T) {
		c := client{harness: r, id: "ledgerlink-cli", redirect: "http://127.0.0.1:50001/callback"} // registered with port 9091
		c.connect(t, "biz_bakery", "invoices:read").want(t, http.StatusOK)
	})
	t.Run("CIMD-04 schemes", func(t *testing.T) {
		for _, scheme := range []string{"cursor", "vscode", "vscode-insiders"} {
			c := r.register(t, `{"client_name": "Editor", "redirect_uris": ["`+scheme+`://editor/callback"], "token_endpoint_auth_method": "none"}`)
			a := c.ask(t, r.session("usr_ada", "biz_bakery"), "invoices:read").want(t, http.StatusOK)
			if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' "+scheme+":;") {
				t.Errorf("%s: %s", scheme, policy)
			}
			c.connect(t, "biz_ledgerlink_sandbox", "invoices:read").want(t, http.StatusOK)
			r.refuseRegistration(t, `{"client_name": "Editor", "redirect_uris": ["`+scheme+`://editor/callback"]}`, "invalid_redirect_uri") // CONFIDENTIAL
		}
		r.refuseRegistration(t, `{"client_name": "Editor", "redirect_uris": ["zed://editor/callback"], "token_endpoint_auth_method": "none"}`, "invalid_redirect_uri")
	})
	t.Run("CIMD-04 trusted document", func(t *testing.T) {
		c := client{harness: r, id: trusted.serve("/client.json", `"redirect_uris": ["http://127.0.0.1/cb", "cursor://editor/cb", "zed://dropped"]`), redirect: "http://127.0.0.1:41999/cb"}
		c.connect(t, "biz_bakery", "invoices:read").want(t, http.StatusOK)
		c.redirect = "cursor://editor/cb"
		c.connect(t, "biz_bakery", "invoices:read").want(t, http.StatusOK)
		c.redirect = "zed://dropped"
		c.ask(t, r.session("usr_ada", "biz_bakery"), "invoices:read").want(t, http.StatusBadRequest)
	})
	t.Run("CIMD-04 other document", func(t *testing.T) {
		c := client{harness: r, id: other.serve("/client.json", `"redirect_uris": ["http://127.0.0.1/cb"]`), redirect: "http://127.0.0.1/cb"}
		c.wantUnreviewed(t)
		if a := c.ask(t, r.session("usr_ada", "biz_bakery"), "invoices:read"); !strings.Contains(a.body, "Any program on your computer could be asking.") {
			t.Errorf("no warning about loopback:\n%s", a.body)
		}
	})
	t.Run("TOK-06 resource", func(t *testing.T) {
		c := r.register(t, `{"client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none"}`)
		c.resource = r.api + "/mcp"
		c.connect(t, "biz_ledgerlink_sandbox", "invoices:read").want(t, http.StatusOK)
		c.resource = "https://elsewhere.example/mcp"
		if a := c.redeem(t, "any").want(t, http.StatusBadRequest); a.json(t)["error"] != "invalid_target" {
			t.Error(a.body)
		}
	})
	t.Run("CIMD-05 keys", func(t *testing.T) { testKeys(t, r, trusted) })
}

// TestWithoutAgents: no option is on without the flags, and the server does what the
// specification says to the letter.
func TestWithoutAgents(t *testing.T) {
	t.Parallel()
	p := startProcess(t, "-db", ":memory:")
	r := &p.harness
	t.Run("META-01 metadata", func(t *testing.T) { r.wantMetadata(t, r.serverMetadata()) })
	t.Run("API-10 challenges", r.wantChallenges)
	t.Run("REG-02 registered client", func(t *testing.T) {
		c := r.register(t, `{"client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none", "scope": "invoices:read"}`)
		b := r.session("usr_ada", "biz_bakery")
		if back := c.decide(t, b, "biz_ledgerlink_sandbox", "allow", "invoices:read"); back.Get("state") != "s" || back.Get("code") == "" || len(back) != 2 { // AZ-10
			t.Errorf("approval %v", back)
		}
		if back := c.decide(t, b, "biz_ledgerlink_sandbox", "deny", "invoices:read"); back.Encode() != "error=access_denied&state=s" {
			t.Errorf("denial %v", back)
		}
		c.ask(t, b, "invoices:read customers:read").want(t, http.StatusBadRequest) // a bound
		c.ask(t, b, "").want(t, http.StatusBadRequest)                             // AZ-06
		c.redirect = "http://127.0.0.1:41999/cb"                                   // AZ-05
		c.ask(t, b, "invoices:read").want(t, http.StatusBadRequest)
	})
	t.Run("REG-01 schemes", func(t *testing.T) {
		for _, scheme := range []string{"cursor", "vscode", "vscode-insiders"} {
			r.refuseRegistration(t, `{"client_name": "Editor", "redirect_uris": ["`+scheme+`://editor/callback"], "token_endpoint_auth_method": "none"}`, "invalid_redirect_uri")
		}
	})
	t.Run("CIMD-01 document", func(t *testing.T) {
		site := newDocuments(t)
		c := client{harness: r, id: site.serve("/client.json", `"redirect_uris": ["http://127.0.0.1/cb", "cursor://editor/cb"]`), redirect: "http://127.0.0.1:41999/cb"}
		c.wantUnreviewed(t)
		c.connect(t, "biz_ledgerlink_sandbox", "invoices:read").want(t, http.StatusOK)
		c.redirect = "cursor://editor/cb"
		c.ask(t, r.session("usr_ada", "biz_bakery"), "invoices:read").want(t, http.StatusBadRequest)
	})
	t.Run("CIMD-05 keys", func(t *testing.T) {
		site, k := newDocuments(t), newKey(t)
		r.refuseRegistration(t, `{"client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "private_key_jwt", "jwks": `+k.jwks(t)+`}`, "invalid_client_metadata")
		keyed := client{harness: r, redirect: "http://127.0.0.1/cb", key: k,
			id: site.serve("/keyed.json", `"redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "private_key_jwt", "jwks": `+k.jwks(t))}
		keyed.ask(t, r.session("usr_ada", "biz_bakery"), "invoices:read").want(t, http.StatusBadRequest)
		if a := keyed.redeem(t, "any").want(t, http.StatusUnauthorized); a.json(t)["error"] != "invalid_client" {
			t.Error(a.body)
		}
	})
}
