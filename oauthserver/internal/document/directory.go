package document

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
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// DirectoryConfig configures a [Directory].
type DirectoryConfig struct {
	Config
	Store  oauthstore.Store
	Logger *slog.Logger
	Policy Policy            // may be nil
	Pinned map[string][]byte // by client_id
}

// Directory finds the apps of client metadata documents, and the keys of clients. The apps are
// kept in the store, for all nodes; failures are not kept.
type Directory struct {
	*Fetcher
	store  oauthstore.Store
	logger *slog.Logger
	policy Policy          // may be nil
	pinned map[string]*pin // by client_id
	useKey bool            // clients may authenticate with private_key_jwt

	clients flights[oauthstore.Client] // by client_id
	keys    flights[assertion.Keys]    // by the id of the app
}

// A Lookup is one caller's request for a document.
type Lookup struct {
	ClientID string
	IP       netip.Addr
	Now      time.Time
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

// NewDirectory returns a directory. It starts nothing.
func NewDirectory(cfg DirectoryConfig) (*Directory, error) {
	fetcher, err := New(cfg.Config)
	if err != nil {
		return nil, err
	}
	d := &Directory{
		Fetcher: fetcher, store: cfg.Store, logger: cfg.Logger, policy: cfg.Policy,
		pinned: make(map[string]*pin), useKey: cfg.Rules.PrivateKeyJWT,
	}
	for clientID, body := range cfg.Pinned {
		if !fetcher.IsURL(clientID) {
			return nil, fmt.Errorf("Pinned: %q cannot be the URL of a document", clientID)
		}
		metadata, err := fetcher.Parse(clientID, body)
		if err != nil {
			return nil, fmt.Errorf("Pinned: the document of %s: %w", clientID, err)
		}
		d.pinned[clientID] = &pin{metadata: metadata}
	}
	return d, nil
}

// Trust asks the host how far it trusts a document. The error is an internal error.
func (d *Directory) Trust(ctx context.Context, clientID string) (Trust, error) {
	var trust Trust
	if d.policy != nil {
		var err error
		if trust, err = d.policy(ctx, clientID); err != nil {
			return Trust{}, failure.Wrap("ask the document policy", err)
		}
	}
	switch {
	case trust.Review != Sandbox && trust.Review != Reviewed && trust.Review != Refused:
		return Trust{}, failure.Wrap("ask the document policy", fmt.Errorf("it returned the review %q", trust.Review))
	case trust.Review == Sandbox && d.pinned[clientID] != nil:
		trust.Review = Reviewed
	}
	return trust, nil
}

// IsCurrent reports whether a client can be used without reading its document again. The
// document of a suspended or deactivated client is not read: the client is rejected anyway.
func (d *Directory) IsCurrent(c oauthstore.Client, now time.Time) bool {
	if c.Origin != partner.OriginDocument || !c.IsUsable() {
		return true
	}
	if c.Type == partner.Confidential && !d.useKey { // the option was turned off
		return false
	}
	pinned := d.pinned[c.ClientID]
	return now.Before(c.DocumentFreshUntil) && (pinned == nil || pinned.saved.Load())
}

// Load returns the client of a document that is fetched now, for this caller or for an
// earlier one. Its error is ErrUnavailable or an internal error.
func (d *Directory) Load(ctx context.Context, l Lookup) (oauthstore.Client, error) {
	return d.clients.join(ctx, l.ClientID, func(ctx context.Context) (oauthstore.Client, error) { return d.refresh(ctx, l) })
}

// refresh fetches the document and saves the app that it describes. It reads the store
// first: another flight, here or on another node, may have saved the app since the caller
// read it.
func (d *Directory) refresh(ctx context.Context, l Lookup) (oauthstore.Client, error) {
	client, err := d.store.Client(ctx, l.ClientID)
	known := err == nil
	switch {
	case known && d.IsCurrent(client, l.Now):
		return client, nil
	case !known && !errors.Is(err, partner.ErrNotFound):
		return oauthstore.Client{}, failure.Wrap("find client", err)
	}
	reason := NewClient
	if known {
		reason = KnownClient
	}
	metadata, fresh, err := d.read(ctx, l, Caller{URL: l.ClientID, IP: l.IP, Now: l.Now, Reason: reason})
	if err != nil {
		return oauthstore.Client{}, err
	}
	app := App(l.ClientID, metadata)
	app.ID, app.CreatedAt, app.Version = id.New(id.App, l.Now), l.Now, 1
	app.DocumentFetchedAt, app.DocumentFreshUntil = l.Now, l.Now.Add(fresh)
	saved, err := d.store.SaveDocumentApp(ctx, app)
	switch {
	case err != nil:
		return oauthstore.Client{}, failure.Wrap("save document", err)
	case saved.Origin == partner.OriginDocument:
		if pinned := d.pinned[l.ClientID]; pinned != nil {
			pinned.saved.Store(true)
		}
		return ClientOf(saved), nil
	}
	// The client_id was registered meanwhile. Registered clients take precedence.
	client, err = d.store.Client(ctx, l.ClientID)
	return client, failure.Wrap("find client", err)
}

// read returns what the document says and how long that is fresh: the pinned document, or the
// one that its server has now.
func (d *Directory) read(ctx context.Context, l Lookup, caller Caller) (clientmetadata.Client, time.Duration, error) {
	if pinned := d.pinned[l.ClientID]; pinned != nil {
		return pinned.metadata, pinFreshness, nil
	}
	var none clientmetadata.Client
	err := d.Charge(ctx, caller)
	switch {
	case errors.Is(err, ErrUnavailable):
		return none, 0, err
	case err != nil:
		return none, 0, failure.Wrap("fetch document", err)
	}
	metadata, fresh, err := d.Fetch(ctx, l.ClientID, l.Now)
	if err != nil {
		d.logger.InfoContext(ctx, "client metadata document rejected", "client_id", l.ClientID, "err", err)
		// As text: the error may have a status for a response to the document's author.
		return none, 0, fmt.Errorf("%w: %s", ErrUnavailable, err.Error())
	}
	return metadata, fresh, nil
}

// App returns the app that a document describes, without id and times.
func App(clientID string, c clientmetadata.Client) partner.App {
	app := partner.App{
		ClientID: clientID, Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginDocument, Name: c.Name,
		RedirectURIs: uri.Distinct(c.RedirectURIs), Scopes: c.Scopes, Metadata: clientmetadata.Encode(clientmetadata.Document{Keys: c.Keys, Notes: c.Notes}),
	}
	if c.AuthMethod == clientmetadata.AuthKey {
		app.Type = partner.Confidential
	}
	return app
}

// ClientOf returns the app as a client that has no secrets.
func ClientOf(a partner.App) oauthstore.Client {
	return oauthstore.Client{
		ID: a.ID, ClientID: a.ClientID, Type: a.Type, Status: a.Status, Origin: a.Origin,
		DocumentFetchedAt: a.DocumentFetchedAt, DocumentFreshUntil: a.DocumentFreshUntil,
	}
}

// Grace is how long after its fetch the last valid document of a client serves
// requests for tokens while a newer one cannot be fetched. An outage of the document's host
// must not end sessions.
const Grace = 30 * 24 * time.Hour
