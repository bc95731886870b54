package endpoint

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// serveRevoke is the revocation endpoint (RFC 7009). Its response does not depend on the
// token. It costs 3 statements and one commit, or 2 statements without a client.
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
	// RFC 7009 needs no body. The empty object is for clients that parse one.
	return apierror.WriteJSON(w, http.StatusOK, struct{}{})
}

// revoker returns which tokens the caller may end: its own if it authenticates, and otherwise
// any token that it holds.
func (s *Server) revoker(ctx context.Context, c call) (mayEnd func(oauthstore.Owners) bool, err error) {
	if c.credentials.IsAbsent() && c.credentials.Problem == nil {
		return func(oauthstore.Owners) bool { return true }, nil
	}
	client, err := s.authenticate(ctx, c)
	if err != nil {
		return nil, err
	}
	return client.owns, nil
}

// revoke ends a token: an access token alone, or the whole family of a refresh token (RFC
// 7009 section 2.1). The prefix of a token tells its kind, so hints are ignored.
func (s *Server) revoke(ctx context.Context, c call, text string, mayEnd func(oauthstore.Owners) bool) error {
	token, err := s.findToken(ctx, text)
	if err != nil || token == nil || !mayEnd(token.standing.Owners) {
		return err
	}
	if token.accessID != "" {
		_, err = s.cfg.Store.RevokeAccessToken(ctx, token.accessID, c.now)
	} else {
		_, err = s.cfg.Store.EndFamily(ctx, token.standing.FamilyID, c.now)
	}
	if err != nil {
		return apierror.Failed("revoke token", err)
	}
	return nil
}
