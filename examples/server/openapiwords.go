package main

import (
	"fmt"
	"slices"
	"strings"
)

func (d document) bodiesOf(content ordered[media]) []descriptionBody {
	bodies := make([]descriptionBody, len(content))
	for i, one := range content {
		bodies[i] = descriptionBody{Type: one.Name, Shape: typeOf(one.Value.Schema), Rows: rowsOf(one.Value.Schema), Example: d.exampleBody(one.Name, one.Value)}
	}
	return bodies
}

// needs describes the security requirements of an operation.
func needs(security []map[string][]string) string {
	ways := make([]string, 0, len(security))
	for _, way := range security {
		for scheme, scopes := range way { // there is one, or none
			ways = append(ways, strings.TrimSpace(scheme+" "+strings.Join(scopes, " ")))
		}
	}
	return strings.Join(ways, ", or ")
}

func rowsOf(s schema) []descriptionRow {
	rows := make([]descriptionRow, len(s.Properties))
	for i, p := range s.Properties {
		rows[i] = descriptionRow{Name: p.Name, Text: p.Value.Description, Required: slices.Contains(s.Required, p.Name), Type: typeOf(p.Value)}
	}
	return rows
}

// typeOf puts a schema into words.
func typeOf(s schema) descriptionType {
	switch {
	case s.Ref != "":
		return descriptionType{Shapes: []string{componentOf(s.Ref)}}
	case s.Items != nil:
		item := typeOf(*s.Items)
		return descriptionType{Text: strings.TrimSpace("list of " + item.Text), Shapes: item.Shapes}
	case len(s.OneOf)+len(s.AnyOf) > 0:
		all := descriptionType{Text: "one of"}
		for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
			t := typeOf(one)
			all.Shapes = append(all.Shapes, t.Shapes...)
			if t.Text != "" {
				all.Text += " " + t.Text
			}
		}
		return all
	case s.Const != nil:
		return descriptionType{Text: fmt.Sprint(s.Const)}
	case len(s.Enum) > 0:
		return descriptionType{Text: strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")}
	}
	text := strings.Join(s.Type, " or ")
	if s.Format != "" {
		text += " (" + s.Format + ")"
	}
	return descriptionType{Text: text}
}

func anchor(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "-")) }
