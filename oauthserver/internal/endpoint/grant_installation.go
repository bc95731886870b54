package endpoint

import (
	"context"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// grantInstallation issues an access token of the app's custom connection (RFC 6749 section
// 4.4). The app names no business: it has at most one such connection. There is no refresh
// token, because the app can ask again at any time.
func (s *Server) grantInstallation(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	if client.Type != partner.Confidential {
		return tokenResponse{}, s.refuseClient(ctx, c)
	}
	narrow, err := identity.ParseScopes(c.form.Get("scope"))
	if err != nil {
		return tokenResponse{}, oautherror.New(oautherror.InvalidScope, err.Error())
	}
	tokens := tokenpair.New(c.now)
	tokens.Refresh = secret.Secret{}
	issued, err := s.cfg.Store.IssueForInstallation(ctx, client.ID, narrow, s.NewTokens(tokens, c.now, true))
	switch {
	case err != nil:
		return tokenResponse{}, apierror.Failed("issue installation token", err)
	case issued.Outcome == oauthstore.TooWide:
		return tokenResponse{}, oautherror.New(oautherror.InvalidScope, "not granted: "+narrow.String())
	}
	return s.respond(ctx, c, tokens, issued, reasons{})
}
