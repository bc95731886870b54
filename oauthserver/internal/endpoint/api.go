package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/httpapi"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// The paths of the API host.
const (
	pathServerMetadata = "/.well-known/oauth-authorization-server"
	pathKeys           = "/.well-known/jwks.json"
	pathToken          = "/oauth/token" //nolint:gosec // a path
	pathRevoke         = "/oauth/revoke"
	pathIntrospect     = "/oauth/introspect"
	pathDevice         = "/oauth/device/authorize"
	pathRegister       = "/oauth/register"
)

// route is a path of the API host. Its method is GET for documents, which are limited like
// every request without a limit of its own and have errors in the standard shape, and POST
// for endpoints, which have errors in the OAuth shape.
type route struct {
	method, path string
	serve        apierror.Handler
	endpoint     endpointName // of a POST
}

func (s *Server) apiRoutes() []route {
	routes := []route{
		{http.MethodGet, pathServerMetadata, s.serveServerMetadata, ""},
		{http.MethodGet, core.ResourceMetadataPath, s.resourceMetadata(core.Resource{}), ""},
		{http.MethodGet, pathKeys, s.serveJWKS, ""},
		{http.MethodPost, pathToken, s.serveToken, endpointToken},
		{http.MethodPost, pathRevoke, s.serveRevoke, endpointRevoke},
		{http.MethodPost, pathIntrospect, s.serveIntrospect, endpointIntrospect},
		{http.MethodPost, pathDevice, s.serveDeviceAuthorize, endpointDevice},
		{http.MethodPost, pathRegister, s.serveRegister, endpointRegister},
	}
	for _, resource := range s.cfg.Resources {
		withSlash := resource
		withSlash.Path += "/"
		for _, as := range []core.Resource{resource, withSlash} {
			routes = append(routes, route{http.MethodGet, core.ResourceMetadataPath + as.Path, s.resourceMetadata(as), ""})
		}
	}
	return routes
}

// Handler serves the API host: the OAuth endpoints and the documents by which clients
// find them. Mount it on "/oauth/" and "/.well-known/". For any other path the response is a
// 404 in the standard shape.
func (s *Server) Handler() http.Handler {
	handlers := make(map[string]http.Handler)
	for _, route := range s.apiRoutes() {
		if route.method == http.MethodPost {
			handlers[route.path] = s.errors.OAuth(s.onlyPost(route))
		} else {
			handlers[route.path] = s.errors.Standard(s.withDefaultLimit(only(route.serve, http.MethodGet, http.MethodHead)))
		}
	}
	unknown := s.errors.Standard(s.withDefaultLimit(func(http.ResponseWriter, *http.Request) error {
		return apierror.NotFound("")
	}))
	return httpapi.CORS(s.cfg.Service, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Not a ServeMux, which redirects paths that it would clean.
		handler, ok := handlers[r.URL.Path]
		if !ok {
			unknown.ServeHTTP(w, r)
			return
		}
		r.Pattern = r.URL.Path // for the log, which shows patterns only
		handler.ServeHTTP(w, r)
	}))
}

// Patterns returns the methods and paths that [Server.Handler] serves, sorted.
func (s *Server) Patterns() []string {
	routes := s.apiRoutes()
	patterns := make([]string, len(routes))
	for i, route := range routes {
		patterns[i] = route.method + " " + route.path
		if strings.HasSuffix(route.path, "/") {
			patterns[i] += "{$}"
		}
	}
	slices.Sort(patterns)
	return patterns
}

// onlyPost rejects other methods. Such a request counts for its address, like every request
// to the endpoint.
func (s *Server) onlyPost(to route) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodPost {
			return to.serve(w, r)
		}
		if err := s.limit(r.Context(), s.newCall(r, to.endpoint)); err != nil {
			return err
		}
		return apierror.MethodNotAllowed(http.MethodPost)
	}
}

func only(h apierror.Handler, methods ...string) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !slices.Contains(methods, r.Method) {
			return apierror.MethodNotAllowed(strings.Join(methods, ", "))
		}
		return h(w, r)
	}
}

func (s *Server) withDefaultLimit(h apierror.Handler) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var asked ratelimit.Request
		asked.Counters[0] = s.cfg.Limits.DefaultAPI(s.cfg.Proxies.ClientIP(r))
		if err := s.check(r.Context(), s.cfg.Clock.Now(), asked); err != nil {
			return err
		}
		return h(w, r)
	}
}

// forbidStoring marks a response that carries secrets.
func forbidStoring(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
}
