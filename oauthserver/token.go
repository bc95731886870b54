package oauthserver

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
)

// serveToken is the token endpoint. The client is judged before anything else of
// the request, the resource before the grant, and only the grant changes
// anything.
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
	answer, err := s.grant(ctx, c, client)
	if err != nil {
		return err
	}
	forbidStoring(w)
	return apierror.WriteJSON(w, http.StatusOK, answer)
}

// grant redeems what the client presents.
func (s *Server) grant(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	grantType, err := c.parameter("grant_type", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
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
	}
	return tokenAnswer{}, apierror.NewOAuth(apierror.UnsupportedGrantType, "")
}

// isMember asks the host, since only it knows. A user who has left the business
// can no longer act in it, whatever was issued before.
func (s *Server) isMember(ctx context.Context, businessID, userID string) (bool, error) {
	member, err := s.cfg.Host.IsMember(ctx, businessID, userID)
	if err != nil {
		return false, apierror.Failed("ask the host for membership", err)
	}
	return member, nil
}

// requireMember is isMember for grants.
func (s *Server) requireMember(ctx context.Context, businessID, userID string) error {
	member, err := s.isMember(ctx, businessID, userID)
	if err == nil && !member {
		return apierror.GrantError(apierror.GrantUnexplained)
	}
	return err
}

// reasons are what a grant says when its act did not issue anything.
type reasons struct {
	lost    apierror.GrantReason // somebody else was first
	revoked apierror.GrantReason
}

// settle turns the outcome of a mint into an error, nil when tokens were issued.
func (s *Server) settle(ctx context.Context, c call, outcome Outcome, why reasons) error {
	switch outcome {
	case Issued:
		return nil
	case Lost:
		return apierror.GrantError(why.lost)
	case Revoked:
		return apierror.GrantError(why.revoked)
	case Dead:
		return apierror.GrantError(apierror.GrantUnexplained)
	case ClientDead:
		return s.refuseClient(ctx, c)
	}
	return apierror.Failed("mint", errOutcome)
}
