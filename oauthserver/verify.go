package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// ErrInvalidToken says that no call may be made with the token, and not whether
// it was unknown, has expired or was revoked, or what above it has ended.
var ErrInvalidToken = errors.New("invalid access token")

// VerifyAccessToken returns on whose behalf a call with this access token is
// made. Its Scopes are those that hold now; its Version is the one that the app has
// pinned, empty for none: whoever knows the versions resolves it.
//
// Nothing is cached: it costs one statement and one question to the host, and a
// revocation in any form counts from the next call. [ErrInvalidToken] is an
// answer; any other error is a fault.
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
		return identity.Principal{}, ErrInvalidToken
	}
	member, err := s.cfg.Host.IsMember(ctx, found.BusinessID, found.UserID)
	switch {
	case err != nil:
		return identity.Principal{}, apierror.Failed("ask the host for membership", err)
	case !member:
		return identity.Principal{}, ErrInvalidToken
	}
	return identity.Principal{
		AppID: found.AppID, ClientID: found.ClientID, InstallationID: found.InstallationID,
		BusinessID: found.BusinessID, UserID: found.UserID,
		Scopes: found.EffectiveScopes(), Version: found.PinnedVersion, SignIn: identity.SignInOAuth,
	}, nil
}
