package guard

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// identify finds out who calls. The error is a 401, a 403 for somebody who is suspended,
// or a fault; the call then is nobody's.
func (s *Surface) identify(c *call, r *http.Request) error {
	if token, ok := bearer(r); ok {
		return s.identifyApp(c, r, token)
	}
	if s.cfg.Sessions == nil {
		return apierror.Unauthorized()
	}
	session, ok, err := s.cfg.Sessions.Session(r)
	switch {
	case err != nil:
		return apierror.Failed("ask the host for the session", err)
	case !ok:
		return apierror.Unauthorized()
	}
	if err := s.checkUser(r.Context(), session.UserID); err != nil {
		return err
	}
	c.session = session
	c.principal = identity.Principal{UserID: session.UserID, BusinessID: session.BusinessID, SignIn: identity.SignInSession}
	return nil
}

// checkUser refuses somebody who is suspended. Tokens of such a user are invalid.
func (s *Surface) checkUser(ctx context.Context, userID string) error {
	if s.cfg.Users == nil {
		return nil
	}
	status, err := s.cfg.Users.UserStatus(ctx, userID)
	if err != nil {
		return apierror.Failed("read the status of the user", err)
	}
	if status == oauthserver.UserSuspended {
		return apierror.Forbidden("This account is suspended")
	}
	return nil
}

func (s *Surface) identifyApp(c *call, r *http.Request, token string) error {
	if token == "" {
		return apierror.Unauthorized()
	}
	principal, err := s.cfg.Tokens.VerifyAccessToken(r.Context(), token)
	switch {
	case errors.Is(err, oauthserver.ErrInvalidToken):
		return apierror.Unauthorized()
	case err != nil:
		return apierror.Failed("verify access token", err)
	}
	principal.SignIn = identity.SignInOAuth
	c.principal = principal
	return nil
}

// HasToken reports whether a request tries to authenticate with an access token. What
// comes of it is the Surface's to say, wherever the request goes.
func HasToken(r *http.Request) bool {
	_, ok := bearer(r)
	return ok
}

// bearer returns the token of the Authorization header (RFC 6750 section 2.1), the
// only place where one is looked for. It reports true when the request tries to
// authenticate so, with an empty token when that cannot succeed: without a value,
// or with two headers, of which somebody else may have read the other.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		return "", false
	case 1:
		scheme, rest, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
		return strings.TrimLeft(rest, " "), strings.EqualFold(scheme, "Bearer")
	}
	return "", true
}

// checkOrigin refuses writes that a page of another site sends with the cookie of
// somebody who is signed in here.
func (s *Surface) checkOrigin(r *http.Request) error {
	if err := s.origins.Check(r); err != nil {
		return apierror.Forbidden("this request came from another site").WithCause(err)
	}
	return nil
}
