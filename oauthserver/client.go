package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// ErrInternal marks errors that are not the caller's: the store or the host failed. The
// response is a 5xx.
var ErrInternal = errors.New("internal error")

// internalError wraps an error with [ErrInternal]; nil stays nil.
func internalError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrInternal, doing, err)
}

// findUse is the purpose of a client lookup.
type findUse int

const (
	forConsent findUse = iota // needs a fresh document
	forTokens                 // acceptsSecret the last valid document
)

// documentGrace is how long after its fetch the last valid document of a client serves
// requests for tokens while a newer one cannot be fetched. An outage of the document's host
// must not end sessions.
const documentGrace = 30 * 24 * time.Hour

// findClient returns the app of a client_id with its secrets: the registered one, or else
// the one that the metadata document at the client_id describes. A fetch is charged to the
// budget of the caller's address ip. The error is [partner.ErrNotFound] if the client_id is unknown
// and not the URL of a document, or if the host's policy refuses it, document.ErrUnavailable if its document cannot be fetched
// or is not valid, or an internal error. An unavailable document is not a failed
// authentication.
//
// A registered client, and one with a fresh document, costs one statement.
func (s *Server) findClient(ctx context.Context, clientID string, ip netip.Addr, use findUse) (oauthstore.Client, error) {
	now := s.cfg.Clock.Now()
	client, err := s.cfg.Store.Client(ctx, clientID)
	known := err == nil
	switch {
	case known && client.Origin != partner.OriginDocument:
		return client, nil
	case !known && !errors.Is(err, partner.ErrNotFound):
		return oauthstore.Client{}, internalError("find client", err)
	case !known && !s.documents.IsURL(clientID):
		return oauthstore.Client{}, partner.ErrNotFound
	}
	trust, err := s.documents.trust(ctx, clientID)
	switch {
	case err != nil:
		return oauthstore.Client{}, err
	case trust.Review == DocumentRefused:
		return oauthstore.Client{}, partner.ErrNotFound
	case known && s.documents.isCurrent(client, now):
		return client, nil
	}
	fetched, err := s.documents.client(ctx, lookup{clientID: clientID, ip: ip, now: now})
	lastGood := known && use == forTokens && now.Before(client.DocumentFetchedAt.Add(documentGrace))
	if errors.Is(err, document.ErrUnavailable) && lastGood {
		return client, nil
	}
	return fetched, err
}

// authenticatedClient is an app that has authenticated as well as its type can. Only prove
// creates one.
type authenticatedClient struct {
	oauthstore.Client
	// proved: it presented its secret, or an assertion signed with its key. PUBLIC clients
	// have neither.
	proved bool
}

// owns reports whether a token was issued to this client.
func (c authenticatedClient) owns(o oauthstore.Owners) bool { return c.ID == o.AppID }

// authenticate returns the client that calls. Every failure is the same invalid_client. A
// failed authentication uses up nothing and counts toward the lockouts of the endpoint.
func (s *Server) authenticate(ctx context.Context, c call) (authenticatedClient, error) {
	client, err := s.prove(ctx, c)
	if err != nil {
		return authenticatedClient{}, err
	}
	if !client.IsUsable() {
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	return client, nil
}

// prove is authenticate without a check of the app's status: suspended apps may introspect.
func (s *Server) prove(ctx context.Context, c call) (authenticatedClient, error) {
	switch {
	case c.credentials.Problem != nil:
		return authenticatedClient{}, c.credentials.Problem
	case c.credentials.Malformed || c.credentials.ClientID == "":
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	client, err := s.findClient(ctx, c.credentials.ClientID, c.ip, forTokens)
	switch {
	case errors.Is(err, document.ErrUnavailable):
		return authenticatedClient{}, errClient() // an outage of the document's host is not a failed authentication
	case errors.Is(err, partner.ErrNotFound):
		// The same work as for an existing client, so that the duration does not
		// reveal which clients exist.
		client = oauthstore.Client{Type: partner.Confidential, Secrets: []storage.Digest{{}}}
	case err != nil:
		return authenticatedClient{}, apierror.Failed("find client", err)
	}
	if c.credentials.Assertion != nil {
		return s.proveKey(ctx, c, client)
	}
	if !acceptsSecret(client, c.credentials.Secret) {
		switch accepted, err := s.acceptsForeign(ctx, c, client); {
		case err != nil:
			return authenticatedClient{}, err
		case !accepted:
			return authenticatedClient{}, s.refuseClient(ctx, c)
		}
	}
	proved := !c.credentials.Secret.IsZero()
	if proved && s.cfg.SecretUsed != nil {
		s.cfg.SecretUsed(partner.ClientSecret{Digest: c.credentials.Secret.Digest()}.UseID(), c.now)
	}
	return authenticatedClient{Client: client, proved: proved}, nil
}

// callingApp returns the app of an authenticated client, with all its fields.
func (s *Server) callingApp(ctx context.Context, c call, client authenticatedClient) (partner.App, error) {
	app, err := s.cfg.Store.App(ctx, client.ID)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return partner.App{}, s.refuseClient(ctx, c)
	case err != nil:
		return partner.App{}, apierror.Failed("read the calling app", err)
	}
	return app, nil
}

// acceptsSecret reports whether the presented secret, or its absence, authenticates the client. A
// PUBLIC client has no secret, so every secret is wrong.
func acceptsSecret(c oauthstore.Client, presented secret.Secret) bool {
	if presented.IsZero() {
		return c.Type == partner.Public
	}
	digest, right := presented.Digest(), false
	for _, valid := range c.Secrets {
		if digest.Equal(valid) {
			right = true // and continue: each request makes the same comparisons
		}
	}
	return right && c.Type == partner.Confidential
}

// refuseClient counts a failed authentication and returns its error. Concurrent failures
// after the one that causes a lockout have the error of the lockout.
func (s *Server) refuseClient(ctx context.Context, c call) error {
	result, err := s.cfg.Limiter.Fail(ctx, c.now, c.lockouts(&s.cfg.Limits))
	switch {
	case err != nil:
		return apierror.Failed("rate limit", err)
	case !result.Allowed:
		return apierror.OAuthTooManyRequests(result.Wait)
	}
	if result.BeganLockout {
		s.tellLockout(ctx, c)
	}
	return errClient()
}

// errClient has one text for every reason, so that it does not reveal which clients exist.
func errClient() error {
	return apierror.NewOAuth(apierror.InvalidClient, "client authentication failed")
}

func invalidRequest(description string) *apierror.OAuthError {
	return apierror.NewOAuth(apierror.InvalidRequest, description)
}
