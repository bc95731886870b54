package main

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// describedWebhook is an event in the description.
type describedWebhook struct {
	Post struct {
		Summary     string
		RequestBody struct {
			Content map[string]struct {
				Example struct{ Type, Data any }
			}
		} `yaml:"requestBody"`
	}
}

// described is what a test looks at in the description.
type described struct {
	Webhooks   yaml.Node // in its order
	Components struct {
		Schemas map[string]struct {
			Enum       []string
			Properties map[string]yaml.Node
		}
		SecuritySchemes map[string]struct {
			Flows map[string]struct{ Scopes map[string]string }
		} `yaml:"securitySchemes"`
	}
}

var update = flag.Bool("update", false, "rewrite openapi.yaml")

// openapi.yaml is the description as a server with the default addresses serves it.
func readFile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const fileHead = `# Generated: what the reference server serves at /openapi.yaml, for linters and generators of
# clients. go test ./examples/server -run DescriptionFile -update writes it. The sources are
# internal/openapi/own.json, examples/books/description.json, the event catalog, and
# sandbox/description.yaml and examples/server/description.yaml.
`

// The file is what is served.
func TestDescriptionFile(t *testing.T) {
	t.Parallel()
	r := start(t)
	served := fileHead + strings.NewReplacer(r.api, "http://localhost:8080", r.app, "http://localhost:8081").Replace(send(t, http.MethodGet, r.api+"/openapi.yaml", nil).body)
	if *update {
		if err := os.WriteFile("openapi.yaml", []byte(served), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readFile(t), served); diff != "" {
		t.Errorf("openapi.yaml is not current; run go test ./examples/server -run DescriptionFile -update (-file +served):\n%s", diff)
	}
}

func readDescription(t *testing.T) (d described) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t)), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// OPS-07: the description for partners says nothing of the operators' paths. Only development
// mode leads to theirs.
func TestDescriptionLacksOperators_OPS07(t *testing.T) {
	t.Parallel()
	var d struct {
		Tags  []struct{ Name string }
		Paths map[string]map[string]yaml.Node // operations and parameters
	}
	if err := yaml.Unmarshal([]byte(readFile(t)), &d); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{"Webhook events": true}
	for path, operations := range d.Paths {
		if strings.HasPrefix(path, "/operator") {
			t.Errorf("%s is described", path)
		}
		for _, node := range operations {
			var operation struct{ Tags []string }
			if node.Kind == yaml.MappingNode && node.Decode(&operation) != nil {
				t.Errorf("%s: line %d cannot be read", path, node.Line)
			}
			for _, tag := range operation.Tags {
				used[tag] = true
			}
		}
	}
	for _, tag := range d.Tags {
		if !used[tag.Name] {
			t.Errorf("no path has the tag %s", tag.Name)
		}
	}
}

// ERR-03, OERR-02: the description has every code, under its status, and no other.
func TestDescribedCodes(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	var all []string
	byStatus := map[int][]string{}
	for _, e := range slices.Insert(codes.All(), 8, ledger.InvoiceLimitReached) {
		all = append(all, string(e.Code))
		byStatus[e.Status] = append(byStatus[e.Status], string(e.Code))
	}
	if diff := cmp.Diff(all, d.Components.Schemas["ErrorCode"].Enum); diff != "" {
		t.Errorf("ErrorCode (-table +description):\n%s", diff)
	}
	for status, want := range byStatus {
		code := d.Components.Schemas["Error"+strconv.Itoa(status)].Properties["code"]
		var got struct{ Enum []string }
		if err := code.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Enum); diff != "" {
			t.Errorf("Error%d (-table +description):\n%s", status, diff)
		}
	}
	if diff := cmp.Diff(oauthCodes(t), d.Components.Schemas["OAuthErrorCode"].Enum); diff != "" {
		t.Errorf("OAuthErrorCode (-apierror +description):\n%s", diff)
	}
}

// oauthCodes are the constants of oautherror, which has no list of them.
func oauthCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../internal/oautherror/error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Code" {
				codes = append(codes, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	return codes
}

// CAT-01: one webhook for each event of the catalog, with its words and its sample. The
// scopes are those that apps may request.
func TestDescribedEventsAndScopes(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	var want, got []string
	for _, e := range events.DefaultCatalog().All() {
		want = append(want, e.Name)
	}
	for named := range slices.Chunk(d.Webhooks.Content, 2) {
		var w describedWebhook
		if err := named[1].Decode(&w); err != nil {
			t.Fatal(err)
		}
		name := named[0].Value
		got = append(got, name)
		definition, _ := events.DefaultCatalog().Lookup(name)
		var sample any
		if err := json.Unmarshal(definition.Sample, &sample); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		example := w.Post.RequestBody.Content["application/json"].Example
		encoded, err := json.Marshal(example.Data)
		if err != nil {
			t.Fatal(err)
		}
		var data any
		_ = json.Unmarshal(encoded, &data) // numbers as in the sample
		if diff := cmp.Diff(sample, data); diff != "" || example.Type != name || w.Post.Summary != definition.Description {
			t.Errorf("%s, %q: the example is of %v (-sample +example):\n%s", name, w.Post.Summary, example.Type, diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhooks (-catalog +description):\n%s", diff)
	}
	if diff := cmp.Diff(want, d.Components.Schemas["EventType"].Enum); diff != "" {
		t.Errorf("EventType (-catalog +description):\n%s", diff)
	}
	scopes := map[string]string{}
	var names []string
	for _, s := range identity.DefaultScopes().All() {
		if !s.Internal {
			scopes[s.Name] = s.Summary
			names = append(names, s.Name)
		}
	}
	if diff := cmp.Diff(scopes, d.Components.SecuritySchemes["accessToken"].Flows["authorizationCode"].Scopes); diff != "" {
		t.Errorf("scopes (-catalog +description):\n%s", diff)
	}
	if diff := cmp.Diff(names, d.Components.Schemas["Scope"].Enum); diff != "" {
		t.Errorf("Scope (-catalog +description):\n%s", diff)
	}
}

// The document is public, contains the addresses of this server, and need not be sent
// twice. It counts toward the limit of its address (LIM-05).
func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	r := start(t)
	first := send(t, http.MethodGet, r.api+"/openapi.yaml", nil)
	if first.StatusCode != http.StatusOK || first.Header.Get("Content-Type") != "application/yaml" || first.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", first.StatusCode, first.Header)
	}
	if !strings.Contains(first.body, "url: "+r.api+"\n") || !strings.Contains(first.body, "url: "+r.app+"\n") || strings.Contains(first.body, "http://localhost:8080"+"\n") {
		t.Error("the addresses are not those of the server")
	}
	for value, want := range map[string]int{
		first.Header.Get("Etag"):           http.StatusNotModified,
		"W/" + first.Header.Get("Etag"):    http.StatusNotModified,
		`"a", ` + first.Header.Get("Etag"): http.StatusNotModified,
		"*":                                http.StatusNotModified,
		`"another"`:                        http.StatusOK,
	} {
		if again := send(t, http.MethodGet, r.api+"/openapi.yaml", http.Header{"If-None-Match": {value}}); again.StatusCode != want {
			t.Errorf("If-None-Match %s: %d, want %d", value, again.StatusCode, want)
		}
	}
	for { // until the limit is used up, for some time to come
		other := send(t, http.MethodGet, r.api+"/.well-known/jwks.json", nil)
		if wait, err := strconv.Atoi(other.Header.Get("Retry-After")); err == nil && wait > 20 {
			break
		} else if err == nil {
			r.dev("clock", `{"advanceSeconds": 20}`)
		}
	}
	if got := send(t, http.MethodGet, r.api+"/openapi.yaml", nil).StatusCode; got != http.StatusTooManyRequests {
		t.Errorf("after too many others: %d, want 429", got)
	}
}

// The page shows every operation and every shape, without a session.
func TestDescriptionPage(t *testing.T) {
	t.Parallel()
	r := start(t)
	var body string
	for _, page := range r.topicPages() {
		body += page
	}
	for line := range strings.SplitSeq(readFile(t), "\n") {
		id, ok := strings.CutPrefix(line, "      operationId: ")
		if ok && !strings.Contains(body, `id="`+id+`"`) {
			t.Errorf("the page has no %s", id)
		}
	}
	for name := range readDescription(t).Components.Schemas {
		if !strings.Contains(body, `id="shape-`+name+`"`) {
			t.Errorf("the page has no shape %s", name)
		}
	}
}

func send(t *testing.T, method, url string, header http.Header) response {
	t.Helper()
	r := request(t, method, url, "", "")
	for name := range header {
		r.Header.Set(name, header.Get(name))
	}
	return do(t, http.DefaultClient, r)
}
