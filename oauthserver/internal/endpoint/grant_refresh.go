package endpoint

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// grantRefresh rotates a refresh token. The order of its checks is fixed: found and issued
// to the client, revoked, used, expired, and then, in the store's operation, installation,
// consent, user and scopes. Of these, user and scopes leave the token as it was. A rotation
// costs 6 statements, including those for the client, and one commit.
func (s *Server) grantRefresh(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	text, err := c.parameter("refresh_token", maxParameter)
	if err != nil {
		return tokenResponse{}, err
	}
	for range maxMoves {
		response, err := s.refresh(ctx, c, client, text)
		if !errors.Is(err, errMoved) {
			return response, err
		}
	}
	return tokenResponse{}, apierror.Failed("rotate refresh token", errMoved)
}

// errMoved means that another person took the connection over between the lookup of a refresh
// token and its rotation. Both are repeated then, so that it is the new person whose
// membership counts.
var errMoved = errors.New("the token family was moved")

// maxPublicRetry is how long a PUBLIC client may repeat a refresh, whatever RefreshRetry is.
const maxPublicRetry = time.Minute

// maxMoves is how often a refresh is tried that take-overs get in the way of.
const maxMoves = 3

// refresh looks a refresh token up and rotates it.
func (s *Server) refresh(ctx context.Context, c call, client authenticatedClient, text string) (tokenResponse, error) {
	if _, err := secret.Parse(secret.RefreshToken, text); err != nil && s.cfg.ForeignRefreshTokens != nil {
		return s.grantForeign(ctx, c, client, text)
	}
	token, err := findOwn(client, secret.RefreshToken, text, func(presented secret.Secret) (presentedToken, oauthstore.Owners, error) {
		token, err := s.cfg.Store.RefreshToken(ctx, presented.TokenID(), presented.Digest())
		return presentedToken{token, presented}, token.Owners, err
	})
	if err != nil {
		return tokenResponse{}, err
	}
	if token.FamilyEnded || token.InstallationStatus == partner.InstallationRevoked {
		return tokenResponse{}, oautherror.Grant(oautherror.GrantRevoked)
	}
	rotation := oauthstore.Rotation{Token: token.RefreshToken, Retry: s.cfg.RefreshRetry}
	if client.Type == partner.Public {
		rotation.Retry = min(rotation.Retry, maxPublicRetry)
	}
	if !token.Used {
		if !c.now.Before(token.ExpiresAt) {
			return tokenResponse{}, oautherror.Grant(oautherror.GrantExpired)
		}
		if rotation.Narrow, err = c.scopesWithin(token.FamilyScopes, "not granted: "); err != nil {
			return tokenResponse{}, err
		}
	}
	member, err := s.IsMember(ctx, token.BusinessID, token.UserID)
	if err != nil {
		return tokenResponse{}, err
	}
	if err := s.NoteMembership(ctx, token.Standing, member); err != nil { // before anything is rotated
		return tokenResponse{}, err
	}
	if token.Used {
		return s.reuse(ctx, c, token, rotation, oauthstore.NewTokens{NotMember: !member, Now: c.now})
	}
	return s.rotate(ctx, c, token, rotation, member)
}

// presentedToken is a refresh token with its text, which only the client has.
type presentedToken struct {
	oauthstore.RefreshToken
	text secret.Secret
}

// rotate uses an unused token up for new tokens. If another request was first, the token is
// reused.
func (s *Server) rotate(ctx context.Context, c call, token presentedToken, r oauthstore.Rotation, isMember bool) (tokenResponse, error) { //nolint:revive // the value, not a switch
	tokens := tokenpair.New(c.now)
	if r.Retry > 0 {
		var err error
		if r.Response, err = tokens.Seal(token.text, r.Token.ID, r.Narrow.String()+"\n"+c.target()); err != nil {
			return tokenResponse{}, apierror.Failed("seal tokens", err)
		}
	}
	issued, err := s.cfg.Store.RotateRefresh(ctx, r, s.NewTokens(tokens, c.now, isMember))
	if err != nil {
		return tokenResponse{}, apierror.Failed("rotate refresh token", err)
	}
	return s.rotated(ctx, c, token, tokens, issued)
}

// reuse handles a token that was used before. Its family ends, unless a client that lost the
// response may repeat the refresh: it gets the same tokens again. Nothing is issued, so that n
// has no ids.
func (s *Server) reuse(ctx context.Context, c call, token presentedToken, r oauthstore.Rotation, n oauthstore.NewTokens) (tokenResponse, error) {
	reused, err := s.cfg.Store.RotateRefresh(ctx, r, n)
	if err != nil {
		return tokenResponse{}, apierror.Failed("reuse refresh token", err)
	}
	return s.rotated(ctx, c, token, tokenpair.Pair{}, reused)
}

// rotated returns the response of a rotation.
func (s *Server) rotated(ctx context.Context, c call, token presentedToken, tokens tokenpair.Pair, issued oauthstore.IssueResult) (tokenResponse, error) {
	if issued.Outcome == oauthstore.Moved {
		return tokenResponse{}, errMoved
	}
	if issued.Outcome == oauthstore.Repeated {
		var parameters string
		var err error
		if tokens, parameters, err = tokenpair.Unseal(token.text, token.ID, issued.Response); err != nil {
			return tokenResponse{}, apierror.Failed("open sealed tokens", err)
		}
		if err := c.checkRetry(parameters); err != nil {
			return tokenResponse{}, err
		}
		if !c.now.Before(token.ExpiresAt) {
			return tokenResponse{}, oautherror.Grant(oautherror.GrantExpired)
		}
	}
	if issued.Outcome == oauthstore.Lost {
		s.tellReuse(ctx, token.Owners)
	}
	return s.respond(ctx, c, tokens, issued, reasons{lost: oautherror.GrantReuseDetected, revoked: oautherror.GrantRevoked})
}

// target identifies the resource parameter; empty if it was not sent.
func (c call) target() string {
	if !c.form.Has("resource") {
		return ""
	}
	return hex.EncodeToString(secret.DigestOf(c.form.Get("resource")).Bytes())
}

// checkRetry checks that a refresh has the parameters of the one that it repeats, which are
// kept as its scopes and its target.
func (c call) checkRetry(parameters string) error {
	narrow, target, _ := strings.Cut(parameters, "\n")
	before, _ := identity.ParseScopes(narrow) // it was written here
	if asked, err := identity.ParseScopes(c.form.Get("scope")); err != nil || !asked.Equal(before) {
		return invalidRequest("scope is not that of the refresh that is repeated")
	}
	if c.target() != target {
		return invalidRequest("resource is not that of the refresh that is repeated")
	}
	return nil
}
