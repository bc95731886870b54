package guard

import (
	"net/http"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// cors lets pages call next: those of SessionOrigin with the browser's cookies where sessions
// are allowed, and those of any origin without.
func (s *Surface) cors(next http.Handler) http.Handler {
	return oauthserver.CredentialedCORS(s.cfg.Service, oauthserver.Credentials{Origin: s.cfg.SessionOrigin, Allowed: s.allowsSessions}, next)
}

// allowsSessions reports whether the route of a request, or of the request that a
// preflight announces, allows sessions.
func (s *Surface) allowsSessions(method string, r *http.Request) bool {
	announced := *r
	announced.Method = method
	route := s.routeOf(&announced)
	return route != nil && route.SessionsAllowed
}
