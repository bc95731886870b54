package reference

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

func (d document) bodiesOf(content ordered[media]) []bodyView {
	bodies := make([]bodyView, len(content))
	for i, one := range content {
		bodies[i] = bodyView{Type: one.Name, Shape: typeOf(one.Value.Schema), Rows: rowsOf(one.Value.Schema), Example: d.exampleBody(one.Name, one.Value)}
	}
	return bodies
}

// way is one of the ways to authenticate a call, with the scopes that it needs.
type way struct {
	Name   string
	Scopes string
	scheme securityScheme
}

// needs returns the ways to authenticate an operation, in the order of the document. A way
// without a name is no authentication.
func (d document) needs(security []map[string][]string) []way {
	if security == nil {
		security = d.Security
	}
	ways := make([]way, 0, len(security))
	for _, requirement := range security {
		if len(requirement) == 0 {
			ways = append(ways, way{})
		}
		for _, name := range slices.Sorted(maps.Keys(requirement)) {
			ways = append(ways, way{Name: name, Scopes: strings.Join(requirement[name], " "), scheme: d.Components.SecuritySchemes[name]})
		}
	}
	return ways
}

func rowsOf(s schema) []row {
	rows := make([]row, len(s.Properties))
	for i, p := range s.Properties {
		rows[i] = row{Name: p.Name, Text: p.Value.Description, Required: slices.Contains(s.Required, p.Name), Type: typeOf(p.Value)}
	}
	return rows
}

// typeOf puts a schema into words.
func typeOf(s schema) typeView {
	switch {
	case s.Ref != "":
		return typeView{Shapes: []string{componentOf(s.Ref)}}
	case s.Items != nil:
		item := typeOf(*s.Items)
		return typeView{Text: strings.TrimSpace("list of " + item.Text), Shapes: item.Shapes}
	case len(s.OneOf)+len(s.AnyOf) > 0:
		return joined("one of", slices.Concat(s.OneOf, s.AnyOf))
	case len(s.AllOf) > 0:
		return joined("all of", s.AllOf)
	case s.Const != nil:
		return typeView{Text: inWords(s.Const)}
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			words[i] = inWords(value)
		}
		return typeView{Text: strings.Join(words, ", ")}
	}
	text := strings.Join(s.Type, " or ")
	if s.Format != "" {
		text += " (" + s.Format + ")"
	}
	return typeView{Text: text}
}

func joined(text string, schemas []schema) typeView {
	all := typeView{Text: text}
	for _, one := range schemas {
		t := typeOf(one)
		all.Shapes = append(all.Shapes, t.Shapes...)
		if t.Text != "" {
			all.Text += " " + t.Text
		}
	}
	return all
}

// inWords returns a value of the document: a text as it is, and anything else as JSON.
func inWords(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), `","`, `", "`) // so that lines end between the values
}
