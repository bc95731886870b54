package apierror

import "net/http"

// StandardMux serves mux and responds to the paths and methods that it does not know
// in the standard shape; by itself http.ServeMux responds to them in plain text.
func (c Writer) StandardMux(mux *http.ServeMux) http.Handler { return shapedMux(mux, c.WriteStandard) }

// OAuthMux is StandardMux for the OAuth shape.
func (c Writer) OAuthMux(mux *http.ServeMux) http.Handler { return shapedMux(mux, c.WriteOAuth) }

func shapedMux(mux *http.ServeMux, write errorWriter) http.Handler {
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
			write(w, r, NotFound(""))
		case http.StatusMethodNotAllowed:
			write(w, r, MethodNotAllowed(refusal.header.Get("Allow")))
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
