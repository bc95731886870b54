package apierror

import (
	"encoding/json"
	"reflect"
)

// An Optional is a member of a body that is absent, null or a value, as in a PATCH. The
// zero value is absent. [DecodeJSON] checks the value as it checks a T.
type Optional[T any] struct {
	// IsSent reports that the member was present, null included.
	IsSent bool
	// Value is nil for null and for an absent member.
	Value *T
}

// Sent returns an [Optional] with a value.
func Sent[T any](value T) Optional[T] { return Optional[T]{IsSent: true, Value: &value} }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	o.IsSent = true
	return json.Unmarshal(raw, &o.Value)
}

func (Optional[T]) valueType() reflect.Type { return reflect.TypeFor[*T]() }
