package main

import (
	"context"
	"database/sql"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// office is the backend: one company, and the people who work there.
type office struct {
	store    *sqlstore.Store
	happened *events.Log // the platform's
}

// company is the only business of this backend.
const company = "company"

func openOffice(ctx context.Context, store *sqlstore.Store) (*office, error) {
	tx, err := store.BeginTx(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, table := range []string{
		"CREATE TABLE IF NOT EXISTS staff (id TEXT PRIMARY KEY, name TEXT NOT NULL, dismissed BOOLEAN NOT NULL)",
		"CREATE TABLE IF NOT EXISTS note (business TEXT NOT NULL, body TEXT NOT NULL)",
	} {
		if _, err := tx.Exec(ctx, table); err != nil {
			return nil, err
		}
	}
	return &office{store: store}, tx.Commit(ctx)
}

// routes are the backend's own.
func (o *office) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello\n")) })
	return mux
}

// dismissal is what dismissing somebody means here; the library adds that what
// apps hold in their name ends.
const dismissal = "UPDATE staff SET dismissed = TRUE WHERE id = $1"

// dismiss does both in a transaction that the library opened, on either database.
func (o *office) dismiss(ctx context.Context, id string) error {
	tx, err := o.store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(ctx, dismissal, id); err != nil {
		return err
	}
	if err := o.suspend(ctx, tx, id); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// dismissSQL does both in a transaction of database/sql.
func (o *office) dismissSQL(ctx context.Context, db *sql.DB, id string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, dismissal, id); err != nil {
		return err
	}
	if err := o.suspend(ctx, storage.SQL(tx), id); err != nil {
		return err
	}
	return tx.Commit()
}

// dismissPgx does both in a transaction of pgx.
func (o *office) dismissPgx(ctx context.Context, conn *pgx.Conn, id string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, dismissal, id); err != nil {
			return err
		}
		return o.suspend(ctx, postgres.Pgx(tx), id)
	})
}

// suspend joins whichever transaction it is.
func (o *office) suspend(ctx context.Context, tx storage.Tx, id string) error {
	return o.store.WithTx(tx).SetUserStatus(ctx, id, oauthserver.UserSuspended, time.Now())
}

// Session asks whatever signs your people in. Here a gateway did, and says whom in
// a header that it removes from what others send.
func (o *office) Session(r *http.Request) (identity.Session, bool, error) {
	id := r.Header.Get("X-Gateway-User")
	member, err := o.IsMember(r.Context(), company, id)
	return identity.Session{ID: id, UserID: id, BusinessID: company}, member, err
}

// SignIn is the gateway's part.
func (o *office) SignIn(w http.ResponseWriter, r *http.Request, _ string) {
	http.Redirect(w, r, "/gateway/sign-in", http.StatusSeeOther)
}

// Businesses is the one that there is.
func (o *office) Businesses(ctx context.Context, userID string) ([]oauthserver.Business, error) {
	member, err := o.IsMember(ctx, company, userID)
	if err != nil || !member {
		return nil, err
	}
	return []oauthserver.Business{{ID: company, Name: "The company", MayConnect: true}}, nil
}

// IsMember is by our own table.
func (o *office) IsMember(ctx context.Context, _, userID string) (bool, error) {
	var here int
	err := storage.One(ctx, o.store, "SELECT COUNT(*) FROM staff WHERE id = $1 AND NOT dismissed", []any{userID}, &here)
	return here > 0, err
}
