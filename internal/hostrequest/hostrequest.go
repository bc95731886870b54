// Package hostrequest makes the requests that functions of the host get, which choose the
// language or the theme of a page.
package hostrequest

import (
	"net/http"

	"github.com/partnerkit/partnerkit/identity"
)

// WithoutBody returns a copy of a request without its body: a function that parses the form
// does not take it from the page.
func WithoutBody(r *http.Request) *http.Request {
	own := r.Clone(r.Context())
	own.Body = http.NoBody
	return own
}

// WithSession returns f, called with a request whose context carries the session of the
// person who is signed in. The context carries none if nobody is, or if session fails. Nil if
// f is nil.
func WithSession[T any](session func(*http.Request) (identity.Session, bool, error), f func(*http.Request) T) func(*http.Request) T {
	if f == nil {
		return nil
	}
	return func(r *http.Request) T {
		if known, ok, err := session(r); ok && err == nil {
			r = r.WithContext(identity.WithSession(r.Context(), known))
		}
		return f(r)
	}
}
