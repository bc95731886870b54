package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/partnerkit/partnerkit/guard"
)

// offered are the routes of the API that are tools.
var offered = []string{
	"GET /invoices", "GET /invoices/{id}", "POST /invoices",
	"GET /customers", "GET /customers/{id}", "POST /customers",
	"GET /payments", "GET /payments/{id}", "POST /payments",
}

// keyArgument is the argument of writes that becomes the Idempotency-Key.
const keyArgument = "idempotencyKey"

// tools by their names.
type tools map[string]tool

// tool is a call of the API. Its name, description, arguments and scope are those of the
// route: the description of createInvoice makes the tool create_invoice.
type tool struct {
	route    guard.Route
	declared *mcp.Tool
}

func newTools(routes []guard.Route, schemas map[string]json.RawMessage) (tools, error) {
	all := tools{}
	for _, pattern := range offered {
		i := slices.IndexFunc(routes, func(r guard.Route) bool { return r.Pattern == pattern })
		if i < 0 {
			return nil, fmt.Errorf("the books have no route %s", pattern)
		}
		route := routes[i]
		arguments, err := argumentsOf(route, schemas)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		d := route.Description
		no := false
		declared := &mcp.Tool{
			Name: snakeCase(d.ID), Title: d.Summary, Description: strings.TrimSpace(d.Summary + ". " + d.Text + " Needs the scope " + route.Scope + "."),
			InputSchema: arguments,
			Annotations: &mcp.ToolAnnotations{Title: d.Summary, ReadOnlyHint: !route.Writes(), DestructiveHint: &no, OpenWorldHint: &no},
		}
		all[declared.Name] = tool{route, declared}
	}
	return all, nil
}

// scopes of all tools.
func (t tools) scopes() []string {
	all := make([]string, 0, len(t))
	for _, one := range t {
		all = append(all, one.route.Scope)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// schema is a JSON Schema of an object.
type schema struct {
	Type       string                     `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required,omitempty"`
	Additional bool                       `json:"additionalProperties"`
}

// argumentsOf returns the path's parameter, those of the query, the members of the body, and
// for writes the key.
func argumentsOf(route guard.Route, schemas map[string]json.RawMessage) (schema, error) {
	arguments := schema{Type: "object", Properties: map[string]json.RawMessage{}}
	if request := route.Description.Request; request != nil {
		var ref struct {
			To string `json:"$ref"`
		}
		if err := json.Unmarshal(request, &ref); err != nil {
			return schema{}, err
		}
		if named, ok := strings.CutPrefix(ref.To, "#/components/schemas/"); ok {
			request = schemas[named]
		}
		if err := json.Unmarshal(request, &arguments); err != nil {
			return schema{}, err
		}
	}
	if strings.Contains(route.Pattern, "{id}") {
		arguments.Properties["id"] = json.RawMessage(`{"type": "string"}`)
		arguments.Required = append(arguments.Required, "id")
	}
	for _, q := range route.Description.Query {
		arguments.Properties[q.Name] = q.Schema
	}
	if route.Writes() {
		arguments.Properties[keyArgument] = json.RawMessage(`{"type": "string", "minLength": 1, "maxLength": 255, ` +
			`"description": "Any text that this write alone has. A repetition with the same key and arguments has the same result and writes nothing."}`)
	}
	return arguments, nil
}

// handler calls the API, in process, with the token of the caller. So a tool has the
// scopes, permissions, limits, idempotency and errors of the API, and nothing of its own.
func (t tool) handler(api http.Handler) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := t.request(ctx, call.Params.Arguments)
		if err != nil {
			return failed(err.Error()), nil
		}
		r.Header.Set("Authorization", call.Extra.Header.Get("Authorization"))
		w := &recorder{header: http.Header{}}
		api.ServeHTTP(w, r)
		if w.status >= http.StatusBadRequest {
			return failed(w.body.String()), nil
		}
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: w.body.String()}},
			StructuredContent: json.RawMessage(w.body.Bytes()),
		}, nil
	}
}

// failed returns a result that the model sees, so that it can correct itself.
func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// request makes the request of the API that the arguments stand for.
func (t tool) request(ctx context.Context, raw json.RawMessage) (*http.Request, error) {
	arguments := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &arguments); err != nil {
			return nil, errors.New("the arguments are not an object")
		}
	}
	take := func(name string) string {
		value := arguments[name]
		delete(arguments, name)
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value) // a number
		}
		return text
	}
	method, at, _ := strings.Cut(t.route.Pattern, " ")
	if before, ok := strings.CutSuffix(at, "{id}"); ok {
		id := take("id")
		if id == "" || id == "." || id == ".." {
			return nil, errors.New("id is missing")
		}
		at = before + url.PathEscape(id)
	}
	query := url.Values{}
	for _, q := range t.route.Description.Query {
		if value := take(q.Name); value != "" {
			query.Set(q.Name, value)
		}
	}
	key := ""
	if t.route.Writes() {
		key = take(keyArgument)
	}
	var body []byte
	if t.route.Description.Request != nil {
		body, _ = json.Marshal(arguments) // of parsed JSON
	} else if len(arguments) > 0 {
		return nil, errors.New("there are arguments that the tool does not have")
	}
	r, err := http.NewRequestWithContext(ctx, method, at+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return r, nil
}

// recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

// snakeCase makes create_invoice of createInvoice.
func snakeCase(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
