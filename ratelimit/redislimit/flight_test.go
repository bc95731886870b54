package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// atATime is how many calls are under way before checks begin to share them.
const atATime = 4

// alone is a request that counts by itself.
func alone(i int) ratelimit.Request {
	key := ratelimit.NewKey("alone", fmt.Sprint(i))
	return ratelimit.Request{Counters: ratelimit.Counters{{Key: key, Limit: ratelimit.PerMinute(1000)}}}
}

// large is a request with every place in use.
func large(i int) ratelimit.Request {
	var req ratelimit.Request
	for j := range req.Counters {
		req.Counters[j] = ratelimit.Counter{Key: ratelimit.NewKey("c", fmt.Sprint(i, j)), Limit: ratelimit.PerMinute(1000)}
	}
	for j := range req.Lockouts {
		req.Lockouts[j] = ratelimit.Lockout{Key: ratelimit.NewKey("l", fmt.Sprint(i, j)), Rule: ratelimit.DefaultLimits().AuthFailures}
	}
	return req
}

// TestChecksShareCalls: what comes while calls are under way goes with the next
// one, and each gets its own counts.
func TestChecksShareCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, fake := held(t, redislimit.Config{})
		const checks = 60
		var wg sync.WaitGroup
		for i := range checks {
			wg.Go(func() {
				for n := 1; n <= 1+i%2; n++ {
					res, err := limiter.Check(t.Context(), time.Now(), alone(i))
					if err != nil || res.Counters[0].Remaining != 1000-n {
						t.Errorf("check %d of %d: %+v, %v", n, i, res, err)
					}
				}
			})
		}
		synctest.Wait()
		if got := fake.sent.Load(); got != atATime {
			t.Errorf("%d calls are under way, want %d", got, atATime)
		}
		for range atATime {
			fake.letGo(response)
		}
		synctest.Wait()
		// All waiting checks shared the first call that followed.
		if got := fake.most.Load(); got != checks-atATime {
			t.Errorf("%d keys in one call, want %d", got, checks-atATime)
		}
		fake.letAllGo(t, response)
		wg.Wait()
	})
}

// TestCallsAreBounded: a script has no more than 256 keys, and every check gets an
// response.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, fake := held(t, redislimit.Config{})
		const checks = 200
		var wg sync.WaitGroup
		for i := range atATime + checks {
			wg.Go(func() {
				res, err := limiter.Check(t.Context(), time.Now(), large(i))
				if err != nil || !res.Allowed || res.Counters[3].Remaining != 999 {
					t.Errorf("check %d: %+v, %v", i, res, err)
				}
			})
		}
		fake.letAllGo(t, response)
		wg.Wait()
		const each = ratelimit.MaxCounters + ratelimit.MaxLockouts
		const aCall = 256 / each // checks
		if got := fake.most.Load(); got != aCall*each {
			t.Errorf("%d keys in one call, want %d", got, aCall*each)
		}
		if got, want := fake.sent.Load(), atATime+(checks+aCall-1)/aCall; got != int64(want) {
			t.Errorf("%d calls, want %d", got, want)
		}
	})
}

// TestTimeoutInQueue: a check that waited for others still returns after one
// Timeout. The time is the bubble's.
func TestTimeoutInQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout, checks = 100 * time.Millisecond, 95
		meter := &meter{}
		limiter, fake := held(t, redislimit.Config{Timeout: timeout, MeterProvider: meter})
		var wg sync.WaitGroup
		for i := range checks {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				begin := time.Now()
				_, err := limiter.Check(t.Context(), begin, alone(i))
				if !errors.Is(err, ratelimit.ErrUnavailable) {
					t.Errorf("check %d: %v, want ErrUnavailable", i, err)
				}
				if took := time.Since(begin); took > timeout {
					t.Errorf("check %d came back after %v", i, took)
				}
			})
		}
		wg.Wait()
		if got := fake.sent.Load(); got != atATime+1 { // the waiting checks shared one call
			t.Errorf("%d calls, want %d", got, atATime+1)
		}
		if got := meter.calls.Load(); got != checks {
			t.Errorf("the metric says %d calls, want %d", got, checks)
		}
	})
}

// TestSilentInChorus: many checks wait for a Redis that does not reply, and all return.
func TestSilentInChorus(t *testing.T) {
	t.Parallel()
	meter := &meter{}
	limiter := open(t, redislimit.Config{
		Client: listen(t, saySilent), Timeout: 20 * time.Millisecond,
		OnFailure: redislimit.FailClosed, MeterProvider: meter,
	})
	const checks = 300
	var wg sync.WaitGroup
	for i := range checks {
		wg.Go(func() {
			if _, err := limiter.Check(t.Context(), time.Now(), large(i)); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Errorf("check %d: %v, want ErrUnavailable", i, err)
			}
		})
	}
	wg.Wait()
	if got := meter.calls.Load(); got != checks {
		t.Errorf("the metric says %d calls, want %d", got, checks)
	}
}

// TestOneOfManyGoesAway: a cancelled check returns at once, both from a call and from
// the queue, and the other checks of its call get their results. The cancelled check may
// be counted.
func TestOneOfManyGoesAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, fake := held(t, redislimit.Config{Timeout: time.Hour})
		var wg, gone sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		for i := range atATime + 1 { // the last one is the first in the queue
			gone.Go(func() {
				if _, err := limiter.Check(ctx, time.Now(), alone(i)); !errors.Is(err, context.Canceled) {
					t.Errorf("check %d: %v, want the context's error", i, err)
				}
			})
		}
		synctest.Wait()
		for i := range 10 {
			wg.Go(func() {
				res, err := limiter.Check(t.Context(), time.Now(), alone(100+i))
				if err != nil || res.Counters[0].Remaining != 999 {
					t.Errorf("check %d: %+v, %v", i, res, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		gone.Wait()
		if took := time.Since(begin); took != 0 {
			t.Errorf("they went away after %v", took)
		}
		fake.letAllGo(t, response)
		wg.Wait()
	})
}

// TestPauseWhileWaiting: after three consecutive failed calls, of any kind, no other
// call is sent, and the checks in the queue fail without waiting.
func TestPauseWhileWaiting(t *testing.T) {
	t.Parallel()
	t.Run("refused", func(t *testing.T) { t.Parallel(); pauseWhileWaiting(t, refuse) })
	t.Run("panic", func(t *testing.T) { t.Parallel(); pauseWhileWaiting(t, fallOver) })
}

func pauseWhileWaiting(t *testing.T, fail call) {
	synctest.Test(t, func(t *testing.T) {
		meter := &meter{}
		limiter, fake := held(t, redislimit.Config{Timeout: time.Hour, MeterProvider: meter})
		const checks = atATime + 200
		var wg sync.WaitGroup
		for i := range checks {
			wg.Go(func() {
				if _, err := limiter.Check(t.Context(), time.Now(), large(i)); !errors.Is(err, ratelimit.ErrUnavailable) {
					t.Errorf("check %d: %v, want ErrUnavailable", i, err)
				}
			})
		}
		synctest.Wait()
		for range 3 {
			fake.letGo(fail)
			synctest.Wait()
		}
		if got := fake.sent.Load(); got != atATime+2 {
			t.Errorf("%d calls, want %d", got, atATime+2)
		}
		if got := meter.calls.Load(); got < 3+136 { // all but the checks in flight
			t.Errorf("%d have come back", got)
		}
		fake.letAllGo(t, fail)
		wg.Wait()
		if got := meter.calls.Load(); got != checks {
			t.Errorf("the metric says %d calls, want %d", got, checks)
		}
	})
}

// TestNobodyWaitsInPause: during the pause no check waits for the calls in flight.
// After the pause a single call is sent, even if many checks arrive at once.
func TestNobodyWaitsInPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, fake := held(t, redislimit.Config{Timeout: time.Hour})
		var wg sync.WaitGroup
		check := func(i int) {
			if _, err := limiter.Check(t.Context(), time.Now(), alone(i)); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Errorf("check %d: %v, want ErrUnavailable", i, err)
			}
		}
		for i := range atATime {
			wg.Go(func() { check(i) })
		}
		synctest.Wait()
		for range 3 {
			if _, err := limiter.Fail(t.Context(), time.Now(), large(0).Lockouts); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Fatalf("Fail = %v, want ErrUnavailable", err)
			}
		}
		begin := time.Now()
		check(atATime)
		if took := time.Since(begin); took != 0 {
			t.Errorf("a check waited for %v", took)
		}
		fake.letAllGo(t, refuse)
		wg.Wait()
		time.Sleep(2 * time.Second)
		before := fake.sent.Load()
		for i := range 50 {
			wg.Go(func() { check(i) })
		}
		fake.letAllGo(t, refuse)
		wg.Wait()
		if got := fake.sent.Load() - before; got != 1 {
			t.Errorf("asked %d times after the pause, want 1", got)
		}
	})
}

// TestCallGoesWrong: a malformed reply is an error for all checks that share the
// call, and so is a call that never returns. The next call succeeds.
func TestCallGoesWrong(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]call{"short": responseShort, "torn down": tearDown, "panic": fallOver} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limiter, fake := held(t, redislimit.Config{Timeout: time.Hour})
				var wg sync.WaitGroup
				var failed atomic.Int64
				const checks = atATime + 30
				for i := range checks {
					wg.Go(func() {
						_, err := limiter.Check(t.Context(), time.Now(), alone(i))
						if errors.Is(err, ratelimit.ErrUnavailable) {
							failed.Add(1)
						} else if err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				for range atATime {
					fake.letGo(response)
				}
				synctest.Wait()
				fake.letGo(wrong) // the one that all the others share
				wg.Wait()
				if got := failed.Load(); got != checks-atATime {
					t.Errorf("%d checks failed, want %d", got, checks-atATime)
				}
				wg.Go(func() {
					if _, err := limiter.Check(t.Context(), time.Now(), alone(0)); err != nil {
						t.Errorf("afterwards: %v", err)
					}
				})
				fake.letAllGo(t, response)
				wg.Wait()
			})
		})
	}
}

// TestNoCountIsMixedUp has many callers share calls to a real Redis. Some callers
// leave early. No count is lost, doubled or given to another caller.
func TestNoCountIsMixedUp(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t, dial(t))
	const callers, rounds, limit = 48, 150, 1 << 20
	now := time.UnixMilli(1_900_000_000_000)
	everybody := ratelimit.Counter{Key: ratelimit.NewKey("everybody"), Limit: ratelimit.PerMinute(limit)}
	var responded, left atomic.Int64
	var seen sync.Map
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			lockout := ratelimit.Lockout{Key: ratelimit.NewKey("out", fmt.Sprint(caller)), Rule: ratelimit.LockoutRule{
				MoreThan: 1, Within: time.Minute, For: time.Duration(1+caller) * time.Second,
			}}
			// Not all ask for the same number of keys, nor at the same place.
			var req ratelimit.Request
			own, out := caller%3, caller%4
			req.Counters[own] = ratelimit.Counter{Key: ratelimit.NewKey("own", fmt.Sprint(caller)), Limit: ratelimit.PerMinute(limit)}
			req.Counters[3] = everybody
			var locked time.Duration
			if caller%2 == 0 {
				req.Lockouts[out], locked = lockout, lockout.Rule.For
				for range 2 {
					if _, err := limiter.Fail(t.Context(), now, req.Lockouts); err != nil {
						t.Error(err)
					}
				}
			}
			least, unsure := 0, 0 // a cancelled check may have been counted
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(4) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, cancel)
				}
				res, err := limiter.Check(ctx, now, req)
				cancel()
				if errors.Is(err, context.Canceled) {
					unsure++
					left.Add(1)
					continue
				}
				if err != nil {
					t.Errorf("caller %d: %v", caller, err)
					return
				}
				responded.Add(1)
				least++
				got := limit - res.Counters[own].Remaining
				if got < least || got > least+unsure {
					t.Errorf("caller %d: count %d, want %d and at most %d more", caller, got, least, unsure)
				}
				unsure -= got - least
				least = got
				if res.Lockouts[out] != locked {
					t.Errorf("caller %d: locked out for %v, want %v", caller, res.Lockouts[out], locked)
				}
				if _, twice := seen.LoadOrStore(res.Counters[3].Remaining, caller); twice {
					t.Errorf("caller %d: two have the count %d", caller, limit-res.Counters[3].Remaining)
				}
			}
		})
	}
	wg.Wait()
	res, err := limiter.Check(t.Context(), now, ratelimit.Request{Counters: ratelimit.Counters{everybody}})
	got := int64(limit - res.Counters[0].Remaining - 1)
	if err != nil || got < responded.Load() || got > responded.Load()+left.Load() {
		t.Errorf("%d were counted, %v; %d were answered and %d went away", got, err, responded.Load(), left.Load())
	}
	t.Logf("%d answered, %d went away", responded.Load(), left.Load())
}
