package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/partnerkit/partnerkit/internal/schema"
)

// rebase changes the references inside of a schema to what they are in the document, in which
// the schema lies at a place such as "#/components/schemas/Order".
func rebase(s *object, place string) {
	if s.has("$id") {
		return // its references are relative to its own URL
	}
	walk(s, func(o *object) {
		if to := o.text("$ref"); to != "" {
			o.with("$ref", schema.Rebased(to, place))
		}
	})
}

func escape(name string) string { return schema.Escape(name) }

// CheckRefs returns an error if a schema of the host has a reference to nothing. It names the
// schema, the place of the reference and its target.
func CheckRefs(in Input) error {
	var components func(pointer string) bool // of the document, which is made for the first reference to one
	for _, one := range in.schemas() {
		parsed, err := schema.Decode(one.text)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if ref, ok := schema.Dangling(parsed); ok {
			return fmt.Errorf("%s has no %s, to which %q refers", one.name, ref.Target, ref.Place)
		}
		for _, ref := range schema.Refs(parsed) {
			if !schema.IsComponent(ref.Target) {
				continue
			}
			if components == nil {
				if components, err = componentsOf(in); err != nil {
					return err
				}
			}
			if !components(ref.Target[1:]) {
				return fmt.Errorf("%s: at %q: there is no %s", one.name, ref.Place, ref.Target)
			}
		}
	}
	return nil
}

// componentsOf returns a function that finds what a document has at a JSON pointer.
func componentsOf(in Input) (func(pointer string) bool, error) {
	g, err := generate(in)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(newObject().with("components", g.components))
	if err != nil {
		return nil, err
	}
	document, err := schema.Decode(text)
	return func(pointer string) bool { return schema.At(document, pointer) }, err
}

type named struct {
	name string
	text json.RawMessage
}

// schemas returns the schemas of the host, each with the name that errors have for it.
func (in Input) schemas() (all []named) {
	add := func(name string, text json.RawMessage) {
		if text != nil {
			all = append(all, named{name, text})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Schemas)) {
		add("Config.Schemas: "+name, in.Schemas[name])
	}
	for _, r := range in.Routes {
		add(fmt.Sprintf("Config.Routes: %q: Request", r.Pattern), r.Request)
		add(fmt.Sprintf("Config.Routes: %q: Response", r.Pattern), r.Response)
		for _, q := range r.Query {
			add(fmt.Sprintf("Config.Routes: %q: query parameter %s", r.Pattern, q.Name), q.Schema)
		}
	}
	for _, e := range in.Events {
		add("Config.Events: the schema of "+e.Name, e.Schema)
	}
	return all
}
