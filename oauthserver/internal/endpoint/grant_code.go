package endpoint

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/pkce"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// grantCode redeems an authorization code. The order of its checks is fixed: found and
// issued to the client, used, expired, redirect_uri, PKCE, and then, in the store's
// operation, installation, consent, user and scopes. A redemption uses up the code, even if it
// fails because redirect_uri or verifier is wrong, or because of the user or the scopes. A
// redemption costs 7 statements, including those for the client, and one commit.
func (s *Server) grantCode(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	presented, err := c.parameter("code", maxParameter)
	if err != nil {
		return tokenResponse{}, err
	}
	redirectURI, err := c.parameter("redirect_uri", maxParameter)
	if err != nil {
		return tokenResponse{}, err
	}
	code, err := findOwn(client, secret.AuthorizationCode, presented, func(code secret.Secret) (oauthstore.Code, oauthstore.Owners, error) {
		found, err := s.cfg.Store.Code(ctx, code.Digest())
		return found, found.Owners, err
	})
	if err != nil {
		return tokenResponse{}, err
	}
	binding := checkBinding(code, redirectURI, c.form.Get("code_verifier"))
	if binding == nil && code.CodeChallenge == "" && client.Type == partner.Public {
		// The client was CONFIDENTIAL when it asked: its metadata document has changed.
		binding = oautherror.Grant(oautherror.GrantPKCEFailed)
	}
	switch {
	case code.Used:
		return tokenResponse{}, s.replayCode(ctx, c, code, binding)
	case !c.now.Before(code.ExpiresAt):
		return tokenResponse{}, oautherror.Grant(oautherror.GrantExpired)
	case binding != nil:
		return tokenResponse{}, s.spendCode(ctx, c, code, binding)
	}
	member, err := s.IsMember(ctx, code.BusinessID, code.UserID)
	if err != nil {
		return tokenResponse{}, err
	}
	tokens := tokenpair.New(c.now)
	issued, err := s.cfg.Store.RedeemCode(ctx, code, s.NewTokens(tokens, c.now, member))
	if err != nil {
		return tokenResponse{}, apierror.Failed("redeem code", err)
	}
	return s.respond(ctx, c, tokens, issued, reasons{lost: oautherror.GrantCodeUsed, isFinal: true})
}

// spendCode uses up a code whose redemption failed with invalid_grant and returns the error.
// A malformed request does not use up the code. For a code that was used meanwhile the error
// is that of a used code.
func (s *Server) spendCode(ctx context.Context, c call, code oauthstore.Code, binding *oautherror.Error) error {
	if binding.Code != oautherror.InvalidGrant {
		return binding
	}
	spent, err := s.cfg.Store.SpendCode(ctx, code.ID, c.now)
	switch {
	case err != nil:
		return apierror.Failed("spend code", err)
	case !spent:
		return oautherror.Grant(oautherror.GrantCodeUsed)
	}
	return binding
}

// replayCode returns the error for a used code. If redirect_uri and verifier are right, the
// code may have been stolen, so the tokens that it gave are revoked (RFC 6749 section
// 4.1.2). Otherwise nothing is revoked, because an attacker could revoke other clients'
// tokens.
func (s *Server) replayCode(ctx context.Context, c call, code oauthstore.Code, binding *oautherror.Error) error {
	if binding == nil && code.FamilyID != "" {
		if _, err := s.cfg.Store.EndFamily(ctx, code.FamilyID, c.now); err != nil {
			return apierror.Failed("replay code", err)
		}
	}
	return oautherror.Grant(oautherror.GrantCodeUsed)
}

// checkBinding checks a redemption against the authorization request of the code. A verifier
// for a code without a challenge is rejected: the challenge may have been removed from the
// request on its way (RFC 9700 section 2.1.1).
func checkBinding(c oauthstore.Code, redirectURI, verifier string) *oautherror.Error {
	switch {
	case redirectURI != c.RedirectURI:
		return oautherror.Grant(oautherror.GrantRedirectMismatch)
	case c.CodeChallenge == "" && verifier == "":
		return nil
	case c.CodeChallenge == "":
		return oautherror.Grant(oautherror.GrantPKCEFailed)
	case verifier == "":
		return invalidRequest("code_verifier is missing")
	case !pkce.IsVerifier(verifier):
		return invalidRequest("code_verifier is malformed")
	case !pkce.Verify(c.CodeChallenge, verifier):
		return oautherror.Grant(oautherror.GrantPKCEFailed)
	}
	return nil
}
