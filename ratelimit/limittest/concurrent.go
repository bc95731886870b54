package limittest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	workers = 16
	calls   = 25 // of each worker
)

// together runs act in all workers at once.
func together(act func()) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(act)
	}
	wg.Wait()
}

// testConcurrentRequests: exactly as many concurrent requests are allowed as the limit,
// and a request with two counters is counted by both.
func testConcurrentRequests(t *testing.T, limiter ratelimit.Limiter) {
	shared := ratelimit.Counter{Key: ratelimit.NewKey("shared"), Limit: ratelimit.PerMinute(100)}
	wide := ratelimit.Counter{Key: ratelimit.NewKey("wide"), Limit: ratelimit.PerMinute(10_000)}
	now := epoch()
	var allowed atomic.Int64
	together(func() {
		for range calls {
			res, err := limiter.Check(t.Context(), now, counting(shared, wide))
			if err != nil {
				t.Errorf("Check: %v", err)
				return
			}
			if res.Allowed {
				allowed.Add(1)
			}
		}
	})
	if got := allowed.Load(); got != 100 {
		t.Errorf("%d of %d requests were allowed, want 100", got, workers*calls)
	}
	res, err := limiter.Check(t.Context(), now, counting(wide))
	if got, want := res.Counters[0].Remaining, 10_000-workers*calls-1; err != nil || got != want {
		t.Errorf("the wide counter has %d left (%v), want %d", got, err, want)
	}
}

// testConcurrentFailures: no failure is lost, and none counts twice.
func testConcurrentFailures(t *testing.T, limiter ratelimit.Limiter) {
	total := workers * calls
	rule := ratelimit.LockoutRule{MoreThan: total, Within: time.Minute, For: time.Minute}
	lockouts := ratelimit.Lockouts{{Key: ratelimit.NewKey("failing"), Rule: rule}}
	now := epoch()
	together(func() {
		for range calls {
			if res, err := limiter.Fail(t.Context(), now, lockouts); err != nil || !res.Allowed {
				t.Errorf("Fail: %+v, %v", res, err)
				return
			}
		}
	})
	if res, err := limiter.Check(t.Context(), now, checking(lockouts)); err != nil || !res.Allowed {
		t.Errorf("after %d failures: %+v, %v; want it allowed", total, res, err)
	}
	if res, err := limiter.Fail(t.Context(), now, lockouts); err != nil || !res.Allowed {
		t.Errorf("Fail: %+v, %v", res, err)
	}
	if res, err := limiter.Check(t.Context(), now, checking(lockouts)); err != nil || res.Allowed {
		t.Errorf("after one more: %+v, %v; want a lockout", res, err)
	}
}

// testConcurrentAttempts: no more concurrent attempts are allowed than the number of
// failures that begins the lockout. One of them begins it, and forgiven attempts are
// allowed again.
func testConcurrentAttempts(t *testing.T, limiter ratelimit.Limiter) {
	rule := ratelimit.LockoutRule{MoreThan: 9, Within: time.Minute, For: time.Minute}
	lockouts := ratelimit.Lockouts{
		{Key: ratelimit.NewKey("wide"), Rule: ratelimit.LockoutRule{MoreThan: 49, Within: time.Minute, For: time.Minute}},
		{Key: ratelimit.NewKey("narrow"), Rule: rule},
	}
	now := epoch()
	attempts := func(lockouts ratelimit.Lockouts) int64 {
		var allowed, began atomic.Int64
		together(func() {
			for range calls {
				res, err := limiter.Fail(t.Context(), now, lockouts)
				if err != nil {
					t.Errorf("Fail: %v", err)
					return
				}
				if res.Allowed {
					allowed.Add(1)
				}
				if res.BeganLockout {
					began.Add(1)
				}
			}
		})
		if began.Load() != 1 {
			t.Errorf("%d failures began the lockout, want 1", began.Load())
		}
		return allowed.Load()
	}
	if got := attempts(lockouts); got != 10 {
		t.Errorf("%d of %d attempts were allowed, want 10", got, workers*calls)
	}
	for range 3 {
		if err := limiter.Forgive(t.Context(), now, lockouts); err != nil {
			t.Errorf("Forgive: %v", err)
		}
	}
	if got := attempts(lockouts); got != 3 {
		t.Errorf("%d attempts were allowed after 3 were forgiven", got)
	}
	if got := attempts(ratelimit.Lockouts{lockouts[0]}); got != 40 {
		t.Errorf("%d attempts of the wide lockout alone were allowed, want 40: what the other refused does not count", got)
	}
}
