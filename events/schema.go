package events

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// schemas.json has the schemas of the default catalog, by the first word of the event.
//
//go:embed schemas.json
var schemaFile []byte

var schemas = sync.OnceValue(func() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(schemaFile, &all); err != nil {
		panic("events: schemas.json: " + err.Error()) // the file is part of the binary
	}
	return all
})

// defaultSchema returns the schema of an event of the default catalog.
func defaultSchema(name string) json.RawMessage {
	record, change, _ := strings.Cut(name, ".")
	if change == "redact" {
		record = "redact"
	}
	return schemas()[record]
}

// checkSchema compares the members of the sample with those that the schema requires and
// allows. It is not a validator: it finds a schema that belongs to another event.
func (d Definition) checkSchema() error {
	if d.Schema == nil {
		return nil
	}
	var schema struct {
		Required             []string
		Properties           map[string]json.RawMessage
		AdditionalProperties any
	}
	if !isObject(d.Schema) || json.Unmarshal(d.Schema, &schema) != nil {
		return errors.New("the schema is not a JSON Schema object")
	}
	var sample map[string]json.RawMessage
	if err := json.Unmarshal(d.Sample, &sample); err != nil {
		return fmt.Errorf("the sample: %w", err)
	}
	for _, name := range schema.Required {
		if _, ok := sample[name]; !ok {
			return fmt.Errorf("the sample lacks %s, which the schema requires", name)
		}
	}
	if schema.AdditionalProperties != false {
		return nil
	}
	var unknown []string
	for name := range sample {
		if _, ok := schema.Properties[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the sample has %s, which the schema does not allow", slices.Min(unknown))
	}
	return nil
}
