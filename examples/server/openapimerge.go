package main

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// mergeYAML adds a document to another, of which JSON is one too: members of mappings are
// merged, anything else is replaced. Anchors are written out, and x-headers, which holds
// the anchors of description.yaml, is left out.
func mergeYAML(base, added []byte) ([]byte, error) {
	var to, from yaml.Node
	if err := yaml.Unmarshal(base, &to); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(added, &from); err != nil {
		return nil, err
	}
	merge(to.Content[0], resolved(from.Content[0]))
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(resolved(to.Content[0]))
	return out.Bytes(), err
}

func merge(to, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		name, value := from.Content[i], from.Content[i+1]
		known := memberOf(to, name.Value)
		switch {
		case name.Value == "x-headers":
		case known == nil:
			to.Content = append(to.Content, name, value)
		case known.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			merge(known, value)
		default:
			*known = *value
		}
	}
}

func memberOf(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// resolved returns a copy without anchors, comments and styles.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return resolved(n.Alias)
	}
	plain := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	for _, one := range n.Content {
		plain.Content = append(plain.Content, resolved(one))
	}
	return plain
}
