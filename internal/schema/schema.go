// Package schema reads JSON Schemas (2020-12) as encoding/json decodes them: it lists their
// references, finds what a reference names, and compares a sample with a schema.
//
// A schema of a host is part of an API description, so its references have two kinds. Those
// that begin with "#/components/" name a schema of the description. All others that begin
// with "#" stay inside of the schema.
package schema

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// components is how references to schemas of the description begin.
const components = "#/components/"

// IsLocal reports whether a reference stays inside of its schema.
func IsLocal(ref string) bool {
	return strings.HasPrefix(ref, "#") && !strings.HasPrefix(ref, components)
}

// IsComponent reports whether a reference names a schema of the description.
func IsComponent(ref string) bool { return strings.HasPrefix(ref, components) }

// Rebased returns a reference of a schema that lies at a place of a document, such as
// "#/components/schemas/Order", as the document has to have it.
func Rebased(ref, place string) string {
	if ref == "#" || strings.HasPrefix(ref, "#/") && !IsComponent(ref) {
		return place + ref[1:]
	}
	return ref
}

// Ref is a reference in a schema.
type Ref struct {
	Place  string // the JSON pointer of the object that has it
	Target string
}

// The keywords whose values hold other schemas.
var (
	schemaKeywords = []string{
		"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	listKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	mapKeywords  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// visit calls do for a schema and for all schemas inside of it, with their places.
func visit(schema any, place string, do func(place string, schema map[string]any)) {
	members, ok := schema.(map[string]any)
	if !ok {
		return
	}
	do(place, members)
	for _, keyword := range schemaKeywords {
		visit(members[keyword], place+"/"+keyword, do)
	}
	for _, keyword := range listKeywords {
		list, _ := members[keyword].([]any)
		for i, one := range list {
			visit(one, place+"/"+keyword+"/"+strconv.Itoa(i), do)
		}
	}
	for _, keyword := range mapKeywords {
		named, _ := members[keyword].(map[string]any)
		for _, name := range sortedKeys(named) {
			visit(named[name], place+"/"+keyword+"/"+Escape(name), do)
		}
	}
}

// Refs returns the references of a schema.
func Refs(schema any) (refs []Ref) {
	visit(schema, "", func(place string, members map[string]any) {
		if target, ok := members["$ref"].(string); ok {
			refs = append(refs, Ref{place, target})
		}
	})
	return refs
}

// Rebase changes the references of a schema that is put at a place of a document.
func Rebase(schema any, place string) {
	visit(schema, "", func(_ string, members map[string]any) {
		if ref, ok := members["$ref"].(string); ok {
			members["$ref"] = Rebased(ref, place)
		}
	})
}

// Dangling returns the first local reference of a schema that names nothing.
func Dangling(schema any) (ref Ref, found bool) {
	for _, ref := range Refs(schema) {
		if IsLocal(ref.Target) && !resolves(schema, ref.Target) {
			return ref, true
		}
	}
	return Ref{}, false
}

// resolves reports whether a reference that begins with "#" names something in a document.
func resolves(document any, ref string) bool {
	fragment, err := url.PathUnescape(ref[1:])
	switch {
	case err != nil:
		return false
	case fragment == "":
		return true
	case strings.HasPrefix(fragment, "/"):
		return At(document, fragment)
	}
	found := false
	visit(document, "", func(_ string, members map[string]any) {
		found = found || members["$anchor"] == fragment || members["$dynamicAnchor"] == fragment
	})
	return found
}

// At reports whether a document has a value at a JSON pointer.
func At(document any, pointer string) bool {
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch value := document.(type) {
		case map[string]any:
			inner, ok := value[part]
			if !ok {
				return false
			}
			document = inner
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(value) {
				return false
			}
			document = value[i]
		default:
			return false
		}
	}
	return true
}

// Escape returns a name as a JSON pointer has it.
func Escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}

// Decode reads one JSON value.
func Decode(text []byte) (value any, err error) {
	err = json.Unmarshal(text, &value)
	return value, err
}
