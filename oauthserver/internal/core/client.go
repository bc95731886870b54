package core

import (
	"context"
	"errors"
	"net/netip"

	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// FindUse is the purpose of a client lookup.
type FindUse int

// The purposes of lookups.
const (
	ForConsent FindUse = iota // needs a fresh document
	ForTokens                 // accepts the last valid document
)

// FindClient returns the app of a client_id with its secrets: the registered one, or else
// the one that the metadata document at the client_id describes. A fetch is charged to the
// budget of the caller's address ip. The error is [partner.ErrNotFound] if the client_id is unknown
// and not the URL of a document, or if the host's policy refuses it, document.ErrUnavailable if its document cannot be fetched
// or is not valid, or an internal error. An unavailable document is not a failed
// authentication.
//
// A registered client, and one with a fresh document, costs one statement.
func (c *Core) FindClient(ctx context.Context, clientID string, ip netip.Addr, use FindUse) (oauthstore.Client, error) {
	now := c.Clock.Now()
	client, err := c.Store.Client(ctx, clientID)
	known := err == nil
	switch {
	case known && client.Origin != partner.OriginDocument:
		return client, nil
	case !known && !errors.Is(err, partner.ErrNotFound):
		return oauthstore.Client{}, failure.Wrap("find client", err)
	case !known && !c.Documents.IsURL(clientID):
		return oauthstore.Client{}, partner.ErrNotFound
	}
	trust, err := c.Documents.Trust(ctx, clientID)
	switch {
	case err != nil:
		return oauthstore.Client{}, err
	case trust.Review == document.Refused:
		return oauthstore.Client{}, partner.ErrNotFound
	case known && c.Documents.IsCurrent(client, now):
		return client, nil
	}
	fetched, err := c.Documents.Load(ctx, document.Lookup{ClientID: clientID, IP: ip, Now: now})
	lastGood := known && use == ForTokens && now.Before(client.DocumentFetchedAt.Add(document.Grace))
	if errors.Is(err, document.ErrUnavailable) && lastGood {
		return client, nil
	}
	return fetched, err
}

// AppByClientID returns one app; [partner.ErrNotFound].
func (c *Core) AppByClientID(ctx context.Context, clientID string) (partner.App, error) {
	found, err := c.Store.Apps(ctx, partner.AppQuery{ClientID: clientID})
	if err == nil && len(found) == 0 {
		err = partner.ErrNotFound
	}
	if err != nil {
		return partner.App{}, err
	}
	return found[0], nil
}
