package apierror

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/partnerkit/partnerkit/internal/requestid"
)

func (wr Writer) logger() *slog.Logger {
	if wr.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return wr.Logger
}

// logFailure writes the one log line of a failed request. The route pattern
// stands for the path, which may hold anything.
func (wr Writer) logFailure(r *http.Request, id string, err error) {
	level, message := slog.LevelError, "request failed"
	if isGoneClient(r, err) {
		level, message = slog.LevelDebug, "client left"
	}
	attributes := []slog.Attr{
		slog.String(requestid.Attribute, id),
		slog.String("method", r.Method),
		slog.String("route", r.Pattern),
		slog.String("err", fmt.Sprint(err)),
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		attributes = append(attributes, slog.String("stack", string(p.stack)))
	}
	wr.logger().LogAttrs(r.Context(), level, message, attributes...)
}

// logMisuse logs a programming error in making an error, which the response does not show.
func (wr Writer) logMisuse(r *http.Request, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e == nil || e.misuse == "" {
		return
	}
	wr.logger().LogAttrs(r.Context(), slog.LevelError, "invalid error value",
		slog.String("method", r.Method), slog.String("route", r.Pattern), slog.String("err", e.misuse))
}

// Panicked returns the error for a recovered panic, for code that goes on after a panic of
// a host's function. The text has the type of value, and value itself only if the Go
// runtime made it, and the line that panicked. Call it in the deferred function.
func Panicked(value any) error {
	err := newPanicError(value, debug.Stack())
	err.text += panickedAt()
	return err
}

// panickedAt names the function and the line that panicked: the first frame behind those of
// the runtime.
func panickedAt() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	isBehind := false
	for {
		frame, more := frames.Next()
		if isBehind && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf(" in %s, line %d", frame.Function, frame.Line)
		}
		isBehind = isBehind || frame.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

// A panicError is a recovered panic.
//
// Its text holds the type of the value, and the value only when the Go runtime
// made it (a nil dereference, an index out of range). Any other value may carry
// a token or a connection string, and no secret is ever logged; type and stack
// lead to the line that panicked. The stack shows arguments as addresses, not
// as contents.
type panicError struct {
	text  string
	stack []byte
}

func newPanicError(value any, stack []byte) *panicError {
	text := fmt.Sprintf("panic with a value of type %T", value)
	if err, ok := value.(runtime.Error); ok {
		text = "panic: " + err.Error()
	}
	return &panicError{text: text, stack: stack}
}

func (e *panicError) Error() string { return e.text }
