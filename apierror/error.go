package apierror

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// An Error is a failure in the standard shape. It is immutable: the With
// methods return a changed copy. Make one with [Entry.New] or a constructor of this
// package; the zero value is written as a 500.
type Error struct {
	status     int
	code       Code
	problems   []Problem
	isList     bool // the message is a list even if there is only one problem
	more       int  // problems that are counted and not kept
	params     []string
	details    any
	allow      []string
	retryAfter int    // seconds; 0 means none
	scope      string // of the Bearer challenge; empty means none
	reason     string // of the Bearer challenge; empty means none
	cause      error
	misuse     string // a programming error in making this value, for the log
}

// Status returns the HTTP status.
func (e *Error) Status() int { return e.status }

// Code returns the code, empty for a failure that has none.
func (e *Error) Code() Code { return e.code }

// Problems returns what the client is told, one entry for each problem and, after the first
// 50, one with the number of those left out. A 5xx response contains less: see [Writer].
func (e *Error) Problems() []Problem {
	problems := slices.Clone(e.problems)
	if e.more > 0 {
		problems = append(problems, Problem{Text: "and " + strconv.Itoa(e.more) + " more"})
	}
	return problems
}

// Messages returns the texts of [Error.Problems].
func (e *Error) Messages() []string { return texts(e.Problems()) }

// Details returns what [Error.WithDetails] was given; nil for errors without details.
func (e *Error) Details() any { return e.details }

// Error implements error. The text is for logs and tests, not for clients.
func (e *Error) Error() string {
	text := strconv.Itoa(e.status)
	if e.code != "" {
		text += " " + string(e.code)
	}
	if len(e.problems) > 0 {
		text += ": " + strings.Join(e.Messages(), "; ")
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause given to [Error.WithCause], [Internal] or
// [Unavailable].
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// WithCause returns a copy that wraps cause. Clients never see it.
func (e *Error) WithCause(cause error) *Error {
	changed := *e
	changed.cause = cause
	return &changed
}

// WithDetails returns a copy whose response has the member details, such as a list of what is
// wrong with each of many values. It is encoded as JSON.
func (e *Error) WithDetails(details any) *Error {
	changed := *e
	changed.details = details
	return &changed
}

// WithRetryAfter returns a copy that carries Retry-After: whole seconds,
// rounded up, at least 1. A 429 without it says 1.
func (e *Error) WithRetryAfter(wait time.Duration) *Error {
	changed := *e
	changed.retryAfter = oautherror.WholeSeconds(wait)
	return &changed
}

// WithScope returns a copy whose Bearer challenge asks for a scope, or for several that are
// separated by spaces (RFC 6750 section 3). Only a 401 and [InsufficientScope] have a
// challenge; without WithScope that of InsufficientScope asks for its value.
func (e *Error) WithScope(scope string) *Error {
	changed := *e
	changed.scope = scope
	return &changed
}

// WithReason returns a copy whose Bearer challenge says, as its error_description, why the
// token that the request sent is not valid (RFC 6750 section 3). Only a 401 to a request with
// a bearer token has one.
func (e *Error) WithReason(reason string) *Error {
	changed := *e
	changed.reason = oautherror.Describable(reason)
	return &changed
}

// HasCode reports whether err is, or wraps, an [Error] with this code.
func HasCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e != nil && e.code == code
}
