package appdata

import (
	"bytes"
	"encoding/json"
)

// Member is a member of a [Declaration]: absent, null or a value. The zero value is
// absent. Decoding one never fails: a value of the wrong type is remembered, and
// named together with everything else that is wrong.
type Member[T any] struct {
	state memberState
	value T
}

type memberState string

const (
	isAbsent   memberState = ""
	isNull     memberState = "null"
	isGiven    memberState = "given"
	isUnlikely memberState = "of the wrong type"
)

// Given is a member with a value.
func Given[T any](value T) Member[T] { return Member[T]{isGiven, value} }

// Null is a member that takes away what is there.
func Null[T any]() Member[T] { return Member[T]{state: isNull} }

// UnmarshalJSON implements json.Unmarshaler.
func (m *Member[T]) UnmarshalJSON(data []byte) error {
	var value T
	_, isNumber := any(value).(json.Number) // which would take a number in quotes too
	switch {
	case string(data) == "null":
		*m = Null[T]()
	case isNumber && bytes.HasPrefix(data, []byte(`"`)), json.Unmarshal(data, &value) != nil:
		*m = Member[T]{state: isUnlikely}
	default:
		*m = Given(value)
	}
	return nil
}
