package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
)

// document holds the members of an OpenAPI document that the pages show. Other members are
// left out.
type document struct {
	OpenAPI string
	Info    struct {
		Title, Summary, Description string
	}
	ExternalDocs struct{ URL, Description string }
	Servers      []struct{ URL string }
	Security     []map[string][]string // of operations that have none of their own
	Tags         []struct {
		Name, Description string
	}
	Paths, Webhooks ordered[pathItem]
	Components      struct {
		Schemas         ordered[schema]
		Parameters      map[string]parameter
		Responses       map[string]responseSpec
		RequestBodies   map[string]requestBody
		SecuritySchemes map[string]securityScheme
	}

	api string // the origin that a browser may call
}

// readDocument reads an OpenAPI document in JSON.
func readDocument(text []byte) (d document, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return document{}, err
	}
	if d.OpenAPI == "" {
		return document{}, errors.New("it has no member openapi, so that it is not an OpenAPI document")
	}
	return d, nil
}

// ordered is an object in the order in which it is written.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	members := json.NewDecoder(bytes.NewReader(text))
	if first, err := members.Token(); err != nil || first != json.Delim('{') {
		return errors.Join(errors.New("a member is not an object"), err)
	}
	for members.More() {
		name, err := members.Token()
		if err != nil {
			return err
		}
		var one entry[T]
		one.Name, _ = name.(string)
		if err := members.Decode(&one.Value); err != nil {
			return err
		}
		*o = append(*o, one)
	}
	return nil
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

type pathItem struct {
	Servers                                             []struct{ URL string }
	Parameters                                          []parameter
	Get, Put, Post, Patch, Delete, Head, Options, Trace *operation
}

type operation struct {
	OperationID          string
	Tags                 []string
	Summary, Description string
	Security             []map[string][]string
	Servers              []struct{ URL string }
	Parameters           []parameter
	RequestBody          requestBody
	Responses            ordered[responseSpec]
}

type requestBody struct {
	Ref     string `json:"$ref"`
	Content ordered[media]
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
	Example               any
}

type responseSpec struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     ordered[struct{}]
	Content     ordered[media]
}

type media struct {
	Schema   schema
	Example  any
	Examples ordered[struct{ Value any }]
}

type securityScheme struct{ Type, Scheme, In, Name string }

type schema struct {
	Ref         string   `json:"$ref"`
	Type        wordList // one, or several
	Format      string
	Description string
	Enum        []any
	Const       any
	Properties  ordered[schema]
	Required    []string
	Items       *schema
	OneOf       []schema
	AnyOf       []schema
	AllOf       []schema
	Example     any
	Examples    []any
}

// UnmarshalJSON implements json.Unmarshaler. A schema may also be true or false.
func (s *schema) UnmarshalJSON(text []byte) error {
	if text[0] == 't' || text[0] == 'f' {
		return nil
	}
	type plain schema
	return json.Unmarshal(text, (*plain)(s))
}

// wordList is one word or a list of them.
type wordList []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *wordList) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(w))
	}
	*w = make(wordList, 1)
	return json.Unmarshal(text, &(*w)[0])
}

// componentOf returns the last part of a reference, which is the name of a component.
func componentOf(ref string) string { return path.Base(ref) }
