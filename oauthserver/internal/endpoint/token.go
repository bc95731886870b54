package endpoint

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// The names of token types (RFC 6750, RFC 8693 section 3).
const (
	tokenTypeBearer      = "Bearer"
	tokenTypeAccessToken = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // a name
	tokenTypeJWT         = "urn:ietf:params:oauth:token-type:jwt"          //nolint:gosec // a name
)

// tokenResponse is the response of the token endpoint (RFC 6749 section 5.1).
type tokenResponse struct {
	AccessToken     string `json:"access_token"`
	IssuedTokenType string `json:"issued_token_type,omitempty"` // RFC 8693 section 2.2.1
	TokenType       string `json:"token_type"`
	ExpiresIn       int    `json:"expires_in"`
	RefreshToken    string `json:"refresh_token,omitempty"`
	Scope           string `json:"scope"`
}

// serveToken is the token endpoint. The client is checked before the rest of the request and
// the resource before the grant. Only the grant changes anything.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	c, err := s.begin(r, endpointToken, readForm)
	if err != nil {
		return err
	}
	client, err := s.authenticate(ctx, c)
	if err != nil {
		return err
	}
	if err := s.limitClient(ctx, c, client); err != nil {
		return err
	}
	if err := s.checkTarget(c); err != nil {
		return err
	}
	response, err := s.grant(ctx, c, client)
	if err != nil {
		return err
	}
	forbidStoring(w)
	return apierror.WriteJSON(w, http.StatusOK, response)
}

// grant issues tokens for what the client presents.
func (s *Server) grant(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	grantType, err := c.parameter("grant_type", maxParameter)
	if err != nil {
		return tokenResponse{}, err
	}
	switch grantType {
	case grantCode:
		return s.grantCode(ctx, c, client)
	case grantRefresh:
		return s.grantRefresh(ctx, c, client)
	case grantDevice:
		return s.grantDevice(ctx, c, client)
	case grantExchange:
		return s.grantExchange(ctx, c, client)
	case grantInstallation:
		if s.cfg.CustomConnections {
			return s.grantInstallation(ctx, c, client)
		}
	}
	return tokenResponse{}, oautherror.New(oautherror.UnsupportedGrantType, "")
}

// findOwn returns the code, refresh token or device code that the client presents, if it was
// issued to the client. One that was issued to another client is as unknown as one that does
// not exist: presenting it changes nothing.
func findOwn[T any](client authenticatedClient, kind secret.Kind, presented string, find func(secret.Secret) (T, oauthstore.Owners, error)) (T, error) {
	var none T
	parsed, err := secret.Parse(kind, presented)
	if err != nil {
		return none, oautherror.Grant(oautherror.GrantUnexplained)
	}
	found, owners, err := find(parsed)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return none, oautherror.Grant(oautherror.GrantUnexplained)
	case err != nil:
		return none, apierror.Failed("find the presented secret", err)
	case !client.owns(owners):
		return none, oautherror.Grant(oautherror.GrantUnexplained)
	}
	return found, nil
}

// reasons are the errors of a grant if the store issued nothing.
type reasons struct {
	lost    oautherror.Reason // another request was first
	revoked oautherror.Reason
	// isFinal reports that a cause that may pass ends the grant all the same: the error is
	// invalid_grant instead of access_denied.
	isFinal bool
}

// The descriptions of access_denied at the token endpoint. Whether the user is suspended,
// restricted or has left is not told.
const (
	deniedScopes = "none of the granted scopes is allowed now"
)

// denied returns the error for a cause that may pass.
func (why reasons) denied(description string) error {
	if why.isFinal {
		return oautherror.Grant(oautherror.GrantUnexplained)
	}
	return oautherror.New(oautherror.AccessDenied, description)
}

// expiresIn returns how many seconds the access token has left. It is at least 1, because
// clients take 0 for a token that does not expire.
func (s *Server) expiresIn(issued oauthstore.IssueResult, now time.Time) int {
	left := s.cfg.Lifetimes.AccessToken
	if issued.Outcome == oauthstore.Repeated {
		left -= now.Sub(issued.IssuedAt)
	}
	return max(1, int(left/time.Second))
}

// respond returns the response with the tokens, or the error if the store issued none.
func (s *Server) respond(ctx context.Context, c call, p tokenpair.Pair, issued oauthstore.IssueResult, why reasons) (tokenResponse, error) {
	var none tokenResponse
	switch issued.Outcome {
	case oauthstore.Issued, oauthstore.Repeated:
		return tokenResponse{
			AccessToken:  p.Access.Reveal(),
			TokenType:    tokenTypeBearer,
			ExpiresIn:    s.expiresIn(issued, c.now),
			RefreshToken: p.Refresh.Reveal(),
			Scope:        issued.Scopes.String(),
		}, nil
	case oauthstore.Lost:
		return none, oautherror.Grant(why.lost)
	case oauthstore.Revoked:
		return none, oautherror.Grant(why.revoked)
	case oauthstore.Dead:
		return none, oautherror.Grant(oautherror.GrantUnexplained)
	case oauthstore.ClientDead:
		return none, s.refuseClient(ctx, c)
	case oauthstore.UserBarred:
		return none, why.denied(core.DeniedUser)
	case oauthstore.NoScopes:
		return none, why.denied(deniedScopes)
	case oauthstore.TooWide:
		return none, oautherror.New(oautherror.InvalidScope, "no longer granted: "+c.form.Get("scope"))
	}
	return none, apierror.Failed("issue tokens", errors.New("the store returned an unknown outcome"))
}
