package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// documents finds the apps of client metadata documents. The apps are kept in the store,
// for all nodes; failures are not kept.
type documents struct {
	*document.Fetcher
	store  oauthstore.Store
	logger *slog.Logger
	policy DocumentPolicy  // may be nil
	pinned map[string]*pin // by client_id
	useKey bool            // clients may authenticate with private_key_jwt

	clients flights[oauthstore.Client] // by client_id
	keys    flights[assertion.Keys]    // by the id of the app
}

// A lookup is one caller's request for a document.
type lookup struct {
	clientID string
	ip       netip.Addr
	now      time.Time
}

// A pin is a document that the host keeps. It is saved when it is first used, so that the
// store has the one of this process, and again when it is no longer fresh.
type pin struct {
	metadata clientmetadata.Client
	saved    atomic.Bool
}

// pinFreshness is how long the app of a pinned document is used before it is saved again. A
// document that is no longer pinned is fetched after this time.
const pinFreshness = 5 * time.Minute

func newDocuments(cfg Config) (*documents, error) {
	if cfg.Documents.MaxBytes < 0 {
		return nil, errors.New("oauthserver: Config.Documents.MaxBytes is negative")
	}
	fetcher, err := document.New(document.Config{
		Limiter: cfg.Limiter, Rules: document.Rules{Scopes: cfg.Scopes, PrivateUseSchemes: cfg.PrivateUseSchemes, PrivateKeyJWT: cfg.PrivateKeyJWT},
		MaxBytes: cfg.Documents.MaxBytes, AllowLoopback: cfg.Documents.AllowLoopback, Dial: cfg.Dial,
	})
	if err != nil {
		return nil, fmt.Errorf("oauthserver: Config.Documents: %w", err)
	}
	d := &documents{
		Fetcher: fetcher, store: cfg.Store, logger: cfg.Logger, policy: cfg.Documents.Policy,
		pinned: make(map[string]*pin), useKey: cfg.PrivateKeyJWT,
	}
	for clientID, body := range cfg.Documents.Pinned {
		if !fetcher.IsURL(clientID) {
			return nil, fmt.Errorf("oauthserver: Config.Documents.Pinned: %q cannot be the URL of a document", clientID)
		}
		metadata, err := fetcher.Parse(clientID, body)
		if err != nil {
			return nil, fmt.Errorf("oauthserver: Config.Documents.Pinned: the document of %s: %w", clientID, err)
		}
		d.pinned[clientID] = &pin{metadata: metadata}
	}
	return d, nil
}

// trust asks the host how far it trusts a document. The error is an internal error.
func (d *documents) trust(ctx context.Context, clientID string) (DocumentTrust, error) {
	var trust DocumentTrust
	if d.policy != nil {
		var err error
		if trust, err = d.policy(ctx, clientID); err != nil {
			return DocumentTrust{}, internalError("ask the document policy", err)
		}
	}
	switch {
	case trust.Review != DocumentSandbox && trust.Review != DocumentReviewed && trust.Review != DocumentRefused:
		return DocumentTrust{}, internalError("ask the document policy", fmt.Errorf("it returned the review %q", trust.Review))
	case trust.Review == DocumentSandbox && d.pinned[clientID] != nil:
		trust.Review = DocumentReviewed
	}
	return trust, nil
}

// isCurrent reports whether a client can be used without reading its document again. The
// document of a suspended or deactivated client is not read: the client is rejected anyway.
func (d *documents) isCurrent(c oauthstore.Client, now time.Time) bool {
	if c.Origin != partner.OriginDocument || !c.IsUsable() {
		return true
	}
	if c.Type == partner.Confidential && !d.useKey { // the option was turned off
		return false
	}
	pinned := d.pinned[c.ClientID]
	return now.Before(c.DocumentFreshUntil) && (pinned == nil || pinned.saved.Load())
}

// client returns the client of a document that is fetched now, for this caller or for an
// earlier one. Its error is document.ErrUnavailable or an internal error.
func (d *documents) client(ctx context.Context, l lookup) (oauthstore.Client, error) {
	return d.clients.join(ctx, l.clientID, func(ctx context.Context) (oauthstore.Client, error) { return d.refresh(ctx, l) })
}

// refresh fetches the document and saves the app that it describes. It reads the store
// first: another flight, here or on another node, may have saved the app since the caller
// read it.
func (d *documents) refresh(ctx context.Context, l lookup) (oauthstore.Client, error) {
	client, err := d.store.Client(ctx, l.clientID)
	known := err == nil
	switch {
	case known && d.isCurrent(client, l.now):
		return client, nil
	case !known && !errors.Is(err, partner.ErrNotFound):
		return oauthstore.Client{}, internalError("find client", err)
	}
	reason := document.NewClient
	if known {
		reason = document.KnownClient
	}
	metadata, fresh, err := d.read(ctx, l, document.Caller{URL: l.clientID, IP: l.ip, Now: l.now, Reason: reason})
	if err != nil {
		return oauthstore.Client{}, err
	}
	app := documentApp(l.clientID, metadata)
	app.ID, app.CreatedAt, app.Version = id.New(id.App, l.now), l.now, 1
	app.DocumentFetchedAt, app.DocumentFreshUntil = l.now, l.now.Add(fresh)
	saved, err := d.store.SaveDocumentApp(ctx, app)
	switch {
	case err != nil:
		return oauthstore.Client{}, internalError("save document", err)
	case saved.Origin == partner.OriginDocument:
		if pinned := d.pinned[l.clientID]; pinned != nil {
			pinned.saved.Store(true)
		}
		return clientOf(saved), nil
	}
	// The client_id was registered meanwhile. Registered clients take precedence.
	client, err = d.store.Client(ctx, l.clientID)
	return client, internalError("find client", err)
}

// read returns what the document says and how long that is fresh: the pinned document, or the
// one that its server has now.
func (d *documents) read(ctx context.Context, l lookup, caller document.Caller) (clientmetadata.Client, time.Duration, error) {
	if pinned := d.pinned[l.clientID]; pinned != nil {
		return pinned.metadata, pinFreshness, nil
	}
	var none clientmetadata.Client
	err := d.Charge(ctx, caller)
	switch {
	case errors.Is(err, document.ErrUnavailable):
		return none, 0, err
	case err != nil:
		return none, 0, internalError("fetch document", err)
	}
	metadata, fresh, err := d.Fetch(ctx, l.clientID, l.now)
	if err != nil {
		d.logger.InfoContext(ctx, "client metadata document rejected", "client_id", l.clientID, "err", err)
		// As text: the error may have a status for a response to the document's author.
		return none, 0, fmt.Errorf("%w: %s", document.ErrUnavailable, err.Error())
	}
	return metadata, fresh, nil
}

// documentApp returns the app that a document describes, without id and times.
func documentApp(clientID string, c clientmetadata.Client) partner.App {
	app := partner.App{
		ClientID: clientID, Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginDocument, Name: c.Name,
		RedirectURIs: distinct(c.RedirectURIs), Scopes: c.Scopes, Metadata: encodeMetadata(documentMetadata{c.Keys, c.Notes}),
	}
	if c.AuthMethod == authKey {
		app.Type = partner.Confidential
	}
	return app
}
