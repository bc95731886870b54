package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// descriptionSection is the operations of a tag, or the shapes of bodies.
type descriptionSection struct {
	ID, Title, Text string
	Operations      []descriptionOperation
	Shapes          []descriptionShape
}

type descriptionOperation struct {
	ID, Method, Path, Host string
	Server, Call           string // the base URL of the example, and the example
	Summary, Text, Needs   string
	Parameters             []descriptionRow
	Bodies                 []descriptionBody
	Responses              []descriptionResponse
}

type descriptionBody struct {
	Type  string // the media type
	Shape descriptionType
	Rows  []descriptionRow // of a shape without a name

	Example string
}

type descriptionResponse struct {
	Status, Text, Headers string
	Bodies                []descriptionBody
}

type descriptionShape struct {
	Name, Text string
	Type       descriptionType // where there are no rows
	Rows       []descriptionRow
}

type descriptionRow struct {
	Name, In, Text string
	Required       bool
	Type           descriptionType
}

// descriptionType is a type in words, with the shapes that it names.
type descriptionType struct {
	Text   string
	Shapes []string
}

// newDescriptionPage reads a description into what the page shows: sections in the
// order of the tags, operations in that of the paths.
func newDescriptionPage(source []byte) ([]descriptionSection, error) {
	var d document
	if err := yaml.Unmarshal(source, &d); err != nil {
		return nil, err
	}
	sections := make([]descriptionSection, 0, len(d.Tags)+1)
	for _, tag := range d.Tags {
		sections = append(sections, descriptionSection{ID: anchor(tag.Name), Title: tag.Name, Text: tag.Description})
	}
	for _, item := range slices.Concat(d.Paths, d.Webhooks) {
		for _, one := range d.operations(item) {
			for i := range sections {
				if slices.Contains(one.tags, sections[i].Title) {
					sections[i].Operations = append(sections[i].Operations, one.descriptionOperation)
				}
			}
		}
	}
	shapes := descriptionSection{ID: "shapes", Title: "Shapes", Text: "What bodies are made of."}
	for _, s := range d.Components.Schemas {
		shapes.Shapes = append(shapes.Shapes, descriptionShape{Name: s.Name, Text: s.Value.Description, Type: typeOf(s.Value), Rows: rowsOf(s.Value)})
	}
	return append(sections, shapes), nil
}

type taggedOperation struct {
	descriptionOperation
	tags []string
}

func (d document) operations(item entry[pathItem]) []taggedOperation {
	var all []taggedOperation
	hosts := make([]string, len(item.Value.Servers))
	for i, server := range item.Value.Servers {
		hosts[i] = server.URL
	}
	for _, by := range []struct {
		method string
		*operation
	}{{"GET", item.Value.Get}, {"POST", item.Value.Post}, {"PUT", item.Value.Put}, {"PATCH", item.Value.Patch}, {"DELETE", item.Value.Delete}} {
		if by.operation == nil {
			continue
		}
		one := descriptionOperation{
			ID: by.OperationID, Method: by.method, Path: item.Name, Host: strings.Join(hosts, ", "),
			Summary: by.Summary, Text: by.Description, Needs: needs(by.Security), Bodies: d.bodiesOf(by.RequestBody.Content), Server: d.server(hosts),
		}
		parameters := d.resolved(slices.Concat(item.Value.Parameters, by.Parameters))
		one.Call = d.exampleCall(one, parameters)
		for _, p := range parameters {
			one.Parameters = append(one.Parameters, descriptionRow{Name: p.Name, In: p.In, Text: p.Description, Required: p.Required, Type: typeOf(p.Schema)})
		}
		for _, a := range by.Responses {
			one.Responses = append(one.Responses, d.response(a))
		}
		all = append(all, taggedOperation{one, by.Tags})
	}
	return all
}

func (d document) response(a entry[responseSpec]) descriptionResponse {
	spec := a.Value
	if spec.Ref != "" {
		spec = d.Components.Responses[componentOf(spec.Ref)]
	}
	headers := make([]string, len(spec.Headers))
	for i, h := range spec.Headers {
		headers[i] = h.Name
	}
	return descriptionResponse{Status: a.Name, Text: spec.Description, Headers: strings.Join(headers, ", "), Bodies: d.bodiesOf(spec.Content)}
}

// resolved are parameters without references.
func (d document) resolved(parameters []parameter) []parameter {
	for i, p := range parameters {
		if p.Ref != "" {
			parameters[i] = d.Components.Parameters[componentOf(p.Ref)]
		}
	}
	return parameters
}

// server returns the base URL of an operation: the first one of its own, or of the description.
func (d document) server(own []string) string {
	if len(own) > 0 {
		return own[0]
	}
	if len(d.Servers) > 0 {
		return d.Servers[0].URL
	}
	return ""
}
