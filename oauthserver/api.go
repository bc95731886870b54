package oauthserver

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// The paths of the API host.
const (
	pathServerMetadata   = "/.well-known/oauth-authorization-server"
	pathResourceMetadata = "/.well-known/oauth-protected-resource"
	pathKeys             = "/.well-known/jwks.json"
	pathToken            = "/oauth/token" //nolint:gosec // a path
	pathRevoke           = "/oauth/revoke"
	pathIntrospect       = "/oauth/introspect"
	pathDevice           = "/oauth/device/authorize"
	pathRegister         = "/oauth/register"
)

// APIHandler serves the API host: the OAuth endpoints and the documents by which
// clients find them. Mount it on "/oauth/" and "/.well-known/". A path that is
// not exactly one of its own is a 404 in the standard shape.
func (s *Server) APIHandler() http.Handler {
	documents, endpoints := s.documentRoutes(), s.endpointRoutes()
	routes := make(map[string]http.Handler, len(documents)+len(endpoints))
	for path, serve := range documents {
		routes[path] = s.document(serve)
	}
	for path, serve := range endpoints {
		routes[path] = s.endpoint(serve)
	}
	unknown := s.errors.Standard(s.withDefaultLimit(func(http.ResponseWriter, *http.Request) error {
		return apierror.NotFound("")
	}))
	return CORS(s.cfg.Service, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Not a ServeMux, which would redirect what only resembles a path of ours.
		route, ok := routes[r.URL.Path]
		if !ok {
			unknown.ServeHTTP(w, r)
			return
		}
		r.Pattern = r.URL.Path // for the log, which shows patterns only
		route.ServeHTTP(w, r)
	}))
}

// documentRoutes are what clients find the endpoints by, and the keys.
func (s *Server) documentRoutes() map[string]apierror.Handler {
	return map[string]apierror.Handler{
		pathServerMetadata:   s.serveServerMetadata,
		pathResourceMetadata: s.serveResourceMetadata,
		pathKeys:             s.serveJWKS,
	}
}

// endpointRoutes are those of OAuth on the API host.
func (s *Server) endpointRoutes() map[string]apierror.Handler {
	return map[string]apierror.Handler{
		pathToken:      s.serveToken,
		pathRevoke:     s.serveRevoke,
		pathIntrospect: s.serveIntrospect,
		pathDevice:     s.serveDeviceAuthorize,
		pathRegister:   s.serveRegister,
	}
}

// APIPatterns are the methods and paths that [Server.APIHandler] serves, sorted.
func (s *Server) APIPatterns() []string {
	documents, endpoints := s.documentRoutes(), s.endpointRoutes()
	patterns := make([]string, 0, len(documents)+len(endpoints))
	for path := range documents {
		patterns = append(patterns, "GET "+path)
	}
	for path := range endpoints {
		patterns = append(patterns, "POST "+path)
	}
	slices.Sort(patterns)
	return patterns
}

// endpoint is one of the OAuth endpoints: POST, and errors in the OAuth shape.
func (s *Server) endpoint(h apierror.Handler) http.Handler {
	return s.errors.OAuth(only(h, http.MethodPost))
}

// document is something to be read, with errors in the standard shape. It falls
// under the limit of everything that has none of its own.
func (s *Server) document(h apierror.Handler) http.Handler {
	return s.errors.Standard(s.withDefaultLimit(only(h, http.MethodGet, http.MethodHead)))
}

func only(h apierror.Handler, methods ...string) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		for _, method := range methods {
			if r.Method == method {
				return h(w, r)
			}
		}
		return apierror.MethodNotAllowed(strings.Join(methods, ", "))
	}
}

func (s *Server) withDefaultLimit(h apierror.Handler) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var asked ratelimit.Request
		asked.Counters[0] = ratelimit.DefaultAPI(s.cfg.Proxies.ClientIP(r))
		if err := s.check(r.Context(), s.cfg.Clock.Now(), asked); err != nil {
			return err
		}
		return h(w, r)
	}
}

// errOutcome is an answer of the store that its contract does not have.
var errOutcome = errors.New("the store answered with an unknown outcome")

// forbidStoring marks an answer that carries secrets.
func forbidStoring(w http.ResponseWriter) {
	header, values := w.Header(), []string{"no-store", "no-cache"}
	header["Cache-Control"], header["Pragma"] = values[0:1:1], values[1:2:2]
}
