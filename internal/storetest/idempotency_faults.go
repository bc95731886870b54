package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// keyFaultCases are the end of a key in a transaction of the host under faults, and what
// keys cost.
var keyFaultCases = []testCase[*Env]{
	// The work of a host stands or falls with the response, wherever a fault strikes.
	{"Finish in a host's transaction under faults", func(t *testing.T, e *Env) {
		var c keystore.Claim
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { c = claim(newKey(), "work", start); wantKey(t, e, c, owned) },
			Act: func(ctx context.Context) error {
				tx, err := e.BeginTx(ctx)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if _, err := e.WithTx(tx).AdvanceClock(ctx, time.Millisecond); err != nil {
					return err
				}
				if err := e.FinishKey(ctx, tx, c.Hold, created); err != nil {
					return err
				}
				return tx.Commit(ctx)
			},
			Check: func(t *testing.T, happened bool) {
				again := c
				again.Owner = "another"
				got := get[keystore.Claimed](t)(e.ClaimKey(t.Context(), again))
				if (got.State == keystore.Responded) != happened {
					t.Errorf("happened %v, and the key is %q", happened, got.State)
				}
			},
		})
	}},
	{"A claim that loses, and what it costs", func(t *testing.T, e *Env) {
		c := claim("k", "work", start)
		wantCost(t, e.Tap, 1, 1, func() { wantKey(t, e, c, owned) })
		tx, err := e.BeginTx(t.Context())
		must(t, err)
		wantCost(t, e.Tap, 1, 1, func() {
			must(t, e.FinishKey(t.Context(), tx, c.Hold, created))
			must(t, tx.Commit(t.Context()))
		})
		wantCost(t, e.Tap, 2, 1, func() { wantKey(t, e, claim("k", "work", start), responded) })
		e.Tap.Arm(testdb.FaultError, 2)
		if _, err := e.ClaimKey(t.Context(), claim("k", "work", start)); !errors.Is(err, testdb.ErrInjected) {
			t.Errorf("the look at a taken key failed, and the claim said %v", err)
		}
	}},
}

// wantCost counts the statements and commits of an operation.
func wantCost(t *testing.T, tap *testdb.Tap, statements, commits int, act func()) {
	t.Helper()
	tap.Reset()
	act()
	if s, c := tap.Counts(); s != statements || c != commits {
		t.Errorf("%d statements and %d commits, want %d and %d", s, c, statements, commits)
	}
}
