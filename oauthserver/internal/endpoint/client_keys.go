package endpoint

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// proveKey authenticates a client by its assertion. Claims are checked first, so that an
// assertion that cannot be valid causes no fetch. The assertion is used up last: one that is
// rejected for any other reason does not use up its jti. It costs 2 statements more than the
// client's, 3 with a jwks_uri, and one commit.
func (s *Server) proveKey(ctx context.Context, c call, client oauthstore.Client) (authenticatedClient, error) {
	presented := c.credentials.Assertion
	refuse := func(reason error) (authenticatedClient, error) {
		s.cfg.Logger.InfoContext(ctx, "client assertion rejected", "client_id", c.credentials.ClientID, "reason", reason)
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	if client.ID == "" || client.Type != partner.Confidential {
		return refuse(document.ErrNoKeys)
	}
	if err := presented.Check(client.ClientID, []string{s.apiOrigin, s.apiOrigin + pathToken}, c.now); err != nil {
		return refuse(err)
	}
	app, err := s.callingApp(ctx, c, authenticatedClient{Client: client})
	if err != nil {
		return authenticatedClient{}, err
	}
	keys, err := s.documents.KeysOf(ctx, document.KeyLookup{App: app, KeyID: presented.KeyID, IP: c.ip, Now: c.now})
	switch {
	case errors.Is(err, document.ErrNoKeys):
		return refuse(err)
	case errors.Is(err, document.ErrUnavailable):
		return authenticatedClient{}, errClient() // an outage of the host of the keys is not a failed authentication
	case err != nil:
		return authenticatedClient{}, apierror.Failed("find the keys of a client", err)
	}
	if err := presented.Verify(keys); err != nil {
		return refuse(err)
	}
	first, err := s.cfg.Store.UseAssertion(ctx, oauthstore.UsedAssertion{
		Digest: secret.DigestOf(client.ID + " " + presented.ID), ExpiresAt: presented.ExpiresAt,
	})
	switch {
	case err != nil:
		return authenticatedClient{}, apierror.Failed("use a client assertion", err)
	case !first:
		return refuse(assertion.Rejection("used before"))
	}
	return authenticatedClient{Client: client, proved: true}, nil
}
