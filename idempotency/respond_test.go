package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/postgres"
)

// A host responds in a transaction of its own, of database/sql or of pgx; the
// response is committed with it, or rolled back with it.
func TestRespondInHostsTransaction(t *testing.T) {
	onBoth(t, func(s *shop) {
		if s.Tap.Dialect().IsOneProcess {
			return // the one connection that writes is the store's
		}
		for name, begin := range map[string]func(context.Context) (storage.Tx, func(context.Context) error, func()){
			"*sql.Tx": s.beginSQL,
			"pgx.Tx":  s.beginPgx,
		} {
			before := len(s.invoices())
			fails := errors.New("after Answer")
			create := func(w http.ResponseWriter, r *http.Request) error {
				made, err := newInvoice(r)
				if err != nil {
					return err
				}
				tx, commit, rollback := begin(r.Context())
				defer rollback()
				if err := s.insert(r.Context(), tx, made); err != nil {
					return err
				}
				if err := idempotency.Respond(r.Context(), tx, http.StatusCreated, made); err != nil {
					return err
				}
				if fails != nil {
					return fails
				}
				return commit(r.Context())
			}
			s.serve(create, keyed(name, "hello")).is(http.StatusInternalServerError, "")
			s.wantInvoices(before)
			fails = nil
			first := s.serve(create, keyed(name, "hello")).is(http.StatusCreated, "")
			s.serve(create, keyed(name, "hello")).repeats(first)
			s.wantInvoices(before + 1)

			s.serve(func(w http.ResponseWriter, r *http.Request) error {
				s.endLeases()
				s.serve(s.create, keyed(name+" late", "hello")).is(http.StatusCreated, "")
				return create(w, r)
			}, keyed(name+" late", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
			s.wantInvoices(before + 2)
		}
	})
}

func (s *shop) beginSQL(ctx context.Context) (storage.Tx, func(context.Context) error, func()) {
	s.Helper()
	db, err := sql.Open("pgx", os.Getenv(testenv.PostgresVar))
	if err != nil {
		s.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		s.Fatal(err)
	}
	return storage.SQL(tx), func(context.Context) error { return tx.Commit() }, func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

func (s *shop) beginPgx(ctx context.Context) (storage.Tx, func(context.Context) error, func()) {
	s.Helper()
	conn, err := pgx.Connect(ctx, os.Getenv(testenv.PostgresVar))
	if err != nil {
		s.Fatal(err)
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		s.Fatal(err)
	}
	return postgres.Pgx(tx), tx.Commit, func() {
		_ = tx.Rollback(context.Background())
		_ = conn.Close(context.Background())
	}
}

// Responses that cannot be given are errors, with a key and without; the key is
// free afterwards.
func TestRespondRefuses(t *testing.T) {
	onBoth(t, func(s *shop) {
		for name, test := range map[string]struct {
			withoutTx bool
			status    int
			body      any
		}{
			"no transaction":    {true, 201, "x"},
			"an interim status": {false, 103, nil},
			"a 400":             {false, 400, "x"},
			"a 500":             {false, 500, "x"},
			"no status":         {false, 0, "x"},
			"a 204 with a body": {false, 204, "x"},
			"not JSON":          {false, 200, make(chan int)},
		} {
			for _, key := range []string{"k", ""} {
				s.serve(func(_ http.ResponseWriter, r *http.Request) error {
					tx, err := s.BeginTx(r.Context())
					if err != nil {
						return err
					}
					defer tx.Rollback()
					on := storage.Tx(tx)
					if test.withoutTx {
						on = nil
					}
					err = idempotency.Respond(r.Context(), on, test.status, test.body)
					if err == nil {
						s.Errorf("%s: no error", name)
					}
					return err
				}, keyed(key, "hello")).is(http.StatusInternalServerError, "")
			}
		}
		s.serve(s.create, keyed("k", "other")).is(http.StatusCreated, "")

		for _, ctx := range []context.Context{s.Context(), keyedTo(http.MethodGet, "/", "", "").Context()} {
			tx, err := s.BeginTx(s.Context())
			if err != nil {
				s.Fatal(err)
			}
			if err := idempotency.Respond(ctx, tx, 200, nil); err == nil || !strings.Contains(err.Error(), "not a guarded write") {
				s.Errorf("outside of a guarded write: %v", err)
			}
			_ = tx.Rollback()
		}
	})
}

// The response set by Respond is sent, even if the handler writes another one. The last call
// counts, and a nil body is empty.
func TestRespondIsWhatIsSent(t *testing.T) {
	onBoth(t, func(s *shop) {
		for _, key := range []string{"k", ""} {
			empty := func(w http.ResponseWriter, r *http.Request) error {
				w.Header().Set("Content-Length", "7")
				tx, err := s.BeginTx(r.Context())
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if err := idempotency.Respond(r.Context(), tx, http.StatusNoContent, nil); err != nil {
					return err
				}
				return tx.Commit(r.Context())
			}
			r := keyedTo(http.MethodDelete, "/invoices/1", key, "")
			first := s.serve(empty, r).is(http.StatusNoContent, "")
			if len(first.Body) != 0 || first.Header.Get("Content-Type") != "" || first.Header.Get("Content-Length") != "" {
				s.Errorf("answered %v %q", first.Header, first.Body)
			}
			if key != "" {
				s.serve(empty, r).repeats(first)
			}
		}

		chatty := func(w http.ResponseWriter, r *http.Request) error {
			_, _ = w.Write([]byte("written before"))
			if err := s.create(w, r); err != nil {
				return err
			}
			_, _ = w.Write([]byte("written after"))
			return nil
		}
		first := s.serve(chatty, keyed("chatty", "hello")).is(http.StatusCreated, "")
		if !strings.HasSuffix(first.Body, `"note":"hello"}`) {
			s.Errorf("answered %q", first.Body)
		}
		s.serve(chatty, keyed("chatty", "hello")).repeats(first)

		// The bytes are those that apierror.WriteJSON sends: no escapes for HTML.
		html := s.serve(s.create, keyed("html", "<a&b>")).is(http.StatusCreated, "")
		if !strings.Contains(html.Body, "<a&b>") {
			s.Errorf("answered %q", html.Body)
		}
	})
}
