package partnerkit_test

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/guard"
)

// describedNotes is a route with what partners want to know about it.
func describedNotes(list func(http.ResponseWriter, *http.Request) error) guard.Route {
	return guard.Route{Pattern: "GET /notes", Scope: "notes:read", Handler: list, Description: guard.Description{
		ID: "listNotes", Tag: "Notes", Summary: "List notes", Text: "Newest first.",
		Query:    []guard.QueryParameter{{Name: "limit", Schema: json.RawMessage(`{"type": "integer", "maximum": 100}`)}},
		Response: json.RawMessage(`{"type": "array", "items": {"$ref": "#/components/schemas/Note"}}`),
	}}
}

// A backend that serves a description of its API to partners.
func ExamplePlatform_OpenAPI() {
	cfg := partnerkit.Config{
		// …
		Routes:  []guard.Route{describedNotes(nil)},
		Schemas: map[string]json.RawMessage{"Note": json.RawMessage(`{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}`)},
	}
	platform, err := partnerkit.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	document := platform.OpenAPI()
	http.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "%s", document)
	})
}

// A backend whose app host shows its API to partners.
func ExamplePlatform_Reference() {
	pages := http.NewServeMux() // with the pages of the backend
	platform, err := partnerkit.New(partnerkit.Config{
		// …
		AppRoutes: pages,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reference, err := platform.Reference("/openapi", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pages.Handle("/openapi", reference)
	pages.Handle("/openapi/", reference)
}
