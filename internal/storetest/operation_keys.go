package storetest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
)

// claim returns a request for the key that all operations of the scene use, by an owner
// whose name ends with a digit.
func (s *Scene) claim(at keystore.Time) keystore.Claim {
	c := claim("key", "work", at)
	c.CallerID, c.BusinessID, c.Owner = s.app.ID, s.business, s.id("owner")
	return c
}

// held claims the key once, for an owner whose lease ends before later(0, lease).
func (s *Scene) held(t testing.TB) keystore.Claim {
	t.Helper()
	c := s.claim(start)
	c.Owner = s.shared("owner") + "_first"
	s.once("key", func() { wantKey(t, s, c, owned) })
	return c
}

// claimKey is an operation that claims the key. Check is called with the owner.
func (s *Scene) claimKey(c keystore.Claim, check func(t testing.TB, happened bool)) Act {
	return Act{
		Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
			got, err := on.ClaimKey(ctx, c)
			if err != nil || got.State == keystore.Owned {
				return answered(err)
			}
			return Answer(got.State), nil
		},
		Check: check,
	}
}

// keyOperations are the operations on idempotency keys. All are on one key.
var keyOperations = []Operation{
	{Name: "Claim", Of: "guard", Prepare: func(_ testing.TB, s *Scene) Act {
		c := s.claim(start)
		return s.claimKey(c, func(t testing.TB, happened bool) {
			if err := s.RenewKey(t.Context(), c.Hold, c.LeaseEnds); errors.Is(err, keystore.ErrLost) == happened {
				t.Errorf("happened %v: %v", happened, err)
			}
		})
	}},
	{Name: "Claim for other work", Of: "guard", Prepare: func(_ testing.TB, s *Scene) Act {
		c := s.claim(start)
		c.Fingerprint = claim("key", "other work", start).Fingerprint
		return s.claimKey(c, func(t testing.TB, happened bool) {
			if err := s.RenewKey(t.Context(), c.Hold, c.LeaseEnds); errors.Is(err, keystore.ErrLost) == happened {
				t.Errorf("happened %v: %v", happened, err)
			}
		})
	}},
	{Name: "Take over", Of: "guard", Prepare: func(t testing.TB, s *Scene) Act {
		dead := s.held(t)
		return s.claimKey(s.claim(later(0, lease)), func(t testing.TB, happened bool) {
			if err := s.RenewKey(t.Context(), dead.Hold, start.Real); errors.Is(err, keystore.ErrLost) != happened {
				t.Errorf("happened %v: %v", happened, err)
			}
		})
	}},
	{Name: "Renew", Of: "guard", Prepare: func(t testing.TB, s *Scene) Act {
		c := s.held(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.RenewKey(ctx, c.Hold, c.LeaseEnds.Add(time.Hour)), keystore.ErrLost)
			},
			Check: func(t testing.TB, happened bool) {
				again := s.claim(later(0, lease-time.Second))
				wantKey(t, s, again, running)
				again.At = later(0, lease)
				got := get[keystore.Claimed](t)(s.ClaimKey(t.Context(), again))
				if (got.State == keystore.Running) != happened {
					t.Errorf("happened %v, and the key is %q", happened, got.State)
				}
				if !happened { // gives it back
					must(t, s.ReleaseKey(t.Context(), again.Hold))
					wantKey(t, s, c, owned)
				}
			},
		}
	}},
	{Name: "Finish", Of: "guard", Prepare: func(t testing.TB, s *Scene) Act {
		c := s.held(t)
		response := created
		response.Status = http.StatusCreated + s.prepared
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.FinishKey(ctx, nil, c.Hold, response), keystore.ErrLost)
			},
			Check: func(t testing.TB, happened bool) {
				want := running
				if happened {
					want = keystore.Claimed{State: keystore.Responded, Response: response}
				}
				again := c
				again.Owner = "another"
				wantKey(t, s, again, want)
			},
		}
	}},
	{Name: "Release", Of: "guard", Prepare: func(t testing.TB, s *Scene) Act {
		c := s.held(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.ReleaseKey(ctx, c.Hold))
			},
			Check: func(t testing.TB, happened bool) {
				if err := s.RenewKey(t.Context(), c.Hold, c.LeaseEnds); errors.Is(err, keystore.ErrLost) != happened {
					t.Errorf("happened %v: %v", happened, err)
				}
			},
		}
	}},
}
