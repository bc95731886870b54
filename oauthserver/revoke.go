package oauthserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// serveRevoke is the revocation endpoint (RFC 7009). Its answer is the same
// whatever the token was. It costs 3 statements and one commit, without a client
// 2 statements.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request) error {
	c, err := s.begin(r, endpointRevoke, readForm)
	if err != nil {
		return err
	}
	mayEnd, err := s.revoker(r.Context(), c)
	if err != nil {
		return err
	}
	token := c.form.Get("token")
	if token == "" {
		return invalidRequest("token is missing")
	}
	if err := s.revoke(r.Context(), c, token, mayEnd); err != nil {
		return err
	}
	forbidStoring(w)
	// RFC 7009 asks for no body; clients that parse one get along with this.
	return apierror.WriteJSON(w, http.StatusOK, struct{}{})
}

// revoker says whose tokens the caller may end: its own, when it names itself;
// whichever it holds, when it does not.
func (s *Server) revoker(ctx context.Context, c call) (mayEnd func(Standing) bool, err error) {
	if c.credentials.isAbsent() && c.credentials.problem == nil {
		return func(Standing) bool { return true }, nil
	}
	client, err := s.authenticate(ctx, c)
	if err != nil {
		return nil, err
	}
	return client.owns, nil
}

// revoke ends a token. Its prefix says what it is, so that a hint is not needed
// and a wrong one does no harm.
func (s *Server) revoke(ctx context.Context, c call, text string, mayEnd func(Standing) bool) error {
	switch kind, _ := secret.KindOf(text); kind {
	case secret.AccessToken:
		return s.revokeAccess(ctx, c, secret.Wrap(text), mayEnd)
	case secret.RefreshToken:
		return s.revokeFamily(ctx, c, secret.Wrap(text), mayEnd)
	}
	return nil
}

func (s *Server) revokeAccess(ctx context.Context, c call, presented secret.Secret, mayEnd func(Standing) bool) error {
	token, err := s.cfg.Store.AccessToken(ctx, presented.TokenID(), presented.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return apierror.Failed("find access token", err)
	case !mayEnd(token.Standing):
		return nil
	}
	if err := s.cfg.Store.RevokeAccessToken(ctx, token.ID, c.now); err != nil {
		return apierror.Failed("revoke access token", err)
	}
	return nil
}

// revokeFamily ends everything that descends from the same approval (RFC 7009
// section 2.1).
func (s *Server) revokeFamily(ctx context.Context, c call, presented secret.Secret, mayEnd func(Standing) bool) error {
	token, err := s.cfg.Store.RefreshToken(ctx, presented.TokenID(), presented.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return apierror.Failed("find refresh token", err)
	case !mayEnd(token.Standing):
		return nil
	}
	if err := s.cfg.Store.EndFamily(ctx, token.FamilyID, c.now); err != nil {
		return apierror.Failed("end family", err)
	}
	return nil
}
