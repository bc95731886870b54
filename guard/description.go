package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Description documents a route in the API description, beside its pattern, scope
// and permission and the errors that every route can return. Every member is optional.
// Schemas are JSON Schemas (2020-12). They can refer to Config.Schemas of the platform as
// "#/components/schemas/Name".
type Description struct {
	// ID names the operation for programs, such as listInvoices; empty: a name made from
	// the pattern.
	ID string `json:"id"`
	// Tag groups operations; empty: the first part of the path.
	Tag string `json:"tag"`
	// Summary says in a few words what the route does, Text says the rest.
	Summary string `json:"summary"`
	Text    string `json:"text"`
	// Query are the query parameters.
	Query []QueryParameter `json:"query"`
	// Request is the schema of a JSON body; nil: there is none.
	Request json.RawMessage `json:"request"`
	// Response is the schema of the JSON body of a success; nil: there is none.
	Response json.RawMessage `json:"response"`
	// Result describes the response, and Example shows one.
	Result  string          `json:"result"`
	Example json.RawMessage `json:"example"`
	// Status of a success; 0 means 200, or 204 without a Response.
	Status int `json:"status"`
	// HasLocation reports that a success has a Location header.
	HasLocation bool `json:"hasLocation"`
	// Errors are further statuses of errors. A route whose path has parameters can
	// return 404 in any case.
	Errors []int `json:"errors"`
}

// QueryParameter is a parameter in the query of a request.
type QueryParameter struct {
	Name     string `json:"name"`
	Text     string `json:"text"`
	Required bool   `json:"required"`
	// Schema of the value; nil means a string.
	Schema json.RawMessage `json:"schema"`
}

func (d Description) check() error {
	schemas := map[string]json.RawMessage{"Request": d.Request, "Response": d.Response}
	for _, p := range d.Query {
		if p.Name == "" {
			return errors.New("a query parameter has no name")
		}
		schemas["Query "+p.Name] = p.Schema
	}
	for name, schema := range schemas {
		if schema != nil && (!json.Valid(schema) || !bytes.HasPrefix(bytes.TrimSpace(schema), []byte("{"))) {
			return fmt.Errorf("%s is not a JSON object; a JSON Schema is one", name)
		}
	}
	switch {
	case d.Example != nil && !json.Valid(d.Example):
		return errors.New("the Example is not JSON")
	case d.Status != 0 && (d.Status < 200 || d.Status > 299):
		return fmt.Errorf("the Status %d is not a success; list error statuses in Errors", d.Status)
	}
	for _, status := range d.Errors {
		if status < 400 || status > 599 {
			return fmt.Errorf("%d in Errors is not an error status", status)
		}
	}
	return nil
}
