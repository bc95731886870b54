package idempotency_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
)

// shop writes invoices into a table of its own, behind an Idempotency.
type shop struct {
	*testing.T
	*testdb.Env
	clock *clock.Manual
	keys  *idempotency.Keys

	// midway and afterCommit run inside of handlers, where they are set.
	midway, afterCommit func(w http.ResponseWriter) error
}

// onBoth runs a test on a shop on each database.
func onBoth(t *testing.T, test func(s *shop), changes ...func(*idempotency.Config)) {
	t.Helper()
	t.Parallel()
	for name, open := range testdb.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newShop(t, open, changes...))
		})
	}
}

func newShop(t *testing.T, open testdb.Opener, changes ...func(*idempotency.Config)) *shop {
	t.Helper()
	s := &shop{T: t, Env: testdb.NewEnv(t, open), clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))}
	s.keys = s.idempotency(changes...)
	s.exec("CREATE TABLE IF NOT EXISTS " + s.table("invoice") + " (id TEXT PRIMARY KEY, note TEXT NOT NULL)")
	return s
}

func (s *shop) idempotency(changes ...func(*idempotency.Config)) *idempotency.Keys {
	s.Helper()
	cfg := idempotency.Config{Store: s.Store, Clock: s.clock}
	for _, change := range changes {
		change(&cfg)
	}
	keys, err := idempotency.New(cfg)
	if err != nil {
		s.Fatal(err)
	}
	return keys
}

// table qualifies a name.
func (s *shop) table(name string) string {
	if schema := s.Tap.Dialect().Schema; schema != "" {
		return `"` + schema + `".` + name
	}
	return name
}

// exec runs a statement past the tap.
func (s *shop) exec(query string, args ...any) {
	s.Helper()
	if _, err := s.Tap.DB.Exec(s.Context(), query, args...); err != nil {
		s.Fatal(err)
	}
}

// endLeases is what the time does to the leases of a dead node.
func (s *shop) endLeases() {
	s.Helper()
	s.exec("UPDATE " + s.table("partnerkit_idempotency_key") + " SET lease_ends = 1")
}

// invoices returns the ids of what was written.
func (s *shop) invoices() (ids []string) {
	s.Helper()
	err := storage.Each(s.Context(), s.Tap.DB, "SELECT id FROM "+s.table("invoice"), nil, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return ids
}

// tidied purges old keys and checks how many keys are left.
func (s *shop) tidied(want int) {
	s.Helper()
	s.keys.Tidy(s.Context())
	var n int
	if err := storage.One(s.Context(), s.Tap.DB, "SELECT COUNT(*) FROM "+s.table("partnerkit_idempotency_key"), nil, &n); err != nil || n != want {
		s.Errorf("%d keys are left, want %d; %v", n, want, err)
	}
}

func (s *shop) wantInvoices(want int) {
	s.Helper()
	if got := len(s.invoices()); got != want {
		s.Errorf("%d invoices, want %d", got, want)
	}
}

type invoice struct {
	ID   string `json:"id"`
	Note string `json:"note"`
}

func newInvoice(r *http.Request) (invoice, error) {
	note, err := io.ReadAll(r.Body)
	if strings.HasPrefix(string(note), "invalid") {
		return invoice{}, apierror.Invalid("the note is not valid")
	}
	return invoice{ID: rand.Text(), Note: string(note)}, err
}

// create responds in its transaction.
func (s *shop) create(w http.ResponseWriter, r *http.Request) error {
	made, err := newInvoice(r)
	if err != nil {
		return err
	}
	tx, err := s.BeginTx(r.Context())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.insert(r.Context(), tx, made); err != nil {
		return err
	}
	if err := run(s.midway, w); err != nil {
		return err
	}
	w.Header().Set("Location", "/invoices/"+made.ID)
	if err := idempotency.Respond(r.Context(), tx, http.StatusCreated, made); err != nil {
		return err
	}
	if err := tx.Commit(r.Context()); err != nil {
		return err
	}
	return run(s.afterCommit, w)
}

// createPlain knows nothing of keys.
func (s *shop) createPlain(w http.ResponseWriter, r *http.Request) error {
	made, err := newInvoice(r)
	if err != nil {
		return err
	}
	tx, err := s.BeginTx(r.Context())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := s.insert(r.Context(), tx, made); err != nil {
		return err
	}
	if err := tx.Commit(r.Context()); err != nil {
		return err
	}
	if err := run(s.afterCommit, w); err != nil {
		return err
	}
	w.Header().Set("Location", "/invoices/"+made.ID)
	return apierror.WriteJSON(w, http.StatusCreated, made)
}

func (s *shop) insert(ctx context.Context, tx storage.Tx, made invoice) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+s.table("invoice")+" (id, note) VALUES ($1, $2)", made.ID, made.Note)
	return err
}

func run(step func(http.ResponseWriter) error, w http.ResponseWriter) error {
	if step == nil {
		return nil
	}
	return step(w)
}

// caller is the app of the tests.
var caller = identity.Principal{AppID: "app_1", BusinessID: "biz_1", UserID: "usr_1", Version: "2026-09-01", SignIn: identity.SignInOAuth}

// keyed makes a request of the caller's; an empty key means none.
func keyed(key, body string) *http.Request {
	return keyedTo(http.MethodPost, "/invoices", key, body)
}

func keyedTo(method, target, key, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return as(r, caller)
}

func as(r *http.Request, p identity.Principal) *http.Request {
	return r.WithContext(identity.WithPrincipal(r.Context(), p))
}

// response is what a request got.
type response struct {
	testing.TB
	*partnertest.Response
}

// serve sends a request through the shop's keys.
func (s *shop) serve(h apierror.Handler, r *http.Request) response {
	s.Helper()
	return s.serveBy(s.keys, h, r)
}

func (s *shop) serveBy(keys *idempotency.Keys, h apierror.Handler, r *http.Request) response {
	s.Helper()
	return response{TB: s.T, Response: partnertest.Serve(s.T, apierror.Writer{}.Standard(keys.Wrap(h)), r)}
}

// is checks the status, and the code of a failure.
func (a response) is(status int, code apierror.Code) response {
	a.Helper()
	var body struct{ Code apierror.Code }
	if status >= 400 {
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
			a.Errorf("%s: %v", a, err)
		}
	}
	if a.Status != status || body.Code != code {
		a.Errorf("answered %d %s, want %d %s: %s", a.Status, body.Code, status, code, a.Body)
	}
	return a
}

func (a response) isReplayed() bool { return a.Header.Get("Idempotency-Replayed") == "true" }

// repeats checks that this is another response again, byte for byte.
func (a response) repeats(first response) {
	a.Helper()
	if a.Status != first.Status || a.Body != first.Body || !a.isReplayed() || first.isReplayed() {
		a.Errorf("answered %d %q (replayed: %v), after %d %q", a.Status, a.Body, a.isReplayed(), first.Status, first.Body)
	}
	for _, name := range []string{"Content-Type", "Location"} {
		if got, want := a.Header.Get(name), first.Header.Get(name); got != want {
			a.Errorf("%s: %q, after %q", name, got, want)
		}
	}
}

// bothWays are the two kinds of handlers.
func (s *shop) bothWays() map[string]apierror.Handler {
	return map[string]apierror.Handler{"Answer": s.create, "plain": s.createPlain}
}
