package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// backend is the backend: one company, who works there, and what it is owed.
type backend struct {
	store    *sqlstore.Store
	platform *partnerkit.Platform
	events   events.Catalog                 // what we record
	largeApp string                         // has a limit of its own
	send     func(to, message string) error // mail
}

// company is the only business of this backend.
const company = "company"

func openBackend(ctx context.Context, store *sqlstore.Store) (*backend, error) {
	catalog, err := events.NewCatalog(events.Definition{
		Name: "invoice.created", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "An invoice was created",
		Sample: json.RawMessage(`{"number": "2026-0042", "total": 11900}`),
		Schema: json.RawMessage(`{"type": "object", "required": ["number", "total"], "properties": {"number": {"type": "string"}, "total": {"type": "integer"}}}`),
	})
	if err != nil {
		return nil, err
	}
	b := &backend{store: store, events: catalog, send: sendMail}
	return b, b.store.InTx(ctx, func(tx storage.Tx) error {
		_, staff := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS staff (id TEXT PRIMARY KEY)")
		_, invoices := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS invoice (business TEXT, number TEXT, total BIGINT NOT NULL, PRIMARY KEY (business, number))")
		return errors.Join(staff, invoices)
	})
}

type invoice struct {
	business string
	Number   string `json:"number"`
	Total    int64  `json:"total"` // cents
}

// write inserts a row of ours and the event that notifies apps of it: both or neither, in
// the caller's transaction: storage.SQL takes a *sql.Tx, postgres.Pgx a pgx.Tx.
func (b *backend) write(ctx context.Context, tx storage.Tx, i invoice) error {
	n, err := tx.Exec(ctx, "INSERT INTO invoice (business, number, total) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", i.business, i.Number, i.Total)
	if err != nil {
		return err
	}
	if n == 0 {
		return apierror.Invalid("number is taken")
	}
	_, err = b.platform.Events().RecordIn(ctx, tx, events.Draft{Type: "invoice.created", BusinessID: i.business, Data: i})
	return err
}

// createInvoice is for apps with the scope, and for our own people.
func (b *backend) createInvoice(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	i := invoice{business: caller.BusinessID} // the token's, whatever the body says
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	body.DisallowUnknownFields()
	if err := body.Decode(&i); err != nil {
		return apierror.Invalid("the body must be an invoice in JSON").WithCause(err)
	}
	if i.Number == "" || len(i.Number) > 64 || i.Total < 0 {
		return apierror.Invalid("number must have 1 to 64 bytes, total must not be negative")
	}
	return b.store.InTx(r.Context(), func(tx storage.Tx) error {
		if err := b.write(r.Context(), tx, i); err != nil {
			return err
		}
		return idempotency.Respond(r.Context(), tx, http.StatusCreated, i) // Idempotency-Key: with the row
	})
}

// Session asks the system that signs your users in. Here it is a gateway, which sends the
// user's id in a header and removes that header from the requests of clients.
func (b *backend) Session(r *http.Request) (identity.Session, bool, error) {
	id := r.Header.Get("X-Gateway-User")
	member, err := b.IsMember(r.Context(), company, id)
	return identity.Session{ID: id, UserID: id, BusinessID: company}, member, err
}

// SignIn is the gateway's part.
func (b *backend) SignIn(w http.ResponseWriter, r *http.Request, _ string) {
	http.Redirect(w, r, "/gateway/sign-in", http.StatusSeeOther)
}

// Businesses returns the only business.
func (b *backend) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	if member, err := b.IsMember(ctx, company, userID); err != nil || !member {
		return nil, err
	}
	return []oauthserver.Business{{ID: company, Name: "The company", MayConnect: true}}, nil
}

// IsMember is by our own table.
func (b *backend) IsMember(ctx context.Context, _, userID string) (bool, error) {
	var here int
	err := storage.One(ctx, b.store, "SELECT COUNT(*) FROM staff WHERE id = $1", []any{userID}, &here)
	return here > 0, err
}
