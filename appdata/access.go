package appdata

import (
	"net/http"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// caller returns the app of the request. It returns an error for people with a session.
func caller(r *http.Request) (identity.Principal, error) {
	p, _ := identity.PrincipalFrom(r.Context())
	if p.AppID == "" {
		return p, codes.AppDataForConnectedApps.New()
	}
	return p, nil
}

// mayRead reports whether the call may read records of a type: the token, the
// installation and the app all have its scope.
func (s *Service) mayRead(p identity.Principal, resourceType string) bool {
	scope, ok := s.cfg.Types[resourceType]
	return ok && p.Scopes.Has(scope)
}

// access returns an error if the call may not read records of the type.
func (s *Service) access(p identity.Principal, resourceType string) error {
	if !s.mayRead(p, resourceType) {
		return codes.AppCannotAccessType.New(resourceType)
	}
	return nil
}
