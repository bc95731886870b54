package oauthserver

import (
	"context"
	"errors"
	"net/netip"
)

// ErrFault marks errors that are nobody's answer: a database or a host that
// failed. They are 5xx.
var ErrFault = errors.New("fault")

// errDocument says that a metadata document could not be had just now: the
// client is unknown for this request, and that is no failed authentication.
var errDocument = errors.New("client metadata document unavailable")

// findUse says what a client is looked up for.
type findUse int

const (
	forConsent findUse = iota // the document must be fresh
	forTokens                 // the last good document will do
)

// findClient returns the app of a client_id with its secrets, from whichever
// registration it has; [ErrNotFound] when there is none.
func (s *Server) findClient(ctx context.Context, clientID string, _ netip.Addr, _ findUse) (Client, error) {
	return s.cfg.Store.Client(ctx, clientID)
}
