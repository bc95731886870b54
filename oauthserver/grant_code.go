package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// grantCode redeems an authorization code. The order of its checks is fixed:
// found and the client's own, used, expired, redirect_uri, PKCE, and then, in
// the act itself, installation and consent. A redemption uses the code up, and so does
// one that fails with a redirect_uri or a verifier that is not the code's. A
// redemption costs 7 statements, the client's included, and one commit.
func (s *Server) grantCode(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	presented, err := c.parameter("code", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
	}
	redirectURI, err := c.parameter("redirect_uri", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
	}
	code, err := s.ownCode(ctx, client, presented)
	if err != nil {
		return tokenAnswer{}, err
	}
	binding := code.checkBinding(redirectURI, c.form.Get("code_verifier"))
	switch {
	case code.Used:
		return tokenAnswer{}, s.replayCode(ctx, c, code, binding)
	case !c.now.Before(code.ExpiresAt):
		return tokenAnswer{}, apierror.GrantError(apierror.GrantExpired)
	case binding != nil:
		return tokenAnswer{}, s.spendCode(ctx, c, code, binding)
	}
	if err := s.requireMember(ctx, code.BusinessID, code.UserID); err != nil {
		return tokenAnswer{}, err
	}
	tokens := newPair(c.now)
	issued, err := s.cfg.Store.RedeemCode(ctx, code, tokens.issue(c.now))
	if err != nil {
		return tokenAnswer{}, apierror.Failed("redeem code", err)
	}
	if err := s.settle(ctx, c, issued.Outcome, reasons{lost: apierror.GrantCodeUsed}); err != nil {
		return tokenAnswer{}, err
	}
	return tokens.answer(issued.Scopes), nil
}

// ownCode finds a code of this client. A code of another client is as unknown as one
// that does not exist.
func (s *Server) ownCode(ctx context.Context, client authenticatedClient, presented string) (Code, error) {
	parsed, err := secret.Parse(secret.AuthorizationCode, presented)
	if err != nil {
		return Code{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	code, err := s.cfg.Store.Code(ctx, parsed.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return Code{}, apierror.GrantError(apierror.GrantUnexplained)
	case err != nil:
		return Code{}, apierror.Failed("find code", err)
	case !client.owns(code.Standing):
		return Code{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return code, nil
}

// spendCode uses up a code whose redemption failed with invalid_grant, which says that the
// grant is dead, and returns the error. A malformed request leaves the code as it was. A
// code that was used meanwhile answers as used.
func (s *Server) spendCode(ctx context.Context, c call, code Code, binding *apierror.OAuthError) error {
	if binding.Code() != apierror.InvalidGrant {
		return binding
	}
	spent, err := s.cfg.Store.SpendCode(ctx, code.ID, c.now)
	switch {
	case err != nil:
		return apierror.Failed("spend code", err)
	case !spent:
		return apierror.GrantError(apierror.GrantCodeUsed)
	}
	return binding
}

// replayCode answers for a used code. Its own client with the right redirect_uri
// and verifier had everything that the first redemption had, so one of the two
// is a thief: what the code gave ends (RFC 6749 section 4.1.2). Anybody else
// could use that to end other people's tokens, and only gets the answer.
func (s *Server) replayCode(ctx context.Context, c call, code Code, binding *apierror.OAuthError) error {
	if binding == nil {
		if err := s.cfg.Store.ReplayCode(ctx, code.ID, c.now); err != nil {
			return apierror.Failed("replay code", err)
		}
	}
	return apierror.GrantError(apierror.GrantCodeUsed)
}

// checkBinding holds a redemption to the request that the code came from, and returns nil
// when all of it is right. A
// verifier for a code without a challenge is refused too: the challenge may have
// been cut out of the request on its way (RFC 9700 section 2.1.1).
func (c Code) checkBinding(redirectURI, verifier string) *apierror.OAuthError {
	switch {
	case redirectURI != c.RedirectURI:
		return apierror.GrantError(apierror.GrantRedirectMismatch)
	case c.CodeChallenge == "" && verifier == "":
		return nil
	case c.CodeChallenge == "":
		return apierror.GrantError(apierror.GrantPKCEFailed)
	case verifier == "":
		return invalidRequest("code_verifier is missing")
	case !isVerifier(verifier):
		return invalidRequest("code_verifier is malformed")
	case !verifies(c.CodeChallenge, verifier):
		return apierror.GrantError(apierror.GrantPKCEFailed)
	}
	return nil
}
