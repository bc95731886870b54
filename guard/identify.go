package guard

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/header"
)

// identify identifies the caller. The error is a 401, a 403 for a suspended user, or an
// internal error; the call then has no caller. A panic of the host is an error, so that the
// call is still counted.
func (s *Surface) identify(c *call, r *http.Request) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = apierror.Failed("identify the caller", apierror.Panicked(value))
		}
	}()
	if token, ok := bearer(r); ok {
		if s.cfg.ForeignTokens != nil && isForeign(token) {
			return s.identifyForeign(c, r, token)
		}
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
	c.hasCookie = true
	return s.identifyPerson(c, r, session)
}

// identifyPerson makes the call one of a session, unless its user is suspended.
func (s *Surface) identifyPerson(c *call, r *http.Request, session identity.Session) error {
	if err := s.checkUser(r.Context(), session.UserID); err != nil {
		return err
	}
	c.session = session
	c.principal = identity.Principal{UserID: session.UserID, BusinessID: session.BusinessID, SignIn: identity.SignInSession}
	return nil
}

// checkUser rejects a suspended user. Tokens of such a user are invalid.
func (s *Surface) checkUser(ctx context.Context, userID string) error {
	if s.cfg.Users == nil {
		return nil
	}
	status, err := s.cfg.Users.UserStatus(ctx, userID)
	if err != nil {
		return apierror.Failed("read the status of the user", err)
	}
	if status == identity.UserSuspended {
		return apierror.Forbidden("This account is suspended")
	}
	return nil
}

// notValid is the reason of a 401 for a token that is unknown or malformed.
const notValid = "the access token is not valid"

func (s *Surface) identifyApp(c *call, r *http.Request, token string) error {
	if token == "" {
		return apierror.Unauthorized().WithReason(notValid)
	}
	principal, err := s.cfg.Tokens.VerifyAccessToken(r.Context(), token)
	switch {
	case errors.Is(err, identity.ErrInvalidToken):
		c.dead, c.keepsError = principal, principal.AppID != ""
		if invalid, ok := errors.AsType[*identity.InvalidTokenError](err); ok {
			return apierror.Unauthorized().WithReason(invalid.Reason)
		}
		return apierror.Unauthorized().WithReason(notValid)
	case err != nil:
		return apierror.Failed("verify access token", err)
	}
	principal.SignIn = identity.SignInOAuth
	c.principal, c.keepsError = principal, true
	return nil
}

// HasToken reports whether a request tries to authenticate with an access token. It does
// not check the token; the Surface does.
func HasToken(r *http.Request) bool {
	_, ok := bearer(r)
	return ok
}

// bearer returns the token of the Authorization header (RFC 6750 section 2.1); tokens are
// not read from anywhere else. It reports true if the request tries to authenticate so. The
// token is empty if that cannot succeed: without a value, or with two headers, since a
// proxy may have read the other one.
func bearer(r *http.Request) (token string, ok bool) {
	if len(r.Header.Values("Authorization")) > 1 {
		return "", true
	}
	return header.Authorization(r.Header, "Bearer")
}

// checkOrigin rejects writes that a page of another site sends with a user's cookie.
func (s *Surface) checkOrigin(r *http.Request) error {
	if err := s.origins.Check(r); err != nil {
		return apierror.Forbidden("this request came from another site").WithCause(err)
	}
	return nil
}
