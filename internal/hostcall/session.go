package hostcall

import (
	"net/http"

	"github.com/partnerkit/partnerkit/identity"
)

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
