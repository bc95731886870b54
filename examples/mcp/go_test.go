package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// counted counts the requests of a client by path, and with a grant type by that.
type counted struct {
	http.Transport
	mu    sync.Mutex
	calls map[string]int
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	name := r.URL.Path
	if r.GetBody != nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if body, err := r.GetBody(); err == nil {
			text, _, _ := read(&http.Response{Body: body}, nil)
			values, _ := url.ParseQuery(text)
			name = values.Get("grant_type")
		}
	}
	c.mu.Lock()
	c.calls[name]++
	c.mu.Unlock()
	return c.Transport.RoundTrip(r)
}

// goClient is the client of the Go SDK, which registers itself. asked gets the scopes of
// each authorization request.
func (h *harness) goClient() (session *mcp.ClientSession, transport *counted, asked *[]string) {
	h.Helper()
	asked = &[]string{}
	transport = &counted{calls: map[string]int{}}
	client := &http.Client{Transport: transport}
	const redirect = "http://127.0.0.1:7777/callback"
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Go agent", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RedirectURL: redirect, RequestRefreshToken: true, Client: client,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if to, err := url.Parse(args.URL); err == nil {
				*asked = append(*asked, to.Query().Get("scope")+" for "+to.Query().Get("resource"))
			}
			back, err := h.approve(args.URL, sandbox)
			if err != nil {
				return nil, err
			}
			q := back.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		h.Fatal(err)
	}
	agent := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err = agent.Connect(h.Context(), &mcp.StreamableClientTransport{Endpoint: h.APIURL + path, HTTPClient: client, OAuthHandler: handler}, nil)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		_ = session.Close()
		client.CloseIdleConnections()
	})
	return session, transport, asked
}

// call calls a tool and reads its result into out, which may be nil.
func call(t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any, out any) *mcp.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if out != nil && (result.IsError || json.Unmarshal([]byte(text), out) != nil) {
		t.Fatalf("%s: %s", name, text)
	}
	return result
}

type invoice struct{ ID, Number string }

type page struct{ Data []invoice }

// META-07, API-10: the Go SDK's client, from the first 401 to a tool's result, with a
// further scope and refreshed tokens.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	// The SDK refreshes a token that ends within ten seconds before each request.
	h := newHarness(t, settings{Lifetimes: oauthserver.Lifetimes{AccessToken: 5 * time.Second}})
	session, transport, asked := h.goClient()

	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	want := []string{"create_customer", "create_invoice", "create_payment", "get_customer", "get_invoice", "get_payment", "list_customers", "list_invoices", "list_payments"}
	if !slices.Equal(names, want) {
		t.Errorf("tools %q", names)
	}
	var before page
	call(t, session, "list_invoices", map[string]any{"limit": 2}, &before)

	var made, again, got invoice
	arguments := map[string]any{"number": "A-1", "currency": "EUR", "total": 11900, "idempotencyKey": "k1"}
	call(t, session, "create_invoice", arguments, &made)
	call(t, session, "create_invoice", arguments, &again)
	call(t, session, "get_invoice", map[string]any{"id": made.ID}, &got)
	if made.ID == "" || again != made || got != made {
		t.Errorf("made %v, again %v, got %v", made, again, got)
	}
	resource := " for " + h.APIURL + path
	if want := []string{"invoices:read customers:read payments:read" + resource, "invoices:read customers:read payments:read invoices:write" + resource}; !sameScopes(*asked, want) {
		t.Errorf("asked for %q", *asked)
	}
	if transport.calls["refresh_token"] == 0 || transport.calls["authorization_code"] != 2 || transport.calls["/.well-known/oauth-protected-resource/mcp"] == 0 {
		t.Errorf("requests %v", transport.calls)
	}
	for name, test := range map[string]struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		"ERR-01 another body with the key":   {"create_invoice", map[string]any{"number": "A-2", "currency": "EUR", "total": 1, "idempotencyKey": "k1"}, `"statusCode":422`},
		"ERR-01 an invalid value":            {"create_invoice", map[string]any{"number": "", "currency": "EUR", "total": 1}, `"statusCode":400`},
		"API-08 an invoice that is not here": {"get_invoice", map[string]any{"id": "inv_nope"}, `"statusCode":404`},
		"a path instead of an id":            {"get_invoice", map[string]any{"id": ".."}, "id is missing"},
		"a path within an id":                {"get_invoice", map[string]any{"id": "../customers"}, `"statusCode":404`},
		"an argument too many":               {"get_invoice", map[string]any{"id": made.ID, "x": 1}, "does not have"},
	} {
		result := call(t, session, test.tool, test.arguments, nil)
		if text := result.Content[0].(*mcp.TextContent).Text; !result.IsError || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// sameScopes compares scopes without their order.
func sameScopes(got, want []string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool {
		x, y := strings.Fields(a), strings.Fields(b)
		slices.Sort(x)
		slices.Sort(y)
		return slices.Equal(x, y)
	})
}
