package reference_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

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
		Document: []byte(document), Prefix: "/docs", Service: "Books", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
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
