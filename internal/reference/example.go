package reference

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// maxExampleDepth ends the examples of shapes that contain themselves.
const maxExampleDepth = 6

// exampleBody returns an example of a body: the one of the description, or one made of the
// schema. It is empty for media types that are not text.
func (d document) exampleBody(mediaType string, m media) string {
	value := m.Example
	if value == nil && len(m.Examples) > 0 {
		value = m.Examples[0].Value.Value
	}
	if value == nil {
		value = d.example(m.Schema, 0)
	}
	switch {
	case isJSON(mediaType):
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return ""
		}
		return string(text)
	case mediaType == formType:
		return exampleForm(value)
	}
	return ""
}

const formType = "application/x-www-form-urlencoded"

func isJSON(mediaType string) bool { return strings.HasSuffix(mediaType, "json") }

// exampleForm returns an object as a form, sorted by name.
func exampleForm(value any) string {
	members, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	form := url.Values{}
	for name, member := range members {
		form.Set(name, inWords(member))
	}
	return form.Encode()
}

// example returns a value of a schema: one that the description gives, or a plain one of the
// type. Members that are not required are left out unless the description gives a value.
func (d document) example(s schema, depth int) any {
	switch {
	case depth > maxExampleDepth:
		return nil
	case s.Ref != "":
		return d.example(d.Components.Schemas.find(componentOf(s.Ref)), depth+1)
	case s.Example != nil:
		return s.Example
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.OneOf) > 0:
		return d.example(s.OneOf[0], depth+1)
	case len(s.AnyOf) > 0:
		return d.example(s.AnyOf[0], depth+1)
	case s.Items != nil:
		return []any{d.example(*s.Items, depth+1)}
	case len(s.Properties)+len(s.AllOf) > 0:
		return d.exampleObject(s, depth)
	}
	return plainExample(s)
}

func (d document) exampleObject(s schema, depth int) any {
	object := map[string]any{}
	for _, part := range s.AllOf {
		if members, ok := d.example(part, depth+1).(map[string]any); ok {
			for name, member := range members {
				object[name] = member
			}
		}
	}
	for _, p := range s.Properties {
		given := p.Value.Example != nil || len(p.Value.Examples) > 0
		if given || slices.Contains(s.Required, p.Name) {
			object[p.Name] = d.example(p.Value, depth+1)
		}
	}
	return object
}

// plainExample returns a value of a type about which the description says nothing else.
func plainExample(s schema) any {
	if len(s.Type) == 0 {
		return map[string]any{}
	}
	switch s.Type[0] {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	case "null":
		return nil
	}
	switch s.Format {
	case "date-time":
		return "2026-09-01T12:00:00Z"
	case "date":
		return "2026-09-01"
	case "uri":
		return "https://example.com/"
	}
	return "text"
}

func (d document) exampleParameter(p parameter) string {
	if p.Example != nil {
		return inWords(p.Example)
	}
	return inWords(d.example(p.Schema, 0))
}
