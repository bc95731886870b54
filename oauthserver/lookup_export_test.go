package oauthserver

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// UseDocumentClient replaces the client that fetches documents.
func (s *Server) UseDocumentClient(client *outbound.Client) { s.core.Documents.HTTP = client }

// ErrLookupDocument is document.ErrUnavailable.
var ErrLookupDocument = document.ErrUnavailable

// LookupForConsent is core.FindClient as the consent page calls it.
func (s *Server) LookupForConsent(ctx context.Context, clientID string, ip netip.Addr) (oauthstore.Client, error) {
	return s.core.FindClient(ctx, clientID, ip, core.ForConsent)
}

// LookupForTokens is core.FindClient as the endpoints call it.
func (s *Server) LookupForTokens(ctx context.Context, clientID string, ip netip.Addr) (oauthstore.Client, error) {
	return s.core.FindClient(ctx, clientID, ip, core.ForTokens)
}

// ParseDocument returns the app that a document describes.
func ParseDocument(clientID string, body []byte, catalog identity.ScopeCatalog) (partner.App, error) {
	return ParseDocumentBy(clientID, body, document.Rules{Scopes: catalog})
}

// ParseDocumentBy is ParseDocument with any rules.
func ParseDocumentBy(clientID string, body []byte, rules document.Rules) (partner.App, error) {
	fetcher, err := document.New(document.Config{Rules: rules})
	if err != nil {
		return partner.App{}, err
	}
	c, err := fetcher.Parse(clientID, body)
	if err != nil {
		return partner.App{}, err
	}
	return document.App(clientID, c), nil
}

// KeySetHandler serves the key set at every path.
func (s *Server) KeySetHandler() http.Handler {
	api := s.APIHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/.well-known/jwks.json"
		api.ServeHTTP(w, r)
	})
}

// VerifySessionToken calls the verifier that the configuration named, or the default.
func (s *Server) VerifySessionToken(ctx context.Context, app partner.App, token string, now time.Time) (SessionToken, error) {
	return s.cfg.SessionTokens(ctx, app, token, now)
}
