package oauthserver

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// grantRefresh rotates a refresh token. The order of its checks is fixed: found
// and the client's own, revoked, used, expired, and then, in the act itself,
// installation and consent. A rotation costs 5 statements, the client's included,
// and one commit.
func (s *Server) grantRefresh(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	if _, err := c.parameter("refresh_token", maxParameter); err != nil {
		return tokenAnswer{}, err
	}
	token, err := c.look.ownToken(client)
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
	return s.rotate(ctx, c, Rotation{Token: token, Narrow: narrow})
}

// reuseRefresh is for a token that was used before. The act ends its family, or
// repeats its answer if the token would be alive; that it was used stands, whatever
// else has ended since.
func (s *Server) reuseRefresh(ctx context.Context, c call, token RefreshToken) (tokenAnswer, error) {
	member, err := s.isMember(ctx, token.BusinessID, token.UserID)
	if err != nil {
		return tokenAnswer{}, err
	}
	answer, err := s.rotate(ctx, c, Rotation{Token: token})
	if err == nil && !member {
		return tokenAnswer{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return answer, err
}

// rotate is the act, and what it says.
func (s *Server) rotate(ctx context.Context, c call, r Rotation) (tokenAnswer, error) {
	tokens := newPair(c.now)
	if s.cfg.RefreshRetry > 0 {
		sealed, err := tokens.seal(c.look.token, r.Token.ID)
		if err != nil {
			return tokenAnswer{}, fault("seal answer", err)
		}
		r.Answer, r.Retry = sealed, s.cfg.RefreshRetry
	}
	minted, err := s.cfg.Store.RotateRefresh(ctx, r, tokens.mint(c.now))
	if err != nil {
		return tokenAnswer{}, fault("rotate refresh token", err)
	}
	if minted.Outcome == Repeated {
		if tokens, err = unseal(c.look.token, r.Token.ID, minted.Answer); err != nil {
			return tokenAnswer{}, fault("open kept answer", err)
		}
		return tokens.answer(minted.Scopes), nil
	}
	why := reasons{lost: apierror.GrantReuseDetected, revoked: apierror.GrantRevoked}
	if err := s.settle(ctx, c, minted.Outcome, why); err != nil {
		return tokenAnswer{}, err
	}
	return tokens.answer(minted.Scopes), nil
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
