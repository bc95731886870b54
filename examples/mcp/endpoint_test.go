package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// post sends a message to the endpoint.
func (h *harness) post(token, body string, headers ...string) (*http.Response, string) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), http.MethodPost, h.APIURL+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.Fatal(err)
	}
	return res, string(text)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func callOf(tool string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

// API-10: what the endpoint responds to callers without a token, without the scope, and
// with messages that are none.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	h := newHarness(t, settings{})
	token := h.token("invoices:read")
	metadata := `resource_metadata="` + h.APIURL + `/.well-known/oauth-protected-resource/mcp"`
	step := func(scope string) string {
		return `Bearer error="insufficient_scope", scope="invoices:read ` + scope + `", ` + metadata
	}
	for name, test := range map[string]struct {
		token, body string
		status      int
		challenge   string
		want        string
	}{
		"API-10 no token":                 {"", initialize, 401, `Bearer scope="invoices:read customers:read payments:read", ` + metadata, ""},
		"API-01 a wrong token":            {"pk_at_wrong", initialize, 401, `Bearer error="invalid_token", error_description="the access token is not valid", scope="invoices:read customers:read payments:read", ` + metadata, ""},
		"initialize":                      {token, initialize, 200, "", `"serverInfo"`},
		"a tool with its scope":           {token, callOf("list_invoices"), 200, "", `"hasMore"`},
		"API-10 a tool without its scope": {token, callOf("create_invoice"), 403, step("invoices:write"), "INSUFFICIENT_SCOPE"},
		"API-10 the second of a batch":    {token, "[" + callOf("list_invoices") + "," + callOf("list_payments") + "]", 403, step("payments:read"), "INSUFFICIENT_SCOPE"},
		// The SDK and the check read the name differently: then the API rejects the call.
		"API-03 a name in other case":                 {token, strings.Replace(callOf("create_invoice"), `"name"`, `"Name"`, 1), 0, "", ""},
		"a tool that does not exist":                  {token, callOf("delete_everything"), 200, "", "unknown tool"},
		"not JSON":                                    {token, "{", 400, "", ""},
		"a message that is too large":                 {token, `{"x":"` + strings.Repeat("x", maxMessage) + `"}`, 413, "", ""},
		"the session id of somebody else is not read": {token, callOf("list_invoices"), 200, "", `"hasMore"`},
	} {
		t.Run(name, func(t *testing.T) {
			res, text := h.post(test.token, test.body, "Mcp-Session-Id", "of-somebody-else")
			if test.status == 0 { // any status is allowed, but no invoice in the response
				if strings.Contains(text, `"number"`) || strings.Contains(text, `"id":"inv_`) {
					t.Errorf("response %d %s", res.StatusCode, text)
				}
				return
			}
			if got := res.Header.Get("WWW-Authenticate"); res.StatusCode != test.status || got != test.challenge || !strings.Contains(text, test.want) {
				t.Errorf("response %d %s with the challenge %q, want %d %q %s", res.StatusCode, text, got, test.status, test.challenge, test.want)
			}
			if id := res.Header.Get("Mcp-Session-Id"); id != "" {
				t.Errorf("there is a session %s", id)
			}
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		r, err := http.NewRequestWithContext(t.Context(), method, h.APIURL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if _, res, err := read(http.DefaultClient.Do(r)); err != nil || res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %v %v", method, res, err)
		}
	}
}
