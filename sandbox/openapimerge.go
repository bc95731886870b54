package sandbox

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// mergeYAML adds documents to another, of which JSON is one too: members of mappings are merged,
// tags that an added document lacks stay behind its own, and anything else is replaced. Anchors
// are written out, and x-headers, which holds the anchors of description.yaml, is left out. An
// empty document adds nothing.
func mergeYAML(base []byte, added ...string) (*yaml.Node, error) {
	var to yaml.Node
	if err := yaml.Unmarshal(base, &to); err != nil {
		return nil, err
	}
	for _, text := range added {
		var from yaml.Node
		if err := yaml.Unmarshal([]byte(text), &from); err != nil {
			return nil, err
		}
		if len(from.Content) > 0 {
			merge(to.Content[0], resolved(from.Content[0]))
		}
	}
	return resolved(to.Content[0]), nil
}

// writeJSON writes a document without anchors as JSON, its members in the same order.
func writeJSON(w *bytes.Buffer, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var value any = n.Value
		if n.Tag != "!!timestamp" { // a date is a text
			if err := n.Decode(&value); err != nil {
				return err
			}
		}
		text, err := json.Marshal(value)
		w.Write(text)
		return err
	}
	opening, closing := byte('['), byte(']')
	if n.Kind == yaml.MappingNode {
		opening, closing = '{', '}'
	}
	w.WriteByte(opening)
	for i, one := range n.Content {
		isName := n.Kind == yaml.MappingNode && i%2 == 0
		switch {
		case i == 0:
		case n.Kind == yaml.MappingNode && !isName:
			w.WriteByte(':')
		default:
			w.WriteByte(',')
		}
		if isName { // a status is a number in YAML
			name, err := json.Marshal(one.Value)
			if err != nil {
				return err
			}
			w.Write(name)
			continue
		}
		if err := writeJSON(w, one); err != nil {
			return err
		}
	}
	w.WriteByte(closing)
	return nil
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
		case name.Value == "tags" && known.Kind == yaml.SequenceNode:
			known.Content = append(value.Content, slices.DeleteFunc(known.Content, func(tag *yaml.Node) bool {
				return slices.ContainsFunc(value.Content, func(own *yaml.Node) bool { return tagName(own) == tagName(tag) })
			})...)
		default:
			*known = *value
		}
	}
}

// tagName returns the name of an entry of tags, or the text of an operation's tag.
func tagName(tag *yaml.Node) string {
	if name := memberOf(tag, "name"); name != nil {
		return name.Value
	}
	return tag.Value
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
