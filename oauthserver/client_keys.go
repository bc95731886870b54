package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

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
		return refuse(errNoKeys)
	}
	if err := presented.Check(client.ClientID, []string{s.apiOrigin, s.apiOrigin + pathToken}, c.now); err != nil {
		return refuse(err)
	}
	app, err := s.callingApp(ctx, c, authenticatedClient{Client: client})
	if err != nil {
		return authenticatedClient{}, err
	}
	keys, err := s.documents.keysOf(ctx, keyLookup{app: app, keyID: presented.KeyID, ip: c.ip, now: c.now})
	switch {
	case errors.Is(err, errNoKeys):
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

var errNoKeys = errors.New("the client does not authenticate with private_key_jwt")

// A keyLookup asks for the keys of an app, among them the one with an id, if that is not empty.
type keyLookup struct {
	app   partner.App
	keyID string
	ip    netip.Addr
	now   time.Time
}

// keysOf returns the public keys of an app: those of its metadata, or those at its jwks_uri,
// which are fetched when they are no longer fresh, and once when the key id is not among them.
// While they cannot be fetched, the last ones serve for as long as the last document does. The
// error is errNoKeys, document.ErrUnavailable or an internal error.
func (d *documents) keysOf(ctx context.Context, l keyLookup) (assertion.Keys, error) {
	metadata := metadataOf(l.app)
	switch {
	case len(metadata.Set) > 0:
		keys, err := assertion.ParseKeys(metadata.Set)
		return keys, internalError("read the keys of an app", err) // they were checked when they were saved
	case metadata.URI == "":
		return assertion.Keys{}, errNoKeys
	}
	saved, keys, err := d.savedKeys(ctx, l.app.ID, metadata.URI)
	if err != nil {
		return assertion.Keys{}, err
	}
	reason := document.KnownClient
	if l.now.Before(saved.FreshUntil) {
		if l.keyID == "" || keys.Has(l.keyID) {
			return keys, nil
		}
		reason = document.UnknownKey
	}
	fetched, err := d.keys.join(ctx, l.app.ID, func(ctx context.Context) (assertion.Keys, error) {
		// Another flight, here or on another node, may have saved them meanwhile.
		now, keys, err := d.savedKeys(ctx, l.app.ID, metadata.URI)
		if err != nil || now.FetchedAt.After(saved.FetchedAt) && l.now.Before(now.FreshUntil) {
			return keys, err
		}
		return d.refreshKeys(ctx, l, metadata.URI, reason)
	})
	if errors.Is(err, document.ErrUnavailable) && l.now.Before(saved.FetchedAt.Add(documentGrace)) {
		return keys, nil
	}
	return fetched, err
}

// savedKeys returns the keys that were last fetched from a URL; zero values if there are none.
func (d *documents) savedKeys(ctx context.Context, appID, from string) (oauthstore.ClientKeys, assertion.Keys, error) {
	saved, err := d.store.ClientKeys(ctx, appID)
	switch {
	case errors.Is(err, partner.ErrNotFound), err == nil && saved.URI != from:
		return oauthstore.ClientKeys{}, assertion.Keys{}, nil
	case err != nil:
		return oauthstore.ClientKeys{}, assertion.Keys{}, internalError("find the keys of a client", err)
	}
	keys, err := assertion.ParseKeys([]byte(saved.Set))
	return saved, keys, internalError("read the keys of a client", err)
}

// refreshKeys fetches the keys of an app and saves them.
func (d *documents) refreshKeys(ctx context.Context, l keyLookup, from string, reason document.Reason) (assertion.Keys, error) {
	err := d.Charge(ctx, document.Caller{URL: from, IP: l.ip, Now: l.now, Reason: reason})
	switch {
	case errors.Is(err, document.ErrUnavailable):
		return assertion.Keys{}, err
	case err != nil:
		return assertion.Keys{}, internalError("fetch keys", err)
	}
	set, fresh, err := d.FetchKeys(ctx, from, l.now)
	if err != nil {
		d.logger.InfoContext(ctx, "client keys rejected", "client_id", l.app.ClientID, "err", err)
		return assertion.Keys{}, fmt.Errorf("%w: %s", document.ErrUnavailable, err.Error())
	}
	err = d.store.SaveClientKeys(ctx, oauthstore.ClientKeys{AppID: l.app.ID, URI: from, Set: string(set), FetchedAt: l.now, FreshUntil: l.now.Add(fresh)})
	if err != nil {
		return assertion.Keys{}, internalError("save the keys of a client", err)
	}
	keys, err := assertion.ParseKeys(set)
	return keys, internalError("read the keys of a client", err)
}
