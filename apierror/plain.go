package apierror

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// Invalid returns a 400 for a request that breaks rules. Its message is the list of problems,
// which are sentences about the request as a whole, and it has no code. [InvalidAt] and
// [Validation] name the member that a problem is about.
func Invalid(problems ...string) *Error {
	var v Validation
	for _, text := range problems {
		v.AddProblem(Problem{Text: text})
	}
	if v.count() == 0 {
		v.AddProblem(Problem{Text: "the request is not valid"})
	}
	return v.invalid()
}

// InvalidAt is [Invalid] for one problem, which it makes as [Validation.Add] does.
func InvalidAt(path, format string, args ...any) *Error {
	var v Validation
	v.Add(path, format, args...)
	return v.invalid()
}

// Unauthorized returns a 401. The [Writer] adds the Bearer challenge.
func Unauthorized() *Error {
	return plain(http.StatusUnauthorized, "sign in, or send a valid access token")
}

// Forbidden returns a 403 without code. Prefer a code where there is one.
func Forbidden(message string) *Error {
	if message == "" {
		message = "this is not allowed"
	}
	return plain(http.StatusForbidden, message)
}

// NotFound returns a 404 whose message names a thing, such as "invoice"; empty means that no
// endpoint has the path.
func NotFound(what string) *Error {
	if what == "" {
		return plain(http.StatusNotFound, "no such endpoint")
	}
	return plain(http.StatusNotFound, "{p0} not found", what)
}

// MethodNotAllowed returns a 405 with the Allow header.
func MethodNotAllowed(allow ...string) *Error {
	e := plain(http.StatusMethodNotAllowed, "this path takes {p0}", strings.Join(allow, ", "))
	e.allow = allow
	return e
}

// TooLarge returns a 413 for a body over limit bytes.
func TooLarge(limit int64) *Error {
	return plain(http.StatusRequestEntityTooLarge, "the body has more than {p0} bytes", limit)
}

// UnsupportedMediaType returns a 415 that names the media type which is accepted.
func UnsupportedMediaType(accepted string) *Error {
	return plain(http.StatusUnsupportedMediaType, "the body must be {p0}, in UTF-8 and without content encoding", accepted)
}

// TooManyRequests returns a 429 without code. An OAuth handler returns it too: the
// response is then temporarily_unavailable.
func TooManyRequests(wait time.Duration) *Error {
	e := plain(http.StatusTooManyRequests, tooManyRequests, oautherror.WholeSeconds(wait))
	return e.WithRetryAfter(wait)
}

// Internal returns a 500. The cause goes to the log, never to the client. Returning
// the cause itself does the same. When the cause, or what it wraps, says
// IsTemporary() bool, as storage.ErrBusy does, it is a 503 that may be tried again
// after a second.
func Internal(cause error) *Error {
	if e, ok := errors.AsType[interface {
		error
		IsTemporary() bool
	}](cause); ok && e.IsTemporary() {
		return Unavailable(cause).WithRetryAfter(time.Second)
	}
	return plain(http.StatusInternalServerError, "internal error").WithCause(cause)
}

// Failed is [Internal] with a cause that names what failed: "doing: cause".
func Failed(doing string, cause error) *Error {
	return Internal(fmt.Errorf("%s: %w", doing, cause))
}

// Limited turns the decision of a rate limiter into an error: nil if the request is
// allowed, a 429 with the time to wait if not, and a 5xx if the limiter failed.
func Limited(allowed bool, wait time.Duration, err error) error { //nolint:revive // a decision, not a switch
	switch {
	case err != nil:
		return Failed("rate limit", err)
	case !allowed:
		return TooManyRequests(wait)
	}
	return nil
}

// Unavailable returns a 503 for a temporary internal error, such as a busy
// database. The cause is logged.
func Unavailable(cause error) *Error {
	return plain(http.StatusServiceUnavailable, "temporarily unavailable").WithCause(cause)
}

// tooManyRequests is the text of every 429 that states its wait. Both shapes
// use it; in the OAuth shape its words are fixed.
const tooManyRequests = "too many requests, retry after {p0} seconds"

func plain(status int, message string, values ...any) *Error {
	return Entry{Status: status, Message: message}.with(len(values), values) // the message may be a client's text
}
