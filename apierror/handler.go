package apierror

import (
	"net/http"
	"runtime/debug"
)

// A Handler serves a request, or returns why it could not and then has written
// nothing. Wrapped errors keep their meaning.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Standard makes an http.Handler that writes failures of h in the standard
// shape, panics included.
//
// When h fails after it has begun its response, nothing is added to it: the
// failure is logged and the connection is cut, so that the client does not take
// half a response for a whole one.
func (wr Writer) Standard(h Handler) http.Handler { return wr.adapt(h, wr.WriteStandard) }

// OAuth is Standard for the OAuth shape.
func (wr Writer) OAuth(h Handler) http.Handler { return wr.adapt(h, wr.WriteOAuth) }

type errorWriter func(http.ResponseWriter, *http.Request, error)

func (wr Writer) adapt(h Handler, write errorWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := &trackedWriter{ResponseWriter: w}
		defer func() {
			if value := recover(); value != nil {
				wr.responsePanic(tracked, r, value, write)
			}
		}()
		err := h(tracked, r)
		if err == nil {
			return
		}
		if tracked.begun {
			wr.logFailure(r, requestID(tracked, r), err)
			panic(http.ErrAbortHandler)
		}
		write(tracked, r, err)
	})
}

func (wr Writer) responsePanic(w *trackedWriter, r *http.Request, value any, write errorWriter) {
	if value == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(value) // the handler wants the connection closed; net/http knows this value
	}
	err := newPanicError(value, debug.Stack())
	if w.begun {
		wr.logFailure(r, requestID(w, r), err)
		panic(http.ErrAbortHandler)
	}
	write(w, r, err)
}
