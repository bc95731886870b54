// Package muxes serves an http.ServeMux whose own errors have the shape of the others.
package muxes

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// WithErrors serves mux and writes the errors of paths and methods that it does not know with
// write; by itself http.ServeMux responds to them in plain text.
func WithErrors(mux *http.ServeMux, write func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		// No route: the mux's own handler responds with a 404, a 405 with the
		// allowed methods, or a redirect to the clean path.
		refusal := statusOnly{header: http.Header{}}
		own.ServeHTTP(&refusal, r)
		switch refusal.status {
		case http.StatusNotFound:
			write(w, r, apierror.NotFound(""))
		case http.StatusMethodNotAllowed:
			write(w, r, apierror.MethodNotAllowed(refusal.header.Get("Allow")))
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// statusOnly takes a response and keeps its head.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
