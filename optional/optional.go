// Package optional has the members of a change that can be left out.
package optional

import (
	"encoding/json"
	"reflect"
)

// A Member is a member of a JSON object that is absent, null or a value, as in a PATCH. The zero
// value is absent.
type Member[T any] struct {
	// IsSent reports that the member was present, null included.
	IsSent bool
	// Value is nil for null and for an absent member.
	Value *T
}

// Of returns a [Member] with a value.
func Of[T any](value T) Member[T] { return Member[T]{IsSent: true, Value: &value} }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Member[T]) UnmarshalJSON(raw []byte) error {
	m.IsSent = true
	return json.Unmarshal(raw, &m.Value)
}

// ValueType returns the type of Value, for decoders that check a value before they decode it.
func (Member[T]) ValueType() reflect.Type { return reflect.TypeFor[*T]() }
