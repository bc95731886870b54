package apierror

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/internal/text"
)

// Code names an error for programs. Clients branch on it, so a code never
// changes its meaning; the message beside it may be reworded. docs/errors.md has the codes of
// this module.
type Code string

// An Entry is the declaration of an error with a code: its status and its text.
type Entry struct {
	// Code identifies an error. Clients branch on it. Empty means that the error has none.
	Code Code
	// Status is the HTTP status, 400 to 599.
	Status int
	// Message is English text. {p0}, {p1} … stand for the values that New is
	// given and that the response repeats in params.
	Message string
}

// InsufficientScope is the error of a token that lacks a scope, which is its value. The response
// has a challenge with the scope. The guard checks the scope of a route; a handler that needs
// another scope for some requests returns this error itself.
var InsufficientScope = Entry{Code: "INSUFFICIENT_SCOPE", Status: http.StatusForbidden, Message: "Insufficient scope: this call needs {p0}"}

// New makes the error, with one value for each placeholder of its message. Values are formatted
// like fmt.Sprint does and shown to the client.
//
// Another number of values, or a status that is no error, is a programming error. It does not
// panic, since that would turn a 400 into an outage: missing values are shown as "?", superfluous
// ones are left out, and the log says so.
func (e Entry) New(values ...any) *Error { return e.with(e.params(), values) }

// with makes the error with so many parameters.
func (e Entry) with(params int, values []any) *Error {
	made := &Error{status: e.Status, code: e.Code}
	if e.Status < 400 || e.Status > 599 {
		made.status = http.StatusInternalServerError
		made.misuse = fmt.Sprintf("%s has the status %d", e.name(), e.Status)
	}
	if len(values) != params {
		made.misuse = fmt.Sprintf("%s takes %d values, got %d", e.name(), params, len(values))
	}
	for i := range params {
		value := "?"
		if i < len(values) {
			value = text.Clip(fmt.Sprint(values[i]), maxShown)
		}
		made.params = append(made.params, value)
	}
	made.problems = []Problem{{Text: interpolate(e.Message, made.params), Code: made.code}}
	return made
}

// params returns the number of placeholders in the message.
func (e Entry) params() (n int) {
	for strings.Contains(e.Message, "{p"+strconv.Itoa(n)+"}") {
		n++
	}
	return n
}

func (e Entry) name() string {
	if e.Code == "" {
		return "a " + strconv.Itoa(e.Status) + " without code"
	}
	return string(e.Code)
}
