package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// maxMessage bounds the body of a request to the MCP endpoint.
const maxMessage = 1 << 20

// serveMCP serves the MCP endpoint. The guard has checked the token and the limits. The
// scope is checked here, before the SDK has begun a response: a client asks its user for
// more only when the HTTP status is 403 and the challenge names the scope. The API checks
// it again when the tool calls it.
func (s *service) serveMCP(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		return err
	}
	caller, _ := identity.PrincipalFrom(r.Context())
	if err := s.checkScopes(caller.Scopes, body); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.endpoint.ServeHTTP(w, r)
	return nil
}

// message holds the members of a JSON-RPC message that its scope depends on.
type message struct {
	Method string `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// messages of a body: one, or several in older versions of the protocol. A body that is
// not JSON has none; the SDK rejects it.
func messages(body []byte) []message {
	var several []message
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		_ = json.Unmarshal(body, &several)
		return several
	}
	var one message
	_ = json.Unmarshal(body, &one)
	return []message{one}
}

// checkScopes rejects a call of a tool whose scope the token lacks. The challenge asks for
// the token's scopes too: some clients request what it names and nothing else, and would
// lose what they had.
func (s *service) checkScopes(granted identity.Scopes, body []byte) error {
	for _, m := range messages(body) {
		if m.Method != "tools/call" {
			continue
		}
		t, ok := s.tools[m.Params.Name]
		if ok && !granted.Has(t.route.Scope) {
			return apierror.InsufficientScope.New(t.route.Scope).
				WithScope(strings.Join(append(granted.Names(), t.route.Scope), " "))
		}
	}
	return nil
}

// newServer returns the MCP server, which has the tools.
func (s *service) newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "books", Title: "Books", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions: "The books of one business: invoices, customers and payments. Amounts are in minor units of the currency. " +
			"Give each write an idempotencyKey of its own, and repeat it with the same key when the outcome is unknown.",
	})
	for _, t := range s.tools {
		server.AddTool(t.declared, t.handler(s.platform.API()))
	}
	return server
}
