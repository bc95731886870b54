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
		`{"required":["id"],"properties":{"id":{},"total":{},"lines":{}},"additionalProperties":false}`: "",
		`{"required":["id","number"]}`:                                   "the sample lacks number, which the schema requires",
		`{"properties":{"id":{}},"additionalProperties":false}`:          "the sample has lines, which the schema does not allow",
		`{"properties":{"id":{}},"additionalProperties":{"type":"any"}}`: "the schema at lines has the unknown type any",
		`{"properties":{"total":{"type":"string"}}}`:                     "the sample at total has the type integer; the schema allows string",
		`{"properties":{"total":{"type":["null","number"]}}}`:            "",
		`{"properties":{"lines":{"items":{"type":"integer"}}}}`:          "the sample at lines.0 has the type string; the schema allows integer",
		`{"properties":{"id":{"enum":["ord_2"]}}}`:                       "the sample at id is none of the values that the schema allows",
		`{"allOf":[{"properties":{"id":{"const":"ord_2"}}}]}`:            "the sample at id is not the constant of the schema",
		`{"properties":{"id":{"$ref":"#/$defs/ID"}}}`:                    `the schema has no #/$defs/ID, to which "/properties/id" refers`,
		`{"properties":{"id":{"$ref":"#ID"}}}`:                           `the schema has no #ID, to which "/properties/id" refers`,
		`{"properties":{"id":{"$ref":"#/$defs/ID"}},"$defs":{"ID":{}}}`:  "",
		`{"properties":{"id":{"$ref":"#a"},"total":{"$anchor":"a"}}}`:    "",
		`{"oneOf":[{"required":["number"]}]}`:                            "",
	} {
		d := events.Definition{
			Name: "order.placed", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "An order was placed",
			Sample: json.RawMessage(`{"id":"ord_1","total":5,"lines":["pen"]}`),
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
