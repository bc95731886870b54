package guard

import (
	"net/http"

	"github.com/partnerkit/partnerkit/internal/httpapi"
)

// cors lets pages call next: those of SessionOrigins with the browser's cookies where sessions
// are allowed, and those of any origin without.
func (s *Surface) cors(next http.Handler) http.Handler {
	return httpapi.CredentialedCORS(s.cfg.Service, httpapi.Credentials{Origins: s.cfg.SessionOrigins, Allowed: s.allowsSessions}, next)
}

// allowsSessions reports whether the route of a request, or of the request that a
// preflight announces, allows sessions. Those of Config.Fallback do: it serves people on
// every path that is not for apps only.
func (s *Surface) allowsSessions(method string, r *http.Request) bool {
	announced := *r
	announced.Method = method
	route := s.routeOf(&announced)
	if route == nil {
		return s.hasFallback
	}
	return route.SessionsAllowed || s.hasFallback && route.AppsOnly.Status == 0
}
