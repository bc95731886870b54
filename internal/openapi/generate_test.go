package openapi_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/openapi"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// small is a host with one endpoint of ours, three routes and two events.
func small() openapi.Input {
	return openapi.Input{
		Title: "Partner API of Acme", Service: "Acme", Version: "2026-09-01", VersionHeader: "Acme-Version", APIURL: "https://api.acme.example", AppURL: "https://app.acme.example",
		Scopes:      []openapi.Scope{{Name: "orders:read", Description: "See orders"}, {Name: "orders:write", Description: "Place orders"}},
		APIPatterns: []string{"GET /.well-known/jwks.json", "GET /undescribed/{$}"},
		Schemas:     map[string]json.RawMessage{"Order": json.RawMessage(`{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`)},
		Routes: []openapi.Route{
			{
				Pattern: "GET /orders", Scope: "orders:read", ID: "listOrders", Tag: "Orders", Summary: "List orders", Text: "Newest first.",
				Query:    []openapi.Parameter{{Name: "q", Text: "What to look for.", Required: true}, {Name: "limit", Schema: json.RawMessage(`{"type":"integer"}`)}},
				Response: json.RawMessage(`{"type":"array","items":{"$ref":"#/components/schemas/Order"}}`), Example: json.RawMessage(`[{"id":"ord_1"}]`), Result: "The orders.",
			},
			{
				Pattern: "POST /orders", Scope: "orders:write", SessionsAllowed: true, Writes: true, Permission: "orders.place", HasLocation: true, Status: 201,
				Request: json.RawMessage(`{"type":"object"}`), Response: json.RawMessage(`{"$ref":"#/components/schemas/Order"}`), Errors: []int{402},
			},
			{Pattern: "DELETE /orders/{id}/lines/{rest...}", Writes: true},
		},
		Events: []openapi.Event{
			{Name: "order.placed", Summary: "An order was placed", Text: "For some.", Sample: json.RawMessage(`{"id":"ord_1"}`),
				Schema: json.RawMessage(`{"title":"Order","description":"An order.","type":"object","required":["id"],"properties":{"id":{"type":"string","description":"Its id."}}}`)},
			{Name: "order_line.changed", Summary: "A line changed", Text: "For others.", Sample: json.RawMessage(`{}`)},
		},
	}
}

// Numbers are written in the unit that a reader expects, and members that are numbers
// stay numbers.
func TestFigures(t *testing.T) {
	t.Parallel()
	in := small()
	in.APIPatterns = []string{"POST /oauth/token", "POST /oauth/device/authorize", "POST /developer/registration-tokens", "GET /events"}
	in.AppPatterns = []string{"GET /oauth/authorize"}
	in.Figures = openapi.Figures{
		Request: 90 * time.Second, Code: time.Minute, AccessToken: 10 * time.Minute, DeviceCode: 5 * time.Minute, DeviceInterval: 7 * time.Second,
		RegistrationToken: 24 * time.Hour, Events: 7 * 24 * time.Hour, RetryDelays: []time.Duration{time.Second, time.Hour, 48 * time.Hour},
		DeviceAuthorize: openapi.Rate{Count: 1234567, Window: time.Hour},
	}
	got := generate(t, in)
	for _, want := range []string{
		"A request is held for 90 seconds.", "within 1 minute.", `"const": 600`, `"const": 300`, `"const": 7,`, "within 24 hours.", "during the last 7 days",
		"tried again after 1 second, 1 hour and 2 days, and has failed after 4 attempts.", "From one address: 1,234,567 per hour.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the description lacks %q", want)
		}
	}
	if strings.Contains(got, "${") {
		t.Errorf("a name is left: %s", got[strings.Index(got, "${"):][:40])
	}
	in.Figures.RetryDelays = in.Figures.RetryDelays[:1]
	if got := generate(t, in); !strings.Contains(got, "tried again after 1 second, and has failed after 2 attempts.") {
		t.Error("one delay")
	}
	in.Figures.RetryDelays = nil
	if got := generate(t, in); !strings.Contains(got, "A delivery is not tried again.") {
		t.Error("no delay")
	}
}

func generate(t *testing.T, in openapi.Input) string {
	t.Helper()
	text, err := openapi.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The same input has the same description, to the byte.
func TestGenerate(t *testing.T) {
	t.Parallel()
	got := generate(t, small()) + "\n"
	const file = "testdata/small.json"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current; run go test ./internal/openapi -update (-want +got)\n%s", file, diff)
	}
}

// A schema of an event is a component of its title. Another schema of that name gets
// another name, and both stay.
func TestTitles(t *testing.T) {
	t.Parallel()
	in := small()
	in.Events[0].Schema = json.RawMessage(`{"title":"Order","type":"object","required":["number"]}`)
	if got := generate(t, in); !strings.Contains(got, `"$ref": "#/components/schemas/OrderData"`) || !strings.Contains(got, `"$ref": "#/components/schemas/Order"`) {
		t.Error("the schemas share a name")
	}
	in.Events[0].Schema = json.RawMessage(`{"title":"An order","type":"object"}`)
	if got := generate(t, in); !strings.Contains(got, `"title": "An order"`) {
		t.Error("a title that is no name is lost")
	}
}

// An API without versions has no version header.
func TestNoVersions(t *testing.T) {
	t.Parallel()
	in := small()
	in.Version = ""
	if got := generate(t, in); strings.Contains(got, `"Acme-Version": {`) || strings.Contains(got, "parameters/Version") {
		t.Error("the version header is described")
	}
}

func TestGenerateErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*openapi.Input){
		"schema Order":        func(in *openapi.Input) { in.Schemas["Order"] = json.RawMessage(`[]`) },
		`route "GET /orders"`: func(in *openapi.Input) { in.Routes[0].Response = json.RawMessage(`{`) },
		"described already":   func(in *openapi.Input) { in.Routes = append(in.Routes, in.Routes[0]) },
		"event order.placed":  func(in *openapi.Input) { in.Events[0].Schema = json.RawMessage(`1`) },
	} {
		in := small()
		change(&in)
		if _, err := openapi.Generate(in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
