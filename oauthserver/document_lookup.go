package oauthserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// documents finds the apps of client metadata documents. What it finds is kept in
// the store, for all nodes; failures are kept nowhere.
type documents struct {
	store   Store
	limiter ratelimit.Limiter
	scopes  identity.ScopeCatalog
	logger  *slog.Logger
	policy  outbound.Policy
	http    *outbound.Client

	mu      sync.Mutex
	flights map[string]*flight // by client_id
}

// A lookup is one caller's question.
type lookup struct {
	clientID string
	ip       netip.Addr
	now      time.Time
}

// A flight is a fetch that any number of callers wait for.
type flight struct {
	done   chan struct{} // closed when the rest is set
	client Client
	err    error
}

func newDocuments(cfg Config) (*documents, error) {
	if cfg.Documents.MaxBytes < 0 {
		return nil, errors.New("oauthserver: Config.Documents.MaxBytes is negative")
	}
	client, err := documentClient(cfg.Documents)
	if err != nil {
		return nil, err
	}
	return &documents{
		store: cfg.Store, limiter: cfg.Limiter, scopes: cfg.Scopes, logger: cfg.Logger,
		policy: documentPolicy(cfg.Documents), http: client, flights: make(map[string]*flight),
	}, nil
}

// isClientID reports whether a client_id may be the URL of a document.
func (d *documents) isClientID(clientID string) bool { return isDocumentURL(clientID, d.policy) }

// client returns the client whose document is fetched now, by this caller or by
// one who came first; errDocument or a fault.
func (d *documents) client(ctx context.Context, l lookup) (Client, error) {
	for {
		f, first := d.board(ctx, l)
		select {
		case <-f.done:
		case <-ctx.Done():
			return Client{}, fmt.Errorf("%w: wait for document: %w", ErrInternal, ctx.Err())
		}
		// The one who came first had no budget left. That is not ours: try again.
		if !first && errors.Is(f.err, errBudget) {
			continue
		}
		return f.client, f.err
	}
}

// board joins the flight to a document, or starts it. A flight goes on when the
// caller who started it leaves: others may be waiting, and the next one will ask
// for the same document.
func (d *documents) board(ctx context.Context, l lookup) (f *flight, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.flights[l.clientID]; f != nil {
		return f, false
	}
	f = &flight{done: make(chan struct{})}
	d.flights[l.clientID] = f
	go d.fly(context.WithoutCancel(ctx), l, f)
	return f, true
}

func (d *documents) fly(ctx context.Context, l lookup, f *flight) {
	defer func() {
		// Here no server catches what a hostile document might set off.
		if p := recover(); p != nil {
			f.err = fmt.Errorf("%w: document of a client: panic: %v", ErrInternal, p)
		}
		d.mu.Lock()
		delete(d.flights, l.clientID)
		d.mu.Unlock()
		close(f.done)
	}()
	f.client, f.err = d.refresh(ctx, l)
}

// refresh fetches the document and saves the app that it describes. It looks at
// the store first: between the caller's look and this one another flight, here or
// on another node, may have landed.
func (d *documents) refresh(ctx context.Context, l lookup) (Client, error) {
	client, err := d.store.Client(ctx, l.clientID)
	known := err == nil
	switch {
	case known && needsNoDocument(client, l.now):
		return client, nil
	case !known && !errors.Is(err, ErrNotFound):
		return Client{}, fmt.Errorf("%w: find client: %w", ErrInternal, err)
	}
	if err := d.charge(ctx, l, known); err != nil {
		return Client{}, err
	}
	app, err := d.load(ctx, l)
	if err != nil {
		d.logger.InfoContext(ctx, "client metadata document refused", "client_id", l.clientID, "reason", err)
		return Client{}, fmt.Errorf("%w: %s", errDocument, err.Error()) // its parts are no answers of ours
	}
	saved, err := d.store.SaveDocumentApp(ctx, app)
	switch {
	case err != nil:
		return Client{}, fmt.Errorf("%w: save document: %w", ErrInternal, err)
	case saved.Origin == OriginDocument:
		return saved.client(), nil
	}
	// Somebody registered the client_id meanwhile, and registered clients come
	// first.
	if client, err = d.store.Client(ctx, l.clientID); err != nil {
		return Client{}, fmt.Errorf("%w: find client: %w", ErrInternal, err)
	}
	return client, nil
}

// load fetches and parses a document.
func (d *documents) load(ctx context.Context, l lookup) (App, error) {
	res, err := d.fetch(ctx, l.clientID)
	if err != nil {
		return App{}, err
	}
	app, err := parseDocument(l.clientID, res.Body, d.scopes)
	if err != nil {
		return App{}, err
	}
	app.ID = id.New(id.App, l.now)
	app.CreatedAt = l.now
	app.DocumentFetchedAt = l.now
	app.DocumentFreshUntil = l.now.Add(documentFreshness(res.Header, l.now))
	return app, nil
}
