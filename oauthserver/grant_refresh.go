package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// grantRefresh rotates a refresh token. The order of its checks is fixed: found
// and the client's own, revoked, used, expired, and then, in the act itself,
// installation and consent. A rotation costs 6 statements, the client's included,
// and one commit.
func (s *Server) grantRefresh(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	text, err := c.parameter("refresh_token", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
	}
	token, err := s.ownRefreshToken(ctx, client, text)
	if err != nil {
		return tokenAnswer{}, err
	}
	if token.FamilyEnded || token.InstallationStatus == InstallationRevoked {
		return tokenAnswer{}, apierror.GrantError(apierror.GrantRevoked)
	}
	if token.Used {
		return s.reuseRefresh(ctx, c, token)
	}
	if !c.now.Before(token.ExpiresAt) {
		return tokenAnswer{}, apierror.GrantError(apierror.GrantExpired)
	}
	narrow, err := c.narrowed(token.FamilyScopes)
	if err != nil {
		return tokenAnswer{}, err
	}
	if err := s.requireMember(ctx, token.BusinessID, token.UserID); err != nil {
		return tokenAnswer{}, err
	}
	return s.rotate(ctx, c, token, Rotation{Token: token.RefreshToken, Narrow: narrow})
}

// ownRefreshToken finds a refresh token of this client. A token of another client is as
// unknown as one that does not exist: presenting it ends nothing.
func (s *Server) ownRefreshToken(ctx context.Context, client authenticatedClient, text string) (presentedToken, error) {
	parsed, err := secret.Parse(secret.RefreshToken, text)
	if err != nil {
		return presentedToken{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	token, err := s.cfg.Store.RefreshToken(ctx, parsed.TokenID(), parsed.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return presentedToken{}, apierror.GrantError(apierror.GrantUnexplained)
	case err != nil:
		return presentedToken{}, apierror.Failed("find refresh token", err)
	case !client.owns(token.Standing):
		return presentedToken{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return presentedToken{token, parsed}, nil
}

// presentedToken is a refresh token with its text, which only the client has.
type presentedToken struct {
	RefreshToken
	text secret.Secret
}

// reuseRefresh is for a token that was used before. The act ends its family, or
// repeats its answer if the token would be alive; that it was used stands, whatever
// else has ended since.
func (s *Server) reuseRefresh(ctx context.Context, c call, token presentedToken) (tokenAnswer, error) {
	member, err := s.isMember(ctx, token.BusinessID, token.UserID)
	if err != nil {
		return tokenAnswer{}, err
	}
	answer, err := s.rotate(ctx, c, token, Rotation{Token: token.RefreshToken})
	if err == nil && !member {
		return tokenAnswer{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return answer, err
}

// rotate is the act, and what it says.
func (s *Server) rotate(ctx context.Context, c call, token presentedToken, r Rotation) (tokenAnswer, error) {
	tokens := newPair(c.now)
	if s.cfg.RefreshRetry > 0 {
		sealed, err := tokens.seal(token.text, r.Token.ID)
		if err != nil {
			return tokenAnswer{}, apierror.Failed("seal answer", err)
		}
		r.Answer, r.Retry = sealed, s.cfg.RefreshRetry
	}
	issued, err := s.cfg.Store.RotateRefresh(ctx, r, tokens.issue(c.now))
	if err != nil {
		return tokenAnswer{}, apierror.Failed("rotate refresh token", err)
	}
	if issued.Outcome == Repeated {
		if tokens, err = unseal(token.text, r.Token.ID, issued.Answer); err != nil {
			return tokenAnswer{}, apierror.Failed("open kept answer", err)
		}
		return tokens.answer(issued.Scopes), nil
	}
	why := reasons{lost: apierror.GrantReuseDetected, revoked: apierror.GrantRevoked}
	if err := s.settle(ctx, c, issued.Outcome, why); err != nil {
		return tokenAnswer{}, err
	}
	return tokens.answer(issued.Scopes), nil
}

// narrowed reads the scope parameter of a refresh, which may cut the access
// token down (RFC 6749 section 6); empty when it was not sent.
func (c call) narrowed(granted identity.Scopes) (identity.Scopes, error) {
	text := c.form.Get("scope")
	if text == "" {
		return identity.Scopes{}, nil
	}
	asked, err := identity.ParseScopes(text)
	if err != nil {
		return identity.Scopes{}, apierror.NewOAuth(apierror.InvalidScope, err.Error())
	}
	if wider := asked.Minus(granted); !wider.IsEmpty() {
		return identity.Scopes{}, apierror.NewOAuth(apierror.InvalidScope, "not granted: "+wider.String())
	}
	return asked, nil
}
