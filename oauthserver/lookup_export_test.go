package oauthserver

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/outbound"
)

// UseDocumentClient replaces the client that fetches documents.
func (s *Server) UseDocumentClient(client *outbound.Client) { s.documents.http = client }

// ErrLookupDocument is errDocument.
var ErrLookupDocument = errDocument

// LookupForConsent is findClient as the consent page calls it.
func (s *Server) LookupForConsent(ctx context.Context, clientID string, ip netip.Addr) (Client, error) {
	return s.findClient(ctx, clientID, ip, forConsent)
}

// LookupForTokens is findClient as the endpoints call it.
func (s *Server) LookupForTokens(ctx context.Context, clientID string, ip netip.Addr) (Client, error) {
	return s.findClient(ctx, clientID, ip, forTokens)
}

// IsDocumentURL is isDocumentURL.
func IsDocumentURL(raw string, loopback outbound.Policy) bool { return isDocumentURL(raw, loopback) }

// ParseDocument is parseDocument.
func ParseDocument(clientID string, body []byte, catalog identity.ScopeCatalog) (App, error) {
	return parseDocument(clientID, body, catalog)
}

// KeySetHandler is the handler of the key set.
func (s *Server) KeySetHandler() http.Handler { return s.errors.Standard(s.serveJWKS) }

// SessionVerifier is the verifier that the configuration named, or the default.
func (s *Server) SessionVerifier() SessionTokenVerifier { return s.cfg.SessionTokens }

// IsChallenge is isChallenge.
func IsChallenge(s string) bool { return isChallenge(s) }

// DocumentFreshness is documentFreshness.
func DocumentFreshness(h http.Header, now time.Time) time.Duration { return documentFreshness(h, now) }
