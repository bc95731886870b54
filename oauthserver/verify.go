package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// ErrInvalidToken means that no call may be made with the token. It does not distinguish
// unknown, expired and revoked tokens.
var ErrInvalidToken = errors.New("invalid access token")

// VerifyAccessToken returns the principal of calls with this access token. Its Scopes are the
// effective ones; its Version is the one that the app has pinned, or empty.
//
// With [ErrInvalidToken] the principal is not zero if the token was issued and is no longer
// valid: its AppID, ClientID and BusinessID are for logs, and grant no access.
//
// Nothing is cached: a call costs one statement and one call of the host, and revocation takes
// effect on the next call. Any error other than [ErrInvalidToken] is an internal error.
func (s *Server) VerifyAccessToken(ctx context.Context, token string) (identity.Principal, error) {
	presented, err := secret.Parse(secret.AccessToken, token)
	if err != nil {
		return identity.Principal{}, ErrInvalidToken
	}
	found, err := s.cfg.Store.AccessToken(ctx, presented.TokenID(), presented.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return identity.Principal{}, ErrInvalidToken
	case err != nil:
		return identity.Principal{}, apierror.Failed("find access token", err)
	case !found.IsLive(s.cfg.Clock.Now()):
		return formerly(found), ErrInvalidToken
	}
	member, err := s.cfg.Host.IsMember(ctx, found.BusinessID, found.UserID)
	switch {
	case err != nil:
		return identity.Principal{}, apierror.Failed("ask the host for membership", err)
	case !member:
		return formerly(found), ErrInvalidToken
	}
	return identity.Principal{
		AppID: found.AppID, ClientID: found.ClientID, InstallationID: found.InstallationID,
		BusinessID: found.BusinessID, UserID: found.UserID,
		Scopes: found.EffectiveScopes(), Version: found.PinnedVersion, SignIn: identity.SignInOAuth,
	}, nil
}

// formerly says whose token was valid once.
func formerly(t AccessToken) identity.Principal {
	return identity.Principal{AppID: t.AppID, ClientID: t.ClientID, BusinessID: t.BusinessID}
}
