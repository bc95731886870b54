package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// ErrInternal marks errors that are nobody's answer: a database or a host that
// failed. They are 5xx.
var ErrInternal = errors.New("fault")

// errDocument says that a metadata document could not be had just now, or was no
// good: the client is unknown for this request, and that is no failed
// authentication.
var errDocument = errors.New("client metadata document unavailable")

// findUse says what a client is looked up for.
type findUse int

const (
	forConsent findUse = iota // the document must be fresh
	forTokens                 // the last good document will do
)

// documentGrace is how long, after it was fetched, the last good document of a
// client serves requests for tokens while a newer one cannot be had. An outage of
// the document's host must not log anybody out.
const documentGrace = 30 * 24 * time.Hour

// findClient returns the app of a client_id with its secrets: one that was
// registered, or else the one that the metadata document at the client_id
// describes. ip is the caller's, whose budget a fetch is charged to. Errors are
// [ErrNotFound] when the client_id is nobody's and names no document, errDocument
// when it names one that is not to be had or not valid, and faults.
//
// A client that was registered, and one whose document is fresh, costs one
// statement. One that may not be used is returned without a look at its document:
// the answer is a refusal whatever that says.
func (s *Server) findClient(ctx context.Context, clientID string, ip netip.Addr, use findUse) (Client, error) {
	now := s.cfg.Clock.Now()
	client, err := s.cfg.Store.Client(ctx, clientID)
	known := err == nil
	switch {
	case known && needsNoDocument(client, now):
		return client, nil
	case !known && !errors.Is(err, ErrNotFound):
		return Client{}, fmt.Errorf("%w: find client: %w", ErrInternal, err)
	case !known && !s.documents.isClientID(clientID):
		return Client{}, ErrNotFound
	}
	fetched, err := s.documents.client(ctx, lookup{clientID: clientID, ip: ip, now: now})
	lastGood := known && use == forTokens && now.Before(client.DocumentFetchedAt.Add(documentGrace))
	if errors.Is(err, errDocument) && lastGood {
		return client, nil
	}
	return fetched, err
}

func needsNoDocument(c Client, now time.Time) bool {
	return c.Origin != OriginDocument || !c.IsUsable() || now.Before(c.DocumentFreshUntil)
}
