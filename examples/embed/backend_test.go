package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// open returns the backend, in which Ann works, and the library around it.
func open(t *testing.T, store *sqlstore.Store) (*backend, *partnertest.Harness) {
	t.Helper()
	b, err := openBackend(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	err = b.store.InTx(t.Context(), func(tx storage.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO staff (id) VALUES ('ann')")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h := partnertest.New(t, b.plugIn)
	b.platform = h.Platform
	return b, h
}

func openSQLite(t *testing.T) (*backend, *partnertest.Harness) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return open(t, store)
}

// counts are how many invoices of ours there are, and how many events.
func (b *backend) counts(t *testing.T) (invoices, recorded int) {
	t.Helper()
	err := errors.Join(
		storage.One(t.Context(), b.store, "SELECT COUNT(*) FROM invoice", nil, &invoices),
		storage.One(t.Context(), b.store, "SELECT COUNT(*) FROM partnerkit_event", nil, &recorded),
	)
	if err != nil {
		t.Fatal(err)
	}
	return invoices, recorded
}

var errLater = errors.New("something else in the transaction failed")

// check writes through transactions of one kind. BIZ-04, DLV-04: an invoice and its
// event are committed together, or rolled back together, whichever of them failed.
func check(t *testing.T, b *backend, transaction func(ctx context.Context, act func(storage.Tx) error) error) {
	t.Helper()
	invoicesBefore, eventsBefore := b.counts(t)
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
			if err := b.write(test.ctx, tx, test.invoice); err != nil {
				return err
			}
			return test.later
		})
		if (err == nil) != (test.name == "all is well") {
			t.Errorf("%s: %v", test.name, err)
		}
		invoices, recorded := b.counts(t)
		if invoices -= invoicesBefore; invoices != test.want || recorded-eventsBefore != test.want {
			t.Errorf("%s: %d invoices, %d events, want %d of each", test.name, invoices, recorded-eventsBefore, test.want)
		}
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	b, _ := openSQLite(t)
	check(t, b, b.store.InTx)
}

// On PostgreSQL: a transaction of the store's, of database/sql and of pgx.
func TestPostgres(t *testing.T) {
	t.Parallel()
	url := testenv.PostgresURL(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := postgres.New(t.Context(), db, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b, _ := open(t, store)

	for name, transaction := range map[string]func(ctx context.Context, act func(storage.Tx) error) error{
		"the store's": b.store.InTx,
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
		t.Run(name, func(t *testing.T) { check(t, b, transaction) }) // one after the other: they count
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	b, h := openSQLite(t)
	for _, test := range []struct {
		handler                  http.Handler
		method, path, user, body string
		want                     int
	}{
		{h.API(), "GET", "/hello", "ann", "", http.StatusOK},
		{h.API(), "GET", "/hello", "", "", http.StatusUnauthorized}, // the API host is for apps and for people who are signed in
		{h.API(), "POST", "/invoices", "ann", `{"number": "1", "total": 1250}`, http.StatusCreated},
		{h.API(), "POST", "/invoices", "ann", `{"number": "1", "total": 1250}`, http.StatusBadRequest},
		{h.API(), "POST", "/invoices", "ann", `{"number": "", "total": -1}`, http.StatusBadRequest},
		{h.API(), "POST", "/invoices", "", `{"number": "2", "total": 1250}`, http.StatusUnauthorized},
		{h.API(), "GET", "/.well-known/oauth-authorization-server", "", "", http.StatusOK},
		{h.App(), "GET", "/device", "ann", "", http.StatusOK},
		{h.App(), "GET", "/device", "nobody", "", http.StatusSeeOther},
	} {
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		r.Header.Set("X-Gateway-User", test.user)
		if test.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		if got := partnertest.Serve(t, test.handler, r); got.Status != test.want {
			t.Errorf("%s as %q, want %d", got, test.user, test.want)
		}
	}
	if invoices, recorded := b.counts(t); invoices != 1 || recorded != 1 {
		t.Errorf("%d invoices, %d events, want 1 of each", invoices, recorded)
	}
}

// An app that Ann connected writes invoices.
func TestApps(t *testing.T) {
	t.Parallel()
	_, h := openSQLite(t)
	app := h.Connect(partnertest.ConnectOptions{UserID: "ann"})
	receiver := h.Receiver(app, "invoice.created")
	t.Run("BIZ-04 an invoice that is repeated is one invoice and one event", func(t *testing.T) {
		for range 2 {
			got := app.Do(http.MethodPost, "/invoices", invoice{Number: "7", Total: 1250}, "Idempotency-Key", "one").Want(http.StatusCreated)
			if strings.TrimSpace(got.Body) != `{"number":"7","total":1250}` {
				t.Error(got)
			}
		}
		if d := receiver.Expect("invoice.created"); string(d.Data) != `{"number":"7","total":1250}` || d.BusinessID != company {
			t.Errorf("delivery %s", d.Raw)
		}
		receiver.ExpectNone()
	})
	t.Run("IDEM-01 another body under the same key is rejected", func(t *testing.T) {
		app.Do(http.MethodPost, "/invoices", invoice{Number: "8"}, "Idempotency-Key", "one").Want(http.StatusUnprocessableEntity)
	})
	t.Run("API-04 a route of the backend alone is closed to apps", func(t *testing.T) {
		app.Get("/hello").WantCode(http.StatusForbidden, "ENDPOINT_NOT_EXPOSED")
	})
	t.Run("API-03 an app without the scope cannot write", func(t *testing.T) {
		reader := h.Connect(partnertest.ConnectOptions{UserID: "ann", Scopes: []string{"invoices:read"}})
		reader.Do(http.MethodPost, "/invoices", invoice{Number: "9"}).WantCode(http.StatusForbidden, "INSUFFICIENT_SCOPE")
	})
}

// What choose changes: limits, own tokens, mail, brand and language.
func TestChoices(t *testing.T) {
	t.Parallel()
	b, h := openSQLite(t)
	var mails []string
	b.send = func(to, message string) error {
		mails = append(mails, to+" "+message)
		return nil
	}
	app, large := h.Connect(partnertest.ConnectOptions{UserID: "ann"}), h.Connect(partnertest.ConnectOptions{UserID: "ann"})
	b.largeApp = large.ID
	for connected, want := range map[*partnertest.App]string{app: "100", large: "2000"} {
		if got := connected.Get("/events").Want(http.StatusOK).Header.Get("RateLimit-Limit"); got != want {
			t.Errorf("the limit is %s, want %s", got, want)
		}
	}
	for token, want := range map[string]int{"office-ann": http.StatusOK, "office-eve": http.StatusUnauthorized, "ann": http.StatusUnauthorized} {
		r := httptest.NewRequest(http.MethodGet, "/hello", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if got := partnertest.Serve(t, h.API(), r); got.Status != want {
			t.Errorf("%s with %s, want %d", got, token, want)
		}
	}
	old := app.RefreshToken
	app.Refresh()
	app.Token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old}}).Want(http.StatusBadRequest)
	h.Settle()
	if len(mails) != 1 || !strings.HasPrefix(mails[0], "security@office.example To: ") || !strings.Contains(mails[0], "user ann") {
		t.Errorf("mails: %q", mails)
	}
	r := httptest.NewRequest(http.MethodGet, "/device", nil)
	r.Header.Set("X-Gateway-User", "ann")
	r.Header.Set("Accept-Language", "de-AT, en;q=0.5")
	page := partnertest.Serve(t, h.App(), r).Want(http.StatusOK)
	for _, part := range []string{`<html lang="de"`, "https://office.example/terms"} {
		if !strings.Contains(page.Body, part) {
			t.Errorf("the page has no %q", part)
		}
	}
}
