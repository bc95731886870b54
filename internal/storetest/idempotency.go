package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// lease is how long a claim of the cases holds, on the machine's clock, which
// the cases make up as well.
const lease = 30 * time.Second

// claim returns a request for an action under a new owner.
func claim(key, action string, at keystore.Time) keystore.Claim {
	return keystore.Claim{
		Hold:        keystore.Hold{CallerID: "app_1", BusinessID: "biz_1", Key: key, Owner: fmt.Sprintf("owner_%d", serial.Add(1))},
		Fingerprint: sha256.Sum256([]byte(action)), At: at, ExpiresAt: at.Now.Add(keystore.Lifetime), LeaseEnds: at.Real.Add(lease),
	}
}

func newKey() string { return fmt.Sprintf("key %d", serial.Add(1)) }

// start is noon on both clocks; the real one is moved by its own.
var start = keystore.Time{Now: noon, Real: noon}

func later(now, real time.Duration) keystore.Time {
	return keystore.Time{Now: noon.Add(now), Real: noon.Add(real)}
}

var created = keystore.Response{Status: http.StatusCreated, Header: http.Header{"Location": {"/x"}, "Link": {"a", "b"}}, Body: []byte{0, 0xff, '"', '\n'}}

func wantKey(t testing.TB, e partnerkit.Store, c keystore.Claim, want keystore.Claimed) {
	t.Helper()
	got, err := e.ClaimKey(t.Context(), c)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("claim: %v, (-want +got)\n%s", err, diff)
	}
}

var (
	owned     = keystore.Claimed{State: keystore.Owned}
	running   = keystore.Claimed{State: keystore.Running}
	mismatch  = keystore.Claimed{State: keystore.Mismatch}
	responded = keystore.Claimed{State: keystore.Responded, Response: created}
)

// keyCases are the operations on idempotency keys.
var keyCases = []testCase[partnerkit.Store]{
	// IDEM-01.
	{"A key runs, then repeats its answer", func(t *testing.T, e partnerkit.Store) {
		first := claim("k", "work", start)
		wantKey(t, e, first, owned)
		wantKey(t, e, claim("k", "work", start), running)
		wantKey(t, e, claim("k", "other work", start), mismatch)
		must(t, e.FinishKey(t.Context(), nil, first.Hold, created))
		wantKey(t, e, claim("k", "work", start), responded)
		wantKey(t, e, claim("k", "other work", start), mismatch)
		if err := e.FinishKey(t.Context(), nil, first.Hold, created); !errors.Is(err, keystore.ErrLost) {
			t.Errorf("a second answer: %v", err)
		}
		must(t, e.ReleaseKey(t.Context(), first.Hold))
		wantKey(t, e, claim("k", "work", start), responded)
	}},
	// IDEM-01: the key belongs to app and business.
	{"A key is one app's in one business", func(t *testing.T, e partnerkit.Store) {
		for _, owner := range []keystore.Hold{{CallerID: "a", BusinessID: "b"}, {CallerID: "a", BusinessID: "c"}, {CallerID: "d", BusinessID: "b"}} {
			c := claim("k", owner.CallerID+owner.BusinessID, start)
			c.CallerID, c.BusinessID = owner.CallerID, owner.BusinessID
			wantKey(t, e, c, owned)
		}
	}},
	{"Answers come back as they were", func(t *testing.T, e partnerkit.Store) {
		large := make([]byte, 1<<20)
		for i := range large {
			large[i] = byte(i * 7)
		}
		for name, response := range map[string]keystore.Response{
			"nothing but a status": {Status: 204, Header: http.Header{}},
			"large and binary":     {Status: 200, Header: http.Header{"Content-Type": {"application/octet-stream"}}, Body: large},
			"omitted":              {Status: 200, Header: http.Header{}, IsOmitted: true},
		} {
			c := claim(newKey(), "work", start)
			wantKey(t, e, c, owned)
			must(t, e.FinishKey(t.Context(), nil, c.Hold, response))
			c.Owner = "another"
			got := get[keystore.Claimed](t)(e.ClaimKey(t.Context(), c))
			if len(got.Response.Body) == 0 {
				got.Response.Body = nil
			}
			if diff := cmp.Diff(keystore.Claimed{State: keystore.Responded, Response: response}, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	}},
	// IDEM-02: what was not done leaves a key that anything can use.
	{"A released key is new", func(t *testing.T, e partnerkit.Store) {
		first := claim("k", "wrong", start)
		wantKey(t, e, first, owned)
		other := first.Hold
		other.Owner = "another"
		must(t, e.ReleaseKey(t.Context(), other))
		wantKey(t, e, claim("k", "wrong", start), running)
		must(t, e.ReleaseKey(t.Context(), first.Hold))
		wantKey(t, e, claim("k", "corrected", start), owned)
	}},
	// IDEM-02: a crash frees the key for the same request, and fences the dead.
	{"A lease that ended is taken over", func(t *testing.T, e partnerkit.Store) {
		first := claim("k", "work", start)
		wantKey(t, e, first, owned)
		wantKey(t, e, claim("k", "work", later(time.Hour, lease-time.Millisecond)), running)
		wantKey(t, e, claim("k", "other work", later(0, lease)), mismatch)
		second := claim("k", "work", later(0, lease))
		wantKey(t, e, second, owned)
		if err := e.FinishKey(t.Context(), nil, first.Hold, created); !errors.Is(err, keystore.ErrLost) {
			t.Errorf("the first owner's answer: %v", err)
		}
		if err := e.RenewKey(t.Context(), first.Hold, noon.Add(time.Hour)); !errors.Is(err, keystore.ErrLost) {
			t.Errorf("the first owner's renewal: %v", err)
		}
		must(t, e.ReleaseKey(t.Context(), first.Hold))
		must(t, e.FinishKey(t.Context(), nil, second.Hold, created))
		wantKey(t, e, claim("k", "work", later(0, time.Hour)), responded)
	}},
	{"A renewed lease holds", func(t *testing.T, e partnerkit.Store) {
		first := claim("k", "work", start)
		wantKey(t, e, first, owned)
		must(t, e.RenewKey(t.Context(), first.Hold, noon.Add(2*lease)))
		wantKey(t, e, claim("k", "work", later(0, lease)), running)
		wantKey(t, e, claim("k", "work", later(0, 2*lease)), owned)
	}},
	// IDEM-01: 24 hours on the platform's clock, to the second.
	{"A key ends after its lifetime", func(t *testing.T, e partnerkit.Store) {
		const day = keystore.Lifetime
		first := claim("k", "work", start)
		wantKey(t, e, first, owned)
		must(t, e.FinishKey(t.Context(), nil, first.Hold, created))
		wantKey(t, e, claim("k", "work", later(day-time.Second, 0)), responded)
		wantKey(t, e, claim("k", "other work", later(day-time.Second, 0)), mismatch)
		wantPurged(t, e, later(day-time.Second, day), 0)
		second := claim("k", "other work", later(day, 0))
		wantKey(t, e, second, owned)

		// What runs is not taken away by a clock that was moved.
		wantKey(t, e, claim("k", "other work", later(2*day, lease-time.Second)), running)
		wantPurged(t, e, later(2*day, lease-time.Second), 0)
		wantPurged(t, e, later(2*day-time.Second, lease), 0)
		wantPurged(t, e, later(2*day, lease), 1)
		if err := e.FinishKey(t.Context(), nil, second.Hold, created); !errors.Is(err, keystore.ErrLost) {
			t.Errorf("the answer of a key that is gone: %v", err)
		}
	}},
	{"Old keys go in batches", func(t *testing.T, e partnerkit.Store) {
		for range 5 {
			c := claim(newKey(), "work", start)
			wantKey(t, e, c, owned)
			must(t, e.FinishKey(t.Context(), nil, c.Hold, created))
		}
		at := later(keystore.Lifetime, 0)
		for _, want := range []int{2, 2, 1, 0} {
			if n := get[int](t)(e.Purge(t.Context(), storage.Purge{Kind: storage.PurgeKeys, Before: at.Now, Real: at.Real, Limit: 2})); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
	}},
	{"Of those who claim a key at once one owns it", func(t *testing.T, e partnerkit.Store) {
		for _, at := range []keystore.Time{start, later(0, lease), later(keystore.Lifetime, 2*lease)} {
			owners := make(chan string, 16)
			testdb.Race(16, func(int) {
				c := claim("k", "work", at)
				got, err := e.ClaimKey(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				if got.State == keystore.Owned {
					owners <- c.Owner
				} else if got.State != keystore.Running {
					t.Errorf("a loser saw %q", got.State)
				}
			})
			if len(owners) != 1 {
				t.Errorf("%d owners at %v", len(owners), at)
			}
		}
	}},
}

func wantPurged(t testing.TB, e partnerkit.Store, at keystore.Time, want int) {
	t.Helper()
	if n := get[int](t)(e.Purge(t.Context(), storage.Purge{Kind: storage.PurgeKeys, Before: at.Now, Real: at.Real, Limit: 10})); n != want {
		t.Errorf("purged %d, want %d", n, want)
	}
}
