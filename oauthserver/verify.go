package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// The reasons, the first that applies. Whether a person is suspended, restricted or has left
// is not told.
const (
	reasonRevoked      = "the access token was revoked"
	reasonExpired      = "the access token expired"
	reasonApp          = "the app may not call the API now"
	reasonDisconnected = "the business has disconnected the app"
	reasonCustomEnded  = "the custom connection has ended"
	reasonUser         = core.DeniedUser
)

// invalidity returns the reason why no call may be made with the token now; empty if one may.
// The records of an erased user have ended, but neither the app nor the business ended them.
func invalidity(t oauthstore.AccessToken, now time.Time) string {
	erased := t.UserID == partner.ErasedUser
	switch {
	case (t.Revoked || t.FamilyEnded) && !erased:
		return reasonRevoked
	case !now.Before(t.ExpiresAt):
		return reasonExpired
	case t.AppStatus != partner.AppActive:
		return reasonApp
	case t.IsForInstallation() && t.GrantEnded && t.InstallationStatus == partner.InstallationActive:
		return reasonCustomEnded
	case !t.IsConnected():
		return reasonDisconnected
	case t.UserStatus != identity.UserActive, erased:
		return reasonUser
	}
	return ""
}

// VerifyAccessToken returns the principal of calls with this access token. Its Scopes are the
// effective ones; its Version is the one that the app has pinned, or empty.
//
// The error for a token that is not valid is [identity.ErrInvalidToken], and an
// [identity.InvalidTokenError] if the token was issued. In that case the principal is not zero:
// its AppID, ClientID and BusinessID are for logs, and grant no access.
//
// Nothing is cached: a call costs one statement and, unless the token is an installation token,
// one call of the host, and revocation takes effect on the next call. Any other error is an
// internal error.
func (s *Server) VerifyAccessToken(ctx context.Context, token string) (identity.Principal, error) {
	presented, err := secret.Parse(secret.AccessToken, token)
	if err != nil {
		return identity.Principal{}, identity.ErrInvalidToken
	}
	found, err := s.cfg.Store.AccessToken(ctx, presented.TokenID(), presented.Digest())
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return identity.Principal{}, identity.ErrInvalidToken
	case err != nil:
		return identity.Principal{}, apierror.Failed("find access token", err)
	}
	if reason := invalidity(found, s.cfg.Clock.Now()); reason != "" {
		return formerly(found), &identity.InvalidTokenError{Reason: reason}
	}
	principal := identity.Principal{
		AppID: found.AppID, ClientID: found.ClientID, InstallationID: found.InstallationID,
		BusinessID: found.BusinessID, UserID: found.UserID,
		Scopes: found.EffectiveScopes(), Version: found.PinnedVersion, SignIn: identity.SignInOAuth,
	}
	if found.IsForInstallation() {
		if !s.cfg.CustomConnections { // it was issued while the option was on
			return formerly(found), &identity.InvalidTokenError{Reason: reasonCustomEnded}
		}
		principal.ForInstallation, principal.Permissions = true, found.Permissions
		return principal, nil
	}
	member, err := s.core.IsMember(ctx, found.BusinessID, found.UserID)
	if err != nil {
		return identity.Principal{}, err
	}
	if err := s.core.NoteMembership(ctx, found.Standing, member); err != nil {
		return identity.Principal{}, err
	}
	if !member {
		return formerly(found), &identity.InvalidTokenError{Reason: reasonUser}
	}
	return principal, nil
}

// formerly says whose token was valid once.
func formerly(t oauthstore.AccessToken) identity.Principal {
	return identity.Principal{AppID: t.AppID, ClientID: t.ClientID, BusinessID: t.BusinessID}
}
