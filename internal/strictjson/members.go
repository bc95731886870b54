package strictjson

import (
	"reflect"
	"slices"
	"strings"
)

// membersOf lists the members that encoding/json fills in a struct, by their
// exact names. Like there, an outer field hides an embedded one, and of two at
// the same depth a tagged one wins, or none.
func membersOf(t reflect.Type) map[string]reflect.Type {
	members := map[string]reflect.Type{}
	hidden := map[string]bool{}
	seen := map[reflect.Type]bool{}
	for level := []reflect.Type{t}; len(level) > 0; {
		found := map[string][]member{}
		var deeper []reflect.Type
		for _, structType := range level {
			seen[structType] = true
			for field := range structType.Fields() {
				m, embedded := memberOf(field)
				switch {
				case embedded != nil:
					deeper = append(deeper, embedded)
				case m.name != "":
					found[m.name] = append(found[m.name], m)
				}
			}
		}
		for name, candidates := range found {
			if winner, ok := dominant(candidates); ok && !hidden[name] {
				members[name] = winner.typ
			}
			hidden[name] = true
		}
		level = slices.DeleteFunc(deeper, func(t reflect.Type) bool { return seen[t] })
	}
	return members
}

type member struct {
	name   string
	typ    reflect.Type // nil if only encoding/json can check it
	tagged bool
}

// memberOf reads a field: a member, or a struct whose members count as its own,
// or neither.
func memberOf(field reflect.StructField) (m member, embedded reflect.Type) {
	tag := field.Tag.Get("json")
	if tag == "-" {
		return member{}, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	inner := field.Type
	if field.Anonymous && inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	isEmbedded := field.Anonymous && inner.Kind() == reflect.Struct
	if !field.IsExported() && !isEmbedded {
		return member{}, nil
	}
	if isEmbedded && name == "" {
		return member{}, inner
	}
	m = member{name: name, typ: field.Type, tagged: name != ""}
	if name == "" {
		m.name = field.Name
	}
	if strings.Contains(options, "string") {
		m.typ = nil // the value stands in quotes
	}
	return m, nil
}

func dominant(candidates []member) (member, bool) {
	if len(candidates) == 1 {
		return candidates[0], true
	}
	var winner member
	tagged := 0
	for _, c := range candidates {
		if c.tagged {
			winner = c
			tagged++
		}
	}
	return winner, tagged == 1
}
