package reference_test

import (
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/reference"
)

// response is a page as a browser gets it.
type response struct {
	*httptest.ResponseRecorder
	body string
}

// harness is the pages of a document.
type harness struct {
	*testing.T
	pages *reference.Pages
}

// newHarness serves a document at /docs. The header Person signs a person in.
func newHarness(t *testing.T, document string) *harness {
	t.Helper()
	pages, err := reference.New(reference.Config{
		Document: []byte(document), Prefix: "/docs", Service: "Books", API: "https://api.example.com", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Person: func(r *http.Request) (string, error) {
			if r.Header.Get("Person") == "suspended" {
				return "", apierror.Forbidden("This account is suspended")
			}
			return r.Header.Get("Person"), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &harness{t, pages}
}

func (h *harness) get(path string, header ...string) response {
	h.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://app.example.com"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.pages.ServeHTTP(w, r)
	return response{w, w.Body.String()}
}

func (a response) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("no %q in\n%s", text, a.body[strings.Index(a.body, "<main"):])
		}
	}
}

func (a response) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("%q is in\n%s", text, a.body)
		}
	}
}

const invoices = `{
  "openapi": "3.1.0",
  "info": {"title": "API of Books"},
  "servers": [{"url": "https://api.example.com"}],
  "tags": [{"name": "Invoices", "description": "What is owed."}, {"name": "Empty"}],
  "paths": {
    "/invoices/{id}": {
      "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "example": "inv 1"}],
      "get": {
        "operationId": "getInvoice", "tags": ["Invoices"], "summary": "Read an invoice", "security": [{"accessToken": ["invoices:read"]}],
        "responses": {"200": {"description": "The invoice.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Invoice"}}}}}
      },
      "put": {
        "tags": ["Invoices", "New"], "security": [{"accessToken": []}, {"key": []}],
        "requestBody": {"$ref": "#/components/requestBodies/Invoice"}
      }
    },
    "/health": {"get": {"responses": {"204": {"description": "It is up."}}}}
  },
  "webhooks": {"invoice.paid": {"post": {"operationId": "invoicePaid", "tags": ["Invoices"], "summary": "An invoice was paid"}}},
  "components": {
    "securitySchemes": {"accessToken": {"type": "oauth2"}, "key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    "requestBodies": {"Invoice": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Invoice"}}}}},
    "schemas": {
      "Invoice": {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer", "example": 1000000}, "note": true}},
      "Deep": {"allOf": [{"$ref": "#/components/schemas/Invoice"}, {"required": ["deep"], "properties": {"deep": {"$ref": "#/components/schemas/Deep"}}}]}
    }
  }
}`

// A topic has its operations with the way to call them; operations without a tag, or with one
// that the document does not list, have topics too.
func TestTopics(t *testing.T) {
	t.Parallel()
	h := newHarness(t, invoices)
	index := h.get("/docs")
	index.shows(t, "<h1>API of Books</h1>", `href="/docs/invoices#getInvoice"`, `href="/docs/new#put-invoices-id"`, `href="/docs/other#get-health"`, `href="/docs/shapes#shape-Deep"`)
	index.lacks(t, "Empty")
	h.get("/docs/invoices").shows(t, "<h1>Invoices</h1>", "What is owed.", `id="getInvoice"`, "Read an invoice", "https://api.example.com/invoices/inv%201", "invoices:read", "1000000", `href="/docs/shapes#shape-Invoice"`, "invoice.paid")
	h.get("/docs/shapes").shows(t, `id="shape-Deep"`, "all of")
	none := h.get("/docs/none")
	none.shows(t, "Not Found", "All topics")
	if none.Code != http.StatusNotFound {
		t.Errorf("a topic that is not there: %d", none.Code)
	}
	if got := h.get("/docs", "Person", "suspended").Code; got != http.StatusForbidden {
		t.Errorf("a suspended person: %d", got)
	}
}

// What a document says is text: it cannot make elements, attributes, links to scripts, or leave
// the JSON of "Try it".
func TestHostileDocument(t *testing.T) {
	t.Parallel()
	const attack = `\"'><img src=x onerror=alert(1)>` + "`<b>`" + `**<i>**[<s>](javascript:alert(2))[x](https://evil.example/\"onclick=alert(3))[y](#/components/schemas/None)`
	h := newHarness(t, strings.NewReplacer("ATTACK", attack).Replace(`{
  "openapi": "3.1.0", "info": {"title": "ATTACK", "description": "ATTACK\n\n- ATTACK"}, "servers": [{"url": "https://api.example.com/ATTACK"}],
  "externalDocs": {"url": "javascript:alert(4)", "description": "ATTACK"},
  "tags": [{"name": "ATTACK", "description": "ATTACK"}, {"name": "assets"}, {"name": "Assets"}],
  "paths": {"/ATTACK": {"post": {
    "operationId": "ATTACK", "tags": ["ATTACK", "assets", "Assets"], "summary": "ATTACK", "description": "ATTACK", "security": [{"ATTACK": ["ATTACK"]}],
    "parameters": [{"name": "ATTACK", "in": "query", "required": true, "description": "ATTACK", "example": "ATTACK"}],
    "requestBody": {"content": {"application/json": {"example": {"ATTACK": "ATTACK"}}}},
    "responses": {"ATTACK": {"description": "ATTACK", "headers": {"ATTACK": {}}, "content": {"ATTACK": {"schema": {"properties": {"ATTACK": {"description": "ATTACK", "enum": ["ATTACK"]}}}}}}}
  }, "get": {"operationId": "ATTACK", "tags": ["ATTACK"]}}},
  "components": {"schemas": {"ATTACK": {"description": "ATTACK"}}, "securitySchemes": {"ATTACK": {"type": "oauth2"}}}
}`))
	index := h.get("/docs")
	paths := regexp.MustCompile(`href="(/docs/[^"#]+)"`).FindAllStringSubmatch(index.body, -1)
	if len(paths) < 4 {
		t.Errorf("topics: %v", paths)
	}
	for _, path := range append(paths, []string{"", "/docs"}) {
		page := h.get(path[1])
		if page.Code != http.StatusOK {
			t.Errorf("%s: %d", path[1], page.Code)
		}
		page.lacks(t, "<img", "<b>", "<i>", "<s>", `href="javascript:`, `"onclick`, ` onerror=alert(1)>"`)
		seen := map[string]bool{}
		for _, ids := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			if seen[ids[1]] {
				t.Errorf("%s: two elements have the id %q", path[1], ids[1])
			}
			seen[ids[1]] = true
			if strings.ContainsAny(ids[1], ` <>'&`) { // of operations, their tabs and shapes
				t.Errorf("%s: the id %q", path[1], ids[1])
			}
		}
	}
}

// New returns an error that says what is wrong with a document.
func TestNewErrors(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"":                                 "unexpected end of JSON",
		"openapi: 3.1.0":                   "invalid character",
		`{"paths": {}}`:                    "no member openapi",
		`{"openapi": "3.1.0", "paths": 1}`: "not an object",
	} {
		_, err := reference.New(reference.Config{Document: []byte(document), Prefix: "/docs"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", document, err, want)
		}
	}
	if _, err := reference.New(reference.Config{Document: []byte(invoices), Prefix: "docs/"}); err == nil {
		t.Error("a prefix that is no path is accepted")
	}
}

// Descriptions are shown with their paragraphs, lists, code and links.
func TestWrittenTexts(t *testing.T) {
	t.Parallel()
	h := newHarness(t, strings.Replace(invoices, `"What is owed."`, `"What **is**\nowed: `+"`a < b`"+`.\n\n- [one](https://example.com/?a=1&b=2)\n- [Invoice](#/components/schemas/Invoice)\n\nThe end."`, 1))
	h.get("/docs/invoices").shows(t, `<p>What <strong>is</strong> owed: <code>a &lt; b</code>.</p><ul><li><a href="https://example.com/?a=1&amp;b=2">one</a></li>`+
		`<li><a href="/docs/shapes#shape-Invoice">Invoice</a></li></ul><p>The end.</p>`)
}

// Samples are in four languages, whose tabs are radio buttons, with a button that copies each.
// They authenticate with a token if the call takes one. Webhooks have none: they are received.
func TestSamples(t *testing.T) {
	t.Parallel()
	h := newHarness(t, invoices)
	page := h.get("/docs/invoices").body
	_, get, _ := strings.Cut(page, `id="getInvoice"`)
	get, put, _ := strings.Cut(get, "</section>")
	for _, language := range []string{"curl", "javascript", "go", "python"} {
		if id := `in-getInvoice-` + language; !strings.Contains(get, `name="in-getInvoice" id="`+id+`"`) || !strings.Contains(get, `<label for="`+id+`">`) {
			t.Errorf("no tab %s in\n%s", id, get)
		}
	}
	if n := strings.Count(get, `data-copy="`); n != 5 { // and the example of the response
		t.Errorf("%d copy buttons in\n%s", n, get)
	}
	if n := strings.Count(get, "checked"); n != 1 {
		t.Errorf("%d samples are shown", n)
	}
	for _, want := range []string{"Bearer YOUR_ACCESS_TOKEN", "-X PUT", "&#34;total&#34;: 1000000"} {
		if !strings.Contains(put, want) {
			t.Errorf("no %q in\n%s", want, put)
		}
	}
	_, webhook, _ := strings.Cut(page, `id="invoicePaid"`)
	if strings.Contains(webhook, "curl") || strings.Contains(webhook, "data-try") {
		t.Errorf("a webhook can be called:\n%s", webhook)
	}
}

// The script gets what it sends, for operations that a browser can call with an access token or
// without one, and the policy of their pages alone lets it.
func TestTryIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t, strings.Replace(invoices, `"/health": {"get": {`, `"/elsewhere": {"servers": [{"url": "https://app.example.com"}], "get": {"operationId": "elsewhere", "tags": ["New"]}},
		"/key": {"get": {"operationId": "key", "tags": ["New"], "security": [{"key": []}]}},
		"/image": {"put": {"operationId": "image", "tags": ["New"], "requestBody": {"content": {"image/png": {}}}}},
		"/health": {"get": {`, 1))
	for path, want := range map[string][]string{
		"/docs/invoices": {
			`{"method":"GET","server":"https://api.example.com","path":"/invoices/{id}","parameters":[{"name":"id","in":"path","example":"inv 1","required":true}],"token":"YOUR_ACCESS_TOKEN"}`,
			`{"method":"PUT","server":"https://api.example.com","path":"/invoices/{id}","parameters":[{"name":"id","in":"path","example":"inv 1","required":true}],"type":"application/json","body":"{\n  \"total\": 1000000\n}","token":"YOUR_ACCESS_TOKEN"}`,
		},
		"/docs/other": {`{"method":"GET","server":"https://api.example.com","path":"/health"}`},
	} {
		page := h.get(path)
		var got []string
		for _, found := range regexp.MustCompile(`data-try="([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
			got = append(got, html.UnescapeString(found[1]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self' https://api.example.com;") {
			t.Errorf("%s: %s", path, policy)
		}
	}
	for _, id := range []string{"elsewhere", "key", "image"} {
		h.get("/docs/new").lacks(t, `data-id="`+id+`"`)
	}
	for _, path := range []string{"/docs", "/docs/none"} {
		if policy := h.get(path).Header().Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self';") {
			t.Errorf("%s: %s", path, policy)
		}
	}
	name := regexp.MustCompile(`src="(/docs/assets/try\.[0-9a-f]+\.js)"`).FindStringSubmatch(h.get("/docs/invoices").body)
	if script := h.get(name[1]); script.Code != http.StatusOK || !strings.Contains(script.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d %v", name[1], script.Code, script.Header())
	}
}

// Pages are compressed, unless the request has a query, which is in the page beside the name of
// the person. Caches are told.
func TestCompression(t *testing.T) {
	t.Parallel()
	h := newHarness(t, invoices)
	for path, want := range map[string]string{"/docs": "gzip", "/docs/invoices": "gzip", "/docs?q=invoice": "", "/docs/invoices?a=b": "", "/docs/none": ""} {
		page := h.get(path, "Accept-Encoding", "gzip", "Person", "Ada")
		if got := page.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if want != "" && page.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v", path, page.Header())
		}
	}
}

// A search finds operations by their words and scopes, and shapes by their names.
func TestSearch(t *testing.T) {
	t.Parallel()
	h := newHarness(t, invoices)
	found := h.get("/docs?q=INVOICES%3Aread")
	found.shows(t, "#getInvoice", "1 match for")
	found.lacks(t, "#get-health")
	h.get("/docs?q=deep").shows(t, "#shape-Deep", "1 match for")
	h.get("/docs?q=nothing+at+all").shows(t, "Nothing matches “nothing at all”.")
}
