package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// sqlEraseCases need what only sqlstore has.
var sqlEraseCases = []testCase[*Env]{
	{"OPS-04 No column has the id of an erased user", func(t *testing.T, e *Env) {
		f := newOAuth(t, e).sameApp("the_erased_one")
		f.recordEverywhere(t)
		if had := e.TablesWith(t, f.user); len(had) != 8 {
			t.Errorf("the user is in %v, want all 8 tables that have user ids", had)
		}
		f.erase(t)
		if left := e.TablesWith(t, f.user); len(left) > 0 {
			t.Errorf("the id is in %v", left)
		}
	}},
	{"OPS-04 Erasing waits for a refresh", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, _ oauthstore.RefreshToken) error {
			_, _, err := f.eraseIn(t.Context(), 10_000)
			return err
		})
	}},
	// The exchange has read that the user is active, and commits after the suspension.
	{"OPS-04 Erasing waits for an exchange", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		f.sameApp("other_" + f.user).code(t) // installs
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		defer tx.Rollback()
		m := newTokens(noon)
		m.RefreshID = ""
		if got := get[oauthstore.IssueResult](t)(e.WithTx(tx).ExchangeSession(t.Context(), f.exchange(), m)); got.Outcome != oauthstore.Issued {
			t.Fatalf("exchange: %q", got.Outcome)
		}
		erased := inBackground(func() error {
			_, _, err := f.eraseIn(t.Context(), 10_000)
			return err
		})
		wantWaiting(t, erased)
		must(t, tx.Commit(t.Context()))
		must(t, <-erased)
		f.wantErased(t, m)
	}},
	{"OPS-04 Erasing under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e).sameApp("the_erased_one")
		for n, struck := 1, true; struck; n++ {
			if n == maxFaults {
				t.Fatalf("still struck at place %d", n)
			}
			m := f.recordEverywhere(t)
			e.Tap.Arm(testdb.FaultError, n)
			_, _, err := f.eraseIn(t.Context(), 10_000) // as many statements each time
			struck = e.Tap.Struck()
			e.Tap.Reset()
			if struck != (err != nil) {
				t.Errorf("fault at %d: struck %v: %v", n, struck, err)
			}
			f.erase(t)
			f.wantLive(t, m, false)
			if left := e.TablesWith(t, f.user); len(left) > 0 {
				t.Errorf("fault at %d: the id is in %v", n, left)
			}
		}
	}},
}

// recordEverywhere makes a record with the user's id wherever the store keeps one, and
// returns the user's tokens.
func (f *oauthFixture) recordEverywhere(t *testing.T) oauthstore.NewTokens {
	t.Helper()
	m := f.issued(t)
	f.exchanged(t, true)
	f.exchanged(t, false)
	f.code(t)
	f.device(t, true)
	must(t, f.RecordAudit(t.Context(), f.entry(audit.AppUpdated, noon)))
	must(t, f.SetUserStatus(t.Context(), f.user, identity.UserRestricted, noon))
	key := claim(newKey(), "work", start)
	key.CallerID = keystore.UserCallerID(f.user)
	wantKey(t, f, key, owned)
	return m
}
