package guard

import (
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
)

// isForeign reports whether a token can be one of the host's own: it has none of our
// prefixes. Characters that no credential has are not passed on.
func isForeign(token string) bool {
	return token != "" && text.IsVisible(token) && !secret.IsOurs(token)
}

// identifyForeign asks the host whose token it is. A token that the host does not know is
// checked like any other.
func (s *Surface) identifyForeign(c *call, r *http.Request, token string) error {
	session, ok, err := s.cfg.ForeignTokens(r, token)
	switch {
	case err != nil:
		return apierror.Failed("ask the host about its token", err)
	case !ok:
		return s.identifyApp(c, r, token)
	case session.UserID == "":
		return apierror.Failed("ask the host about its token", errors.New("the session of Config.ForeignTokens has no UserID"))
	}
	return s.identifyPerson(c, r, session)
}
