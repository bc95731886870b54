package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

func hire(t *testing.T, store *sqlstore.Store, ids ...string) *office {
	t.Helper()
	o, err := openOffice(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := store.BeginTx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, id := range ids {
		if _, err := tx.Exec(t.Context(), "INSERT INTO staff (id, name, dismissed) VALUES ($1, $1, FALSE)", id); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return o
}

// check dismisses somebody and looks at both tables; what fails leaves both alone.
func check(t *testing.T, o *office, id string, dismiss func(ctx context.Context, id string) error) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dismiss(ended, id); err == nil {
		t.Errorf("%s: no error after the context ended", id)
	}
	if member, err := o.IsMember(t.Context(), company, id); err != nil || !member {
		t.Errorf("%s: dismissed by a transaction that failed: %v, %v", id, member, err)
	}
	if err := dismiss(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	member, err := o.IsMember(t.Context(), company, id)
	status, err2 := o.store.UserStatus(t.Context(), id)
	if err := errors.Join(err, err2); err != nil || member || status != oauthserver.UserSuspended {
		t.Errorf("%s: member %v, %s, %v", id, member, status, err)
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	o := hire(t, store, "ann")
	check(t, o, "ann", o.dismiss)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	setup, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer setup.Close()
	if _, err := setup.ExecContext(t.Context(), `CREATE SCHEMA "`+schema+`"`); err != nil {
		t.Fatal(err)
	}
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	url += separator + "search_path=" + schema
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := postgres.New(t.Context(), db, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	o := hire(t, store, "ann", "ben", "cleo")
	check(t, o, "ann", o.dismiss)
	check(t, o, "ben", func(ctx context.Context, id string) error { return o.dismissSQL(ctx, db, id) })
	check(t, o, "cleo", func(ctx context.Context, id string) error {
		conn, err := pgx.Connect(t.Context(), url) // pgx closes it when a context ends under way
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		return o.dismissPgx(ctx, conn, id)
	})
}

// joined is the office with the platform.
func joined(t *testing.T, o *office) *partnerkit.Platform {
	t.Helper()
	ring, err := keyring.Parse("a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.join(t.Context(), ring, origins{api: "https://api.example.com", app: "https://app.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	o := hire(t, store, "ann")
	p := joined(t, o)
	for _, test := range []struct {
		h          http.Handler
		path, user string
		want       int
	}{
		{p.API(), "/hello", "ann", http.StatusOK},
		{p.API(), "/hello", "", http.StatusUnauthorized}, // the API host is for apps and for who is signed in
		{p.API(), "/.well-known/oauth-authorization-server", "", http.StatusOK},
		{p.App(), "/device", "ann", http.StatusOK},
		{p.App(), "/device", "nobody", http.StatusSeeOther},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, test.path, nil)
		r.Header.Set("X-Gateway-User", test.user)
		if test.h.ServeHTTP(w, r); w.Code != test.want {
			t.Errorf("%s as %q: %d, want %d", test.path, test.user, w.Code, test.want)
		}
	}
}
