// Package schemacheck checks the data of events against the JSON Schemas of the catalog, with
// github.com/santhosh-tekuri/jsonschema. Only programs that import it have that dependency.
//
// Set [Compile] as the field CompileSchema of partnerkit's Config. New then refuses a schema
// that is not valid and a sample that does not follow its schema, and recording an event
// returns events.ErrInvalidDraft for data that does not follow it. A check takes some
// microseconds. Package partnertest does this in tests of a host; in production it protects
// partners from data that nobody described, at the price that the host's own change fails
// with the event.
package schemacheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/partnerkit/partnerkit/internal/schema"
)

// address is the URL of a schema while it is compiled. Nothing is ever loaded from a URL.
const address = "urn:partnerkit:event"

// Compile implements events.SchemaCompiler. A schema without $schema is one of draft 2020-12.
// Formats, such as date-time, are checked too. References must be to the schema itself or to
// one of the named schemas.
func Compile(text json.RawMessage, named map[string]json.RawMessage) (func(data json.RawMessage) error, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if object, ok := document.(map[string]any); ok && bytes.Contains(text, []byte("#/components/")) {
		if object["components"], err = components(named); err != nil {
			return nil, err
		}
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(outside{})
	if err := compiler.AddResource(address, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(address)
	if err != nil {
		return nil, err
	}
	return func(data json.RawMessage) error { return check(compiled, data) }, nil
}

// components returns the named schemas as an API description has them.
func components(named map[string]json.RawMessage) (any, error) {
	schemas := make(map[string]any, len(named))
	for name, text := range named {
		one, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		schema.Rebase(one, "#/components/schemas/"+schema.Escape(name))
		schemas[name] = one
	}
	return map[string]any{"schemas": schemas}, nil
}

// outside refuses references to other documents.
type outside struct{}

func (outside) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, which is outside of it", url)
}

func check(compiled *jsonschema.Schema, data json.RawMessage) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	err = compiled.Validate(value)
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(strings.Join(problems(wrong.DetailedOutput(), nil), "; "))
	}
	return err
}

// problems returns what is wrong with the innermost values, each with its place.
func problems(unit *jsonschema.OutputUnit, all []string) []string {
	if unit.Error != nil {
		return append(all, fmt.Sprintf("at %q: %s", unit.InstanceLocation, unit.Error))
	}
	for i := range unit.Errors {
		all = problems(&unit.Errors[i], all)
	}
	return all
}
