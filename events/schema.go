package events

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit/internal/schema"
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

// checkSchema finds a sample that does not follow the schema, and a reference inside of the
// schema to nothing. It does not follow references, and does not know every keyword: a
// [SchemaCompiler] does.
func (d Definition) checkSchema() error {
	if d.Schema == nil {
		return nil
	}
	parsed, err := schema.Decode(d.Schema)
	if err != nil || !isObject(d.Schema) {
		return errors.New("the schema is not a JSON Schema object")
	}
	if ref, ok := schema.Dangling(parsed); ok {
		return fmt.Errorf("the schema has no %s, to which %q refers", ref.Target, ref.Place)
	}
	sample, err := schema.Decode(d.Sample)
	if err != nil {
		return fmt.Errorf("the sample: %w", err)
	}
	if problem := schema.Mismatch(parsed, sample); problem != "" {
		return errors.New(problem)
	}
	return nil
}

// SchemaCompiler makes a function that checks data against a JSON Schema. The schema may
// refer to the named ones as "#/components/schemas/Name". The function must be safe for
// concurrent use; its error says where the data is wrong. Compile of events/schemacheck is
// one.
type SchemaCompiler func(schema json.RawMessage, named map[string]json.RawMessage) (check func(data json.RawMessage) error, err error)

// compileSchemas compiles the schemas of a catalog, and checks the samples with them.
func compileSchemas(cfg Config) (map[string]func(json.RawMessage) error, error) {
	if cfg.CompileSchema == nil {
		return nil, nil
	}
	named := maps.Clone(cfg.Schemas)
	if named == nil {
		named = map[string]json.RawMessage{}
	}
	for _, d := range cfg.Catalog.definitions {
		var titled struct{ Title string }
		if json.Unmarshal(d.Schema, &titled) == nil && titled.Title != "" && named[titled.Title] == nil {
			named[titled.Title] = d.Schema // as in the API description
		}
	}
	checks := make(map[string]func(json.RawMessage) error, len(cfg.Catalog.definitions))
	compiled := map[string]func(json.RawMessage) error{} // by the text: events of one record have one schema
	for _, d := range cfg.Catalog.definitions {
		if d.Schema == nil {
			continue
		}
		check, ok := compiled[string(d.Schema)]
		if !ok {
			var err error
			if check, err = cfg.CompileSchema(d.Schema, named); err != nil {
				return nil, fmt.Errorf("events: the schema of %s: %w", d.Name, err)
			}
			compiled[string(d.Schema)] = check
		}
		if err := check(d.Sample); err != nil {
			return nil, fmt.Errorf("events: the sample of %s: %w", d.Name, err)
		}
		checks[d.Name] = check
	}
	return checks, nil
}
