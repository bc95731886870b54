package reference

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// section is the operations of a tag, or the shapes of bodies.
type section struct {
	ID, Title, Text string
	Operations      []operationView
	Shapes          []shapeView
}

type operationView struct {
	ID, Method, Path, Host string
	Summary, Text          string
	Needs                  []way
	Parameters             []row
	Bodies                 []bodyView
	Call                   call
	Responses              []responseView
}

type bodyView struct {
	Type  string // the media type
	Shape typeView
	Rows  []row // of a shape without a name

	Example string
}

type responseView struct {
	Status, Text string
	Headers      []string
	Bodies       []bodyView
}

type shapeView struct {
	ID, Name, Text string
	Type           typeView // where there are no rows
	Rows           []row
}

type row struct {
	Name, In, Text string
	Required       bool
	Type           typeView
}

// typeView is a type in words, with the shapes that it names.
type typeView struct {
	Text   string
	Shapes []string
}

// The titles of what a document does not name.
const (
	untagged    = "Other"
	shapesTitle = "Shapes"
)

// sections returns what the pages of a document show: sections in the order of the tags,
// operations in that of the paths, and the shapes of bodies.
func (d document) sections() []section {
	var all []section
	ids := names{"assets": true} // the path of the style sheet
	add := func(title, text string) {
		all = append(all, section{ID: ids.unique(strings.ToLower(title)), Title: title, Text: text})
	}
	for _, tag := range d.Tags {
		add(tag.Name, tag.Description)
	}
	anchors := names{}
	for _, item := range slices.Concat(d.Paths, d.Webhooks) {
		for _, one := range d.operations(item, anchors) {
			if len(one.tags) == 0 {
				one.tags = []string{untagged}
			}
			for _, tag := range one.tags {
				i := slices.IndexFunc(all, func(s section) bool { return s.Title == tag })
				if i < 0 {
					i = len(all)
					add(tag, "")
				}
				all[i].Operations = append(all[i].Operations, one.operationView)
			}
		}
	}
	if len(d.Components.Schemas) == 0 {
		return all
	}
	add(shapesTitle, "What bodies are made of.")
	shapes := &all[len(all)-1]
	for _, s := range d.Components.Schemas {
		id := anchors.unique("shape-" + s.Name)
		shapes.Shapes = append(shapes.Shapes, shapeView{ID: id, Name: s.Name, Text: s.Value.Description, Type: typeOf(s.Value), Rows: rowsOf(s.Value)})
	}
	return all
}

type taggedOperation struct {
	operationView
	tags []string
}

// operations returns the operations of a path. Their ids are added to the anchors.
func (d document) operations(item entry[pathItem], anchors names) []taggedOperation {
	var all []taggedOperation
	v := item.Value
	for _, by := range []struct {
		method string
		*operation
	}{
		{"GET", v.Get}, {"POST", v.Post}, {"PUT", v.Put}, {"PATCH", v.Patch}, {"DELETE", v.Delete},
		{"HEAD", v.Head}, {"OPTIONS", v.Options}, {"TRACE", v.Trace},
	} {
		if by.operation == nil {
			continue
		}
		if by.RequestBody.Ref != "" {
			by.RequestBody = d.Components.RequestBodies[componentOf(by.RequestBody.Ref)]
		}
		hosts := make([]string, 0, len(v.Servers))
		for _, server := range slices.Concat(by.Servers, v.Servers) {
			hosts = append(hosts, server.URL)
		}
		one := operationView{
			ID: anchors.unique(cmp.Or(by.OperationID, strings.ToLower(by.method)+" "+item.Name)), Method: by.method, Path: item.Name, Host: strings.Join(hosts, ", "),
			Summary: by.Summary, Text: by.Description, Needs: d.needs(by.Security), Bodies: d.bodiesOf(by.RequestBody.Content),
		}
		parameters := d.resolved(slices.Concat(v.Parameters, by.Parameters))
		for _, p := range parameters {
			one.Parameters = append(one.Parameters, row{Name: p.Name, In: p.In, Text: p.Description, Required: p.Required, Type: typeOf(p.Schema)})
		}
		one.Call = d.call(one, d.server(hosts), parameters)
		for _, a := range by.Responses {
			one.Responses = append(one.Responses, d.response(a))
		}
		all = append(all, taggedOperation{one, by.Tags})
	}
	return all
}

func (d document) response(a entry[responseSpec]) responseView {
	spec := a.Value
	if spec.Ref != "" {
		spec = d.Components.Responses[componentOf(spec.Ref)]
	}
	headers := make([]string, len(spec.Headers))
	for i, h := range spec.Headers {
		headers[i] = h.Name
	}
	return responseView{Status: a.Name, Text: spec.Description, Headers: headers, Bodies: d.bodiesOf(spec.Content)}
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

// names are the ids that are taken.
type names map[string]bool

// unique returns an id made of a name that no other name has.
func (n names) unique(name string) string {
	id := anchor(name)
	for i := 2; n[id]; i++ {
		id = anchor(name) + "-" + strconv.Itoa(i)
	}
	n[id] = true
	return id
}

// anchor returns a name as a part of an address, where a hyphen stands for anything but letters
// and digits.
func anchor(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.-", r)
	})
	return cmp.Or(strings.Trim(strings.Join(words, "-"), "."), "unnamed")
}
