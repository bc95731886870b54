package events_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/events"
)

// CAT-01: every event of the default catalog has a schema with a title.
func TestDefaultSchemas(t *testing.T) {
	t.Parallel()
	for _, d := range events.DefaultCatalog().All() {
		var schema struct{ Title string }
		if err := json.Unmarshal(d.Schema, &schema); err != nil || schema.Title == "" {
			t.Errorf("%s: %v, title %q", d.Name, err, schema.Title)
		}
	}
}

// The catalog finds a schema that its sample does not follow.
func TestCatalogChecksSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		``:         "",
		`{}`:       "",
		`[]`:       "the schema is not a JSON Schema object",
		`{`:        "the schema is not a JSON Schema object",
		`"string"`: "the schema is not a JSON Schema object",
		`{"required":["id"],"properties":{"id":{},"total":{}},"additionalProperties":false}`: "",
		`{"required":["id","number"]}`:                                   "the sample lacks number, which the schema requires",
		`{"properties":{"id":{}},"additionalProperties":false}`:          "the sample has total, which the schema does not allow",
		`{"properties":{"id":{}},"additionalProperties":{"type":"any"}}`: "",
		`{"oneOf":[{"required":["number"]}]}`:                            "",
	} {
		d := events.Definition{
			Name: "order.placed", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "An order was placed",
			Sample: json.RawMessage(`{"id":"ord_1","total":5}`),
		}
		if schema != "" {
			d.Schema = json.RawMessage(schema)
		}
		_, err := events.NewCatalog(d)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}
