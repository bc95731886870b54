package idempotency_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// mortal is the store of a node that may die: nothing that it does after that
// reaches the database.
type mortal struct {
	keystore.Store
	isDead atomic.Bool
}

var errDead = errors.New("the node is dead")

func (m *mortal) RenewKey(ctx context.Context, o keystore.Hold, ends time.Time) error {
	if m.isDead.Load() {
		return errDead
	}
	return m.Store.RenewKey(ctx, o, ends)
}

func (m *mortal) FinishKey(ctx context.Context, tx storage.Tx, o keystore.Hold, a keystore.Response) error {
	if m.isDead.Load() {
		return errDead
	}
	return m.Store.FinishKey(ctx, tx, o, a)
}

func (m *mortal) ReleaseKey(ctx context.Context, o keystore.Hold) error {
	if m.isDead.Load() {
		return errDead
	}
	return m.Store.ReleaseKey(ctx, o)
}

// dying makes a node and the function that kills it in the middle of a handler.
func (s *shop) dying() (*idempotency.Keys, func(http.ResponseWriter) error) {
	s.Helper()
	store := &mortal{Store: s.Store}
	return s.idempotency(func(cfg *idempotency.Config) { cfg.Store = store }), func(http.ResponseWriter) error {
		store.isDead.Store(true)
		return errDead
	}
}

// IDEM-02: a node that dies before the commit has done nothing; when its lease has
// ended the same request does the work.
func TestCrashBeforeTheCommit(t *testing.T) {
	onBoth(t, func(s *shop) {
		var node *idempotency.Keys
		node, s.midway = s.dying()
		s.serveBy(node, s.create, keyed("k", "hello")).is(http.StatusInternalServerError, "")
		s.midway = nil
		s.wantInvoices(0)

		s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.endLeases()
		s.serve(s.create, keyed("k", "other")).is(http.StatusUnprocessableEntity, codes.IdempotencyMismatch.Code)
		first := s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
		s.serve(s.create, keyed("k", "hello")).repeats(first)
		s.wantInvoices(1)
	})
}

// IDEM-02: where no other process has the database open, the next process does not wait for
// the lease of the one that died.
func TestCrashOfTheOnlyProcess(t *testing.T) {
	t.Parallel()
	s := newShop(t, testdb.SQLite)
	var node *idempotency.Keys
	node, s.midway = s.dying()
	s.serveBy(node, s.create, keyed("k", "hello")).is(http.StatusInternalServerError, "")
	s.midway = nil
	next, err := sqlstore.New(t.Context(), s.Tap, sqlstore.Config{})
	if err != nil {
		t.Fatal(err)
	}
	node = s.idempotency(func(cfg *idempotency.Config) { cfg.Store = next })
	s.serveBy(node, s.create, keyed("k", "hello")).is(http.StatusCreated, "")
	s.wantInvoices(1)
}

// IDEM-02: a node that dies between the commit and the response has done the work;
// the same request gets the response at once.
func TestCrashAfterTheCommit(t *testing.T) {
	onBoth(t, func(s *shop) {
		var node *idempotency.Keys
		node, s.afterCommit = s.dying()
		s.serveBy(node, s.create, keyed("k", "hello")).is(http.StatusInternalServerError, "")
		s.afterCommit = nil
		got := s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
		if want := "/invoices/" + s.invoices()[0]; !got.isReplayed() || got.Header.Get("Location") != want {
			s.Errorf("Location %q, want %q; replayed %v", got.Header.Get("Location"), want, got.isReplayed())
		}
		s.wantInvoices(1)
	})
}

// A handler that does not use Respond is at-least-once after a crash, as
// Idempotency says, and never before its lease has ended.
func TestCrashWithoutResponse(t *testing.T) {
	onBoth(t, func(s *shop) {
		var node *idempotency.Keys
		node, s.afterCommit = s.dying()
		s.serveBy(node, s.createPlain, keyed("k", "hello")).is(http.StatusInternalServerError, "")
		s.afterCommit = nil
		s.serve(s.createPlain, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.wantInvoices(1)
		s.endLeases()
		s.serve(s.createPlain, keyed("k", "hello")).is(http.StatusCreated, "")
		s.wantInvoices(2)
	})
}

// A response that could not be recorded still reaches its client, because the work
// is done.
func TestResponseIsNotRecorded(t *testing.T) {
	onBoth(t, func(s *shop) {
		node, die := s.dying()
		s.afterCommit = func(w http.ResponseWriter) error { _ = die(w); return nil }
		s.serveBy(node, s.createPlain, keyed("k", "hello")).is(http.StatusCreated, "")
		s.wantInvoices(1)
	})
}

// A request that was thought dead and is not is fenced: its transaction fails, and
// its client is sent for the response of the one that took over.
func TestLateOwnerIsFenced(t *testing.T) {
	onBoth(t, func(s *shop) {
		var second response
		takeOver := func() {
			s.endLeases()
			second = s.serve(s.createUnhurried, keyed("k", "hello")).is(http.StatusCreated, "")
		}
		late := func(w http.ResponseWriter, r *http.Request) error {
			takeOver()
			err := s.create(w, r)
			if !errors.Is(err, keystore.ErrLost) {
				s.Errorf("the late owner got %v", err)
			}
			return err
		}
		s.serve(late, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.serve(s.create, keyed("k", "hello")).repeats(second)
		s.wantInvoices(1)
	})
}

// The same while the request that took over is still at work: it alone responses.
func TestLateOwnerIsFencedByOneThatRuns(t *testing.T) {
	onBoth(t, func(s *shop) {
		var second response
		late := func(w http.ResponseWriter, r *http.Request) (err error) {
			s.endLeases()
			second = s.serve(func(w2 http.ResponseWriter, r2 *http.Request) error {
				err = s.create(w, r)
				return s.create(w2, r2)
			}, keyed("k", "hello")).is(http.StatusCreated, "")
			return err
		}
		s.serve(late, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.serve(s.create, keyed("k", "hello")).repeats(second)
		s.wantInvoices(1)
	})
}

// createUnhurried is create without the steps that a test put into it.
func (s *shop) createUnhurried(w http.ResponseWriter, r *http.Request) error {
	other := *s
	other.midway, other.afterCommit = nil, nil
	return other.create(w, r)
}

// On PostgreSQL the late owner may have its transaction open all the time.
func TestLateOwnerWithOpenTransaction(t *testing.T) {
	onBoth(t, func(s *shop) {
		if s.Tap.Dialect().IsOneProcess {
			return // one writer at a time: no takeover while a transaction is open
		}
		s.midway = func(http.ResponseWriter) error {
			s.endLeases()
			s.serve(s.createUnhurried, keyed("k", "hello")).is(http.StatusCreated, "")
			return nil
		}
		s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.wantInvoices(1)
	})
}

// A handler that ignores that Respond failed does not get to say that all is well.
func TestIgnoredErrorOfResponse(t *testing.T) {
	onBoth(t, func(s *shop) {
		late := func(w http.ResponseWriter, r *http.Request) error {
			s.endLeases()
			s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
			_ = s.create(w, r)
			return nil
		}
		s.serve(late, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.wantInvoices(1)
	})
}

// A plain handler that was thought dead: its response is not the key's.
func TestLatePlainHandler(t *testing.T) {
	onBoth(t, func(s *shop) {
		var second response
		late := func(w http.ResponseWriter, r *http.Request) error {
			s.endLeases()
			second = s.serve(s.createPlain, keyed("k", "hello")).is(http.StatusCreated, "")
			return s.createPlain(w, r)
		}
		s.serve(late, keyed("k", "hello")).is(http.StatusCreated, "")
		s.serve(s.createPlain, keyed("k", "hello")).repeats(second)
	})
}

// A database that is busy is a 503, and what never ran needs no release.
func TestBusyDatabase(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(t testing.TB) storage.DB {
		return testdb.SQLiteWith(t, sqlite.Config{WriteWait: 10 * time.Millisecond})
	})
	tx, err := s.BeginTx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Tap.Reset()
	got := s.serve(s.create, keyed("k", "hello")).is(http.StatusServiceUnavailable, "")
	if statements, _ := s.Tap.Counts(); statements != 1 || got.Header.Get("Retry-After") != "1" {
		t.Errorf("%d statements, %v", statements, got.Header)
	}
	_ = tx.Rollback()
	s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
}
