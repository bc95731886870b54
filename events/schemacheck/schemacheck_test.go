package schemacheck_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/schemacheck"
)

// What is wrong with data is said with its place.
func TestCompile_CAT01(t *testing.T) {
	t.Parallel()
	named := map[string]json.RawMessage{
		"Line":  json.RawMessage(`{"type":"object","properties":{"amount":{"$ref":"#/$defs/Amount"}},"$defs":{"Amount":{"type":"integer"}}}`),
		"Other": json.RawMessage(`{"$ref":"#/components/schemas/Line"}`),
	}
	for name, test := range map[string]struct{ schema, data, want string }{
		"follows":         {`{"type":"object","required":["id"]}`, `{"id":"1"}`, ""},
		"type":            {`{"properties":{"lines":{"items":{"type":"integer"}}}}`, `{"lines":[1,"2"]}`, `at "/lines/1": got string, want integer`},
		"two":             {`{"required":["id"],"properties":{"total":{"minimum":0}}}`, `{"total":-1}`, `at "": missing property 'id'; at "/total": minimum: got -1, want 0`},
		"format":          {`{"properties":{"at":{"format":"date-time"}}}`, `{"at":"yesterday"}`, `at "/at": 'yesterday' is not valid date-time`},
		"large number":    {`{"properties":{"n":{"const":12345678901234567891}}}`, `{"n":12345678901234567890}`, `at "/n": value must be 12345678901234567891`},
		"local reference": {`{"properties":{"id":{"$ref":"#/$defs/ID"}},"$defs":{"ID":{"type":"string"}}}`, `{"id":1}`, `at "/id": got number, want string`},
		"named":           {`{"properties":{"line":{"$ref":"#/components/schemas/Other"}}}`, `{"line":{"amount":"1"}}`, `at "/line/amount": got string, want integer`},
		"choice":          {`{"oneOf":[{"type":"string"},{"required":["id"]}]}`, `{}`, `missing property 'id'`},
		"no JSON":         {`{}`, `{`, `EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check, err := schemacheck.Compile(json.RawMessage(test.schema), named)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(json.RawMessage(test.data)); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"any"}`: "type",
		`{"properties":{"id":{"$ref":"#/$defs/ID"}}}`:             "/$defs/ID",
		`{"properties":{"id":{"$ref":"#/components/schemas/A"}}}`: "/components/schemas/A",
		`{"$ref":"https://schemas.example/order.json"}`:           "https://schemas.example/order.json, which is outside of it",
		`{"$ref":"file:///etc/hostname"}`:                         "which is outside of it",
		`{`:                                                       "EOF",
		`{"pattern":"("}`:                                         "pattern",
	} {
		if _, err := schemacheck.Compile(json.RawMessage(schema), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}

// CAT-01: every sample of the default catalog follows its schema.
func TestDefaultSamples_CAT01(t *testing.T) {
	t.Parallel()
	for _, d := range events.DefaultCatalog().All() {
		check, err := schemacheck.Compile(d.Schema, nil)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		if err := check(d.Sample); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}
