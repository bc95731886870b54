package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/guard"
)

// keyFaultCases are the operations on idempotency keys under faults, and their cost.
var keyFaultCases = []testCase[*Env]{
	{"Claim under faults", func(t *testing.T, e *Env) {
		var c guard.KeyClaim
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { c = claim(newKey(), "work", start) },
			Act: func(ctx context.Context) error {
				got, err := e.ClaimKey(ctx, c)
				return outcome(err, got.State == guard.KeyOwned)
			},
			Check: func(t *testing.T, happened bool) {
				if err := e.RenewKey(t.Context(), c.KeyOwner, c.LeaseEnds); errors.Is(err, guard.ErrKeyLost) == happened {
					t.Errorf("happened %v: %v", happened, err)
				}
			},
		})
	}},
	{"Take over under faults", func(t *testing.T, e *Env) {
		var dead, c guard.KeyClaim
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				key := newKey()
				dead, c = claim(key, "work", start), claim(key, "work", later(0, lease))
				wantKey(t, e, dead, owned)
			},
			Act: func(ctx context.Context) error {
				got, err := e.ClaimKey(ctx, c)
				return outcome(err, got.State == guard.KeyOwned)
			},
			Check: func(t *testing.T, happened bool) {
				if err := e.RenewKey(t.Context(), dead.KeyOwner, start.Real); errors.Is(err, guard.ErrKeyLost) != happened {
					t.Errorf("happened %v: %v", happened, err)
				}
			},
		})
	}},
	{"Finish under faults", func(t *testing.T, e *Env) {
		var c guard.KeyClaim
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { c = claim(newKey(), "work", start); wantKey(t, e, c, owned) },
			Act:     func(ctx context.Context) error { return e.FinishKey(ctx, nil, c.KeyOwner, created) },
			Check: func(t *testing.T, happened bool) {
				want := running
				if happened {
					want = responded
				}
				again := c
				again.Owner = "another"
				wantKey(t, e, again, want)
			},
		})
	}},
	// The work of a host stands or falls with the response, wherever a fault strikes.
	{"Finish in a host's transaction under faults", func(t *testing.T, e *Env) {
		var c guard.KeyClaim
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
				if err := e.FinishKey(ctx, tx, c.KeyOwner, created); err != nil {
					return err
				}
				return tx.Commit(ctx)
			},
			Check: func(t *testing.T, happened bool) {
				again := c
				again.Owner = "another"
				got := get[guard.KeyClaimed](t)(e.ClaimKey(t.Context(), again))
				if (got.State == guard.KeyResponded) != happened {
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
			must(t, e.FinishKey(t.Context(), tx, c.KeyOwner, created))
			must(t, tx.Commit(t.Context()))
		})
		wantCost(t, e.Tap, 2, 1, func() { wantKey(t, e, claim("k", "work", start), responded) })
		e.Tap.Arm(FaultError, 2)
		if _, err := e.ClaimKey(t.Context(), claim("k", "work", start)); !errors.Is(err, ErrInjected) {
			t.Errorf("the look at a taken key failed, and the claim said %v", err)
		}
	}},
}

// wantCost counts the statements and commits of an operation.
func wantCost(t *testing.T, tap *Tap, statements, commits int, act func()) {
	t.Helper()
	tap.Reset()
	act()
	if s, c := tap.Counts(); s != statements || c != commits {
		t.Errorf("%d statements and %d commits, want %d and %d", s, c, statements, commits)
	}
}
