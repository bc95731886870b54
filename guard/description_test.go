package guard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/guard"
)

// A description that cannot be written is refused with its route.
func TestDescriptionIsChecked(t *testing.T) {
	t.Parallel()
	surface, err := guard.New(guard.Config{Tokens: &anyToken{}})
	if err != nil {
		t.Fatal(err)
	}
	for want, d := range map[string]guard.Description{
		"Request is not a JSON object":         {Request: json.RawMessage(`"string"`)},
		"Response is not a JSON object":        {Response: json.RawMessage(`{`)},
		"Query q is not a JSON object":         {Query: []guard.QueryParameter{{Name: "q", Schema: json.RawMessage(`1`)}}},
		"a query parameter has no name":        {Query: []guard.QueryParameter{{}}},
		"the Example is not JSON":              {Example: json.RawMessage(`{`)},
		"the Status 404 is not a success":      {Status: http.StatusNotFound},
		"200 in Errors is not an error status": {Errors: []int{200}},
	} {
		err := surface.Handle(guard.Route{Pattern: "GET /x", Scope: guard.AnyScope, Description: d, Handler: func(http.ResponseWriter, *http.Request) error { return nil }})
		if err == nil || !strings.Contains(err.Error(), `route "GET /x": Description: `+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
