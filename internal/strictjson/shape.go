package strictjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"
)

// A kind is what a place of the body may hold, in the words of the message that
// says so.
type kind string

const (
	kindAny     kind = ""
	kindObject  kind = "an object"
	kindArray   kind = "an array"
	kindString  kind = "a string"
	kindBase64  kind = "a base64 string"
	kindTime    kind = "an RFC 3339 time"
	kindBoolean kind = "a boolean"
	kindInteger kind = "an integer"
	kindNatural kind = "an integer of at least 0"
	kindNumber  kind = "a number"
)

// A shape is what encoding/json would make of a Go type.
type shape struct {
	kind      kind
	mayBeNull bool                    // null is accepted too
	bits      int                     // of integers and numbers; 0 means any
	length    int                     // of a Go array; -1 elsewhere
	elem      reflect.Type            // of arrays and maps; nil means anything
	members   map[string]reflect.Type // of structs; nil elsewhere
	decodes   func(raw []byte) error  // for types that decode themselves
}

var (
	numberType      = reflect.TypeFor[json.Number]()
	timeType        = reflect.TypeFor[time.Time]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	textType        = reflect.TypeFor[encoding.TextUnmarshaler]()
	optionalType    = reflect.TypeFor[optionalMember]()

	// anything is the shape of places that are not decoded.
	anything = &shape{kind: kindAny, mayBeNull: true, length: -1}

	// shapes caches by reflect.Type, as encoding/json does; its size is bounded
	// by the types of the program.
	shapes sync.Map
)

func shapeOf(t reflect.Type) *shape {
	if t == nil {
		return anything
	}
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	known, _ := shapes.LoadOrStore(t, newShape(t))
	return known.(*shape)
}

// optionalMember is any optional.Member.
type optionalMember interface{ ValueType() reflect.Type }

func newShape(t reflect.Type) *shape {
	s := &shape{length: -1}
	switch {
	case t.Implements(optionalType) && t.Kind() == reflect.Struct:
		return shapeOf(reflect.Zero(t).Interface().(optionalMember).ValueType())
	case t.Kind() == reflect.Pointer:
		*s = *shapeOf(t.Elem())
		s.mayBeNull = true
		return s
	case t == numberType:
		s.kind = kindNumber
		return s
	case t == timeType:
		s.kind, s.decodes = kindTime, decodesItself(t)
		return s
	case reflect.PointerTo(t).Implements(unmarshalerType):
		s.kind, s.mayBeNull, s.decodes = kindAny, true, decodesItself(t)
		return s
	case reflect.PointerTo(t).Implements(textType):
		s.kind, s.decodes = kindString, decodesItself(t)
		return s
	}
	switch t.Kind() {
	case reflect.Interface:
		// Numbers become float64 there, so they must fit one.
		s.mayBeNull, s.bits, s.elem = true, 64, t
	case reflect.Struct:
		s.kind, s.members = kindObject, membersOf(t)
	case reflect.Map:
		s.kind, s.mayBeNull, s.elem = kindObject, true, t.Elem()
		if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textType) {
			s.decodes = decodesItself(t) // its names have rules of their own
		}
	case reflect.Slice:
		s.kind, s.mayBeNull, s.elem = kindArray, true, t.Elem()
		if t.Elem().Kind() == reflect.Uint8 && shapeOf(t.Elem()).decodes == nil {
			s.kind, s.decodes = kindBase64, decodesItself(t)
		}
	case reflect.Array:
		s.kind, s.elem, s.length = kindArray, t.Elem(), t.Len()
	case reflect.String:
		s.kind = kindString
	case reflect.Bool:
		s.kind = kindBoolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.kind, s.bits = kindInteger, t.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		s.kind, s.bits = kindNatural, t.Bits()
	case reflect.Float32, reflect.Float64:
		s.kind, s.bits = kindNumber, t.Bits()
	}
	return s
}

// decodesItself asks the type, through encoding/json, about one value.
func decodesItself(t reflect.Type) func([]byte) error {
	return func(raw []byte) error { return json.Unmarshal(raw, reflect.New(t).Interface()) }
}
