package apierror

import (
	"encoding/json"
	"reflect"
)

// An Optional is a member of a body of which it matters whether it was sent, as in
// a PATCH. The zero value was not. [DecodeJSON] judges the value as it judges a T.
type Optional[T any] struct {
	// IsSent reports that the member was there, as null too.
	IsSent bool
	// Value is nil for null.
	Value *T
}

// Sent is an [Optional] with a value.
func Sent[T any](value T) Optional[T] { return Optional[T]{IsSent: true, Value: &value} }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	o.IsSent = true
	return json.Unmarshal(raw, &o.Value)
}

func (Optional[T]) valueType() reflect.Type { return reflect.TypeFor[*T]() }
