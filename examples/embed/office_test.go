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

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// open is the backend, where Ann works.
func open(t *testing.T, store *sqlstore.Store) *office {
	t.Helper()
	ring, err := keyring.Parse("a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=")
	if err != nil {
		t.Fatal(err)
	}
	o, err := openOffice(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.plugIn(t.Context(), ring); err != nil {
		t.Fatal(err)
	}
	err = o.inTx(t.Context(), func(tx storage.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO staff (id) VALUES ('ann')")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func openSQLite(t *testing.T) *office {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return open(t, store)
}

// counts are how many invoices of ours there are, and how many events.
func (o *office) counts(t *testing.T) (invoices, recorded int) {
	t.Helper()
	err := errors.Join(
		storage.One(t.Context(), o.store, "SELECT COUNT(*) FROM invoice", nil, &invoices),
		storage.One(t.Context(), o.store, "SELECT COUNT(*) FROM partnerkit_event", nil, &recorded),
	)
	if err != nil {
		t.Fatal(err)
	}
	return invoices, recorded
}

var errLater = errors.New("something else in the transaction failed")

// check writes through transactions of one kind. BIZ-04, DLV-04: an invoice and its
// event are committed together, or rolled back together, whichever of them failed.
func check(t *testing.T, o *office, transaction func(ctx context.Context, act func(storage.Tx) error) error) {
	t.Helper()
	invoicesBefore, eventsBefore := o.counts(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name    string
		ctx     context.Context
		invoice invoice
		later   error
		want    int
	}{
		{"the event is refused", t.Context(), invoice{business: company, Number: strings.Repeat("9", events.MaxData)}, nil, 0},
		{"what comes later fails", t.Context(), invoice{business: company, Number: "1"}, errLater, 0},
		{"the context has ended", ended, invoice{business: company, Number: "1"}, nil, 0},
		{"all is well", t.Context(), invoice{business: company, Number: t.Name()}, nil, 1},
		{"the invoice is refused", t.Context(), invoice{business: company, Number: t.Name()}, nil, 1},
	} {
		err := transaction(test.ctx, func(tx storage.Tx) error {
			if err := o.write(test.ctx, tx, test.invoice); err != nil {
				return err
			}
			return test.later
		})
		if (err == nil) != (test.name == "all is well") {
			t.Errorf("%s: %v", test.name, err)
		}
		invoices, recorded := o.counts(t)
		if invoices -= invoicesBefore; invoices != test.want || recorded-eventsBefore != test.want {
			t.Errorf("%s: %d invoices, %d events, want %d of each", test.name, invoices, recorded-eventsBefore, test.want)
		}
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	o := openSQLite(t)
	check(t, o, o.inTx)
}

// On PostgreSQL: a transaction of the store's, of database/sql and of pgx.
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
	o := open(t, store)

	for name, transaction := range map[string]func(ctx context.Context, act func(storage.Tx) error) error{
		"the store's": o.inTx,
		"sql.Tx": func(ctx context.Context, act func(storage.Tx) error) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if err := act(storage.SQL(tx)); err != nil {
				return err
			}
			return tx.Commit()
		},
		"pgx.Tx": func(ctx context.Context, act func(storage.Tx) error) error {
			conn, err := pgx.Connect(t.Context(), url) // pgx closes it when a context ends under way
			if err != nil {
				return err
			}
			defer conn.Close(t.Context())
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return act(postgres.Pgx(tx)) })
		},
	} {
		t.Run(name, func(t *testing.T) { check(t, o, transaction) }) // one after the other: they count
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	o := openSQLite(t)
	api, app := o.platform.API(), o.platform.App()
	for _, test := range []struct {
		h                        http.Handler
		method, path, user, body string
		want                     int
	}{
		{api, "GET", "/hello", "ann", "", http.StatusOK},
		{api, "GET", "/hello", "", "", http.StatusUnauthorized}, // the API host is for apps and for who is signed in
		{api, "POST", "/invoices", "ann", `{"number": "1", "total": 1250}`, http.StatusCreated},
		{api, "POST", "/invoices", "ann", `{"number": "1", "total": 1250}`, http.StatusBadRequest},
		{api, "POST", "/invoices", "ann", `{"number": "", "total": -1}`, http.StatusBadRequest},
		{api, "POST", "/invoices", "", `{"number": "2", "total": 1250}`, http.StatusUnauthorized},
		{api, "GET", "/.well-known/oauth-authorization-server", "", "", http.StatusOK},
		{app, "GET", "/device", "ann", "", http.StatusOK},
		{app, "GET", "/device", "nobody", "", http.StatusSeeOther},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		r.Header.Set("X-Gateway-User", test.user)
		if test.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if test.h.ServeHTTP(w, r); w.Code != test.want {
			t.Errorf("%s %s as %q: %d, want %d\n%s", test.method, test.path, test.user, w.Code, test.want, w.Body)
		}
	}
	if invoices, recorded := o.counts(t); invoices != 1 || recorded != 1 {
		t.Errorf("%d invoices, %d events, want 1 of each", invoices, recorded)
	}
}
