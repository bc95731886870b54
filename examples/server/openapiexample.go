package main

import (
	"encoding/json"
	"fmt"
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
	if value == nil {
		value = d.example(m.Schema, 0)
	}
	switch {
	case strings.HasSuffix(mediaType, "json"):
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return ""
		}
		return string(text)
	case mediaType == "application/x-www-form-urlencoded":
		return exampleForm(value)
	}
	return ""
}

// exampleForm returns an object as a form, sorted by name.
func exampleForm(value any) string {
	members, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	form := url.Values{}
	for name, member := range members {
		form.Set(name, fmt.Sprint(member))
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
	case len(s.Properties) > 0:
		return d.exampleObject(s, depth)
	}
	return plainExample(s)
}

func (d document) exampleObject(s schema, depth int) any {
	object := map[string]any{}
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

// find returns the value with the name; zero if there is none.
func (o ordered[T]) find(name string) (found T) {
	for _, one := range o {
		if one.Name == name {
			return one.Value
		}
	}
	return found
}

// exampleCall returns an operation as a command of a shell. A webhook has none: the platform
// calls it.
func (d document) exampleCall(one descriptionOperation, parameters []parameter) string {
	if !strings.HasPrefix(one.Path, "/") {
		return ""
	}
	target, query := one.Path, url.Values{}
	lines := []string{}
	for _, p := range parameters {
		value := fmt.Sprint(d.exampleParameter(p))
		switch {
		case p.In == "path":
			target = strings.ReplaceAll(target, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && p.Required:
			query.Set(p.Name, value)
		case p.In == "header" && p.Required:
			lines = append(lines, "-H '"+p.Name+": "+quoted(value)+"'")
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	lines = append(lines, authentication(one.Needs)...)
	if len(one.Bodies) > 0 && one.Bodies[0].Example != "" {
		lines = append(lines, "-H 'Content-Type: "+one.Bodies[0].Type+"'", "-d '"+quoted(one.Bodies[0].Example)+"'")
	}
	return strings.Join(append([]string{"curl -X " + one.Method + " '" + quoted(one.Server+target) + "'"}, lines...), " \\\n  ")
}

func (d document) exampleParameter(p parameter) any {
	if p.Example != nil {
		return p.Example
	}
	return d.example(p.Schema, 0)
}

// authentication returns the arguments of a command that authenticate it, by what the call needs.
func authentication(needs string) []string {
	for prefix, argument := range schemes {
		if strings.HasPrefix(needs, prefix) {
			return []string{argument}
		}
	}
	return nil
}

var schemes = map[string]string{ //nolint:gosec // names of variables
	"accessToken":       `-H "Authorization: Bearer $ACCESS_TOKEN"`,
	"clientSecret":      `-u "$CLIENT_ID:$CLIENT_SECRET"`,
	"registrationToken": `-H "Authorization: Bearer $REGISTRATION_TOKEN"`,
	"consoleToken":      `-H "Authorization: Bearer $CONSOLE_TOKEN"`,
	"session":           `-b "$SESSION_COOKIE"`,
}

// quoted returns a text within single quotes of a shell.
func quoted(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }

// matching returns the operations and shapes that contain all the words, ignoring case, in
// their sections. Empty sections are left out. Without words it returns all sections.
func matching(sections []descriptionSection, words []string) (found []descriptionSection, count int) {
	for _, section := range sections {
		section.Operations = slices.DeleteFunc(slices.Clone(section.Operations), func(o descriptionOperation) bool {
			return !hasAll(words, o.ID, o.Method, o.Path, o.Summary, o.Text, o.Needs, section.Title)
		})
		section.Shapes = slices.DeleteFunc(slices.Clone(section.Shapes), func(s descriptionShape) bool {
			return !hasAll(words, s.Name, s.Text)
		})
		if matches := len(section.Operations) + len(section.Shapes); matches > 0 {
			found, count = append(found, section), count+matches
		}
	}
	return found, count
}

func hasAll(words []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) })
}
