package client

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Error is a response of the API that is not a success. Branch on Code, and on
// Status where there is none; messages are for people and may be reworded.
type Error struct {
	Status   int
	Code     string // empty for validation failures, and for what is not mapped
	Messages []string
}

func (e *Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Status, e.Code, strings.Join(e.Messages, "; ")))
}

// parseError reads what it can: a proxy in between may send anything.
func parseError(status int, text []byte) *Error {
	var body struct {
		Code    string          `json:"code"`
		Message json.RawMessage `json:"message"` // a text, or a list of them
	}
	e := &Error{Status: status}
	if json.Unmarshal(text, &body) != nil {
		return e
	}
	e.Code = body.Code
	var one string
	if json.Unmarshal(body.Message, &one) == nil {
		e.Messages = []string{one}
		return e
	}
	_ = json.Unmarshal(body.Message, &e.Messages)
	return e
}
