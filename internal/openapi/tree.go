package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// object is a JSON object whose members keep their order. Values are *object, []any,
// string, json.Number, bool, nil or json.RawMessage.
type object struct {
	names  []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

// with sets a member and returns the object.
func (o *object) with(name string, value any) *object {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
	return o
}

func (o *object) has(name string) bool {
	_, ok := o.values[name]
	return ok
}

// object returns the member, which is added if it is absent.
func (o *object) object(name string) *object {
	if inner, ok := o.values[name].(*object); ok {
		return inner
	}
	inner := newObject()
	o.with(name, inner)
	return inner
}

// members yields the members in their order.
func (o *object) members() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, name := range o.names {
			if !yield(name, o.values[name]) {
				return
			}
		}
	}
}

func (o *object) text(name string) string {
	text, _ := o.values[name].(string)
	return text
}

func (o *object) remove(name string) {
	delete(o.values, name)
	for i, other := range o.names {
		if other == name {
			o.names = append(o.names[:i:i], o.names[i+1:]...)
			return
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(name)
		if err != nil {
			return nil, err
		}
		value, err := encode(o.values[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// parse reads one JSON value.
func parse(source []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	return parseValue(d)
}

// parseObject reads one JSON object.
func parseObject(source []byte) (*object, error) {
	value, err := parse(source)
	if err != nil {
		return nil, err
	}
	o, ok := value.(*object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := newObject()
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			o.with(fmt.Sprint(name), value)
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		all := []any{}
		for d.More() {
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		_, err := d.Token()
		return all, err
	}
	return token, nil
}

// walk calls visit for every object in a value, outer ones first.
func walk(value any, visit func(*object)) {
	switch value := value.(type) {
	case *object:
		visit(value)
		for _, name := range value.names {
			walk(value.values[name], visit)
		}
	case []any:
		for _, one := range value {
			walk(one, visit)
		}
	}
}

// texts makes a JSON array of strings.
func texts(all ...string) []any {
	list := make([]any, len(all))
	for i, one := range all {
		list[i] = one
	}
	return list
}

func ref(section, name string) *object {
	return newObject().with("$ref", "#/components/"+section+"/"+name)
}
