package main

import (
	"path"

	"go.yaml.in/yaml/v3"
)

// document holds the members of an OpenAPI document that the page shows. Members that it does not
// show are left out.
type document struct {
	Servers []struct{ URL string }
	Tags    []struct {
		Name, Description string
	}
	Paths, Webhooks ordered[pathItem]
	Components      struct {
		Schemas    ordered[schema]
		Parameters map[string]parameter
		Responses  map[string]responseSpec
	}
}

// ordered is a mapping in the order in which it is written.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		one := entry[T]{Name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&one.Value); err != nil {
			return err
		}
		*o = append(*o, one)
	}
	return nil
}

type pathItem struct {
	Servers                       []struct{ URL string }
	Parameters                    []parameter
	Get, Put, Post, Patch, Delete *operation
}

type operation struct {
	OperationID          string `yaml:"operationId"`
	Tags                 []string
	Summary, Description string
	Security             []map[string][]string
	Parameters           []parameter
	RequestBody          struct{ Content ordered[media] } `yaml:"requestBody"`
	Responses            ordered[responseSpec]
}

type parameter struct {
	Ref                   string `yaml:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
	Example               any
}

type responseSpec struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[struct{}]
	Content     ordered[media]
}

type media struct {
	Schema  schema
	Example any
}

type schema struct {
	Ref         string   `yaml:"$ref"`
	Type        wordList // one, or several
	Format      string
	Description string
	Enum        []any
	Const       any
	Properties  ordered[schema]
	Required    []string
	Items       *schema
	OneOf       []schema `yaml:"oneOf"`
	AnyOf       []schema `yaml:"anyOf"`
	Example     any
	Examples    []any
}

// wordList is one word or a list of them.
type wordList []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *wordList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*w = wordList{node.Value}
		return nil
	}
	return node.Decode((*[]string)(w))
}

// componentOf returns the last part of a reference, which is the name of a component.
func componentOf(ref string) string { return path.Base(ref) }
