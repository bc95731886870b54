package limittest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// Run runs the suite. It calls newLimiter once for each of its subtests, which
// run in parallel; every limiter must begin without any counts and share none
// with the others. A limiter that answers late or falls back to another will
// fail the suite.
func Run(t *testing.T, newLimiter func(t *testing.T) ratelimit.Limiter) {
	t.Helper()
	for _, s := range append(windowScripts(), lockoutScripts()...) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, newLimiter(t))
		})
	}
	t.Run("concurrent requests", func(t *testing.T) {
		t.Parallel()
		testConcurrentRequests(t, newLimiter(t))
	})
	t.Run("concurrent failures", func(t *testing.T) {
		t.Parallel()
		testConcurrentFailures(t, newLimiter(t))
	})
	t.Run("SIGN-01 concurrent attempts", func(t *testing.T) {
		t.Parallel()
		testConcurrentAttempts(t, newLimiter(t))
	})
	t.Run("CON-11 reads count nothing", func(t *testing.T) {
		t.Parallel()
		testPeek(t, newLimiter(t))
	})
	t.Run("invalid", func(t *testing.T) {
		t.Parallel()
		testInvalid(t, newLimiter(t))
	})
}

// script is a list of calls on one limiter and what they must answer.
type script struct {
	name  string
	start time.Time
	steps []step
}

// step is one call, a Fail or a Forgive if it has failures and a Check otherwise, made
// times over. Every one of those calls must answer with want, if that is not empty.
type step struct {
	at      time.Duration // since the script's start
	times   int           // zero means once
	check   ratelimit.Request
	fail    ratelimit.Lockouts
	forgive ratelimit.Lockouts
	want    string // as describe puts it
}

// take makes the call of a step.
func (s step) take(t *testing.T, limiter ratelimit.Limiter, now time.Time) (res ratelimit.Result, err error) {
	t.Helper()
	switch {
	case s.fail != (ratelimit.Lockouts{}):
		return limiter.Fail(t.Context(), now, s.fail)
	case s.forgive != (ratelimit.Lockouts{}):
		return res, limiter.Forgive(t.Context(), now, s.forgive)
	}
	return limiter.Check(t.Context(), now, s.check)
}

func (s script) play(t *testing.T, limiter ratelimit.Limiter) {
	t.Helper()
	for i, step := range s.steps {
		now := s.start.Add(step.at)
		for n := range max(1, step.times) {
			res, err := step.take(t, limiter, now)
			if err != nil {
				t.Fatalf("step %d at %v, call %d: %v", i, step.at, n+1, err)
			}
			if got := describe(res); step.want != "" && got != step.want {
				t.Fatalf("step %d at %v, call %d: got %q, want %q", i, step.at, n+1, got, step.want)
			}
		}
	}
}

// describe formats a result as "allowed", with whether it began a lockout, or as the counter
// or lockout that rejected it and for how long, followed by the rest of each used counter.
func describe(res ratelimit.Result) string {
	s := "allowed"
	switch {
	case !res.Allowed:
		s = fmt.Sprintf("%s %d for %v", res.Refusal, res.Index, res.Wait)
	case res.BeganLockout:
		s = "allowed, and began a lockout"
	}
	for _, quota := range res.Counters {
		if quota.Limit != 0 {
			s += fmt.Sprintf("; %d of %d left for %v", quota.Remaining, quota.Limit, quota.Reset)
		}
	}
	return s
}

func testInvalid(t *testing.T, limiter ratelimit.Limiter) {
	key := ratelimit.NewKey("invalid")
	counter := func(count int, window time.Duration) ratelimit.Request {
		return ratelimit.Request{Counters: ratelimit.Counters{
			{Key: key, Limit: ratelimit.Limit{Count: count, Window: window}},
		}}
	}
	lockout := func(moreThan int, within, lock time.Duration) ratelimit.Request {
		return ratelimit.Request{Lockouts: ratelimit.Lockouts{
			{Key: key, Rule: ratelimit.LockoutRule{MoreThan: moreThan, Within: within, For: lock}},
		}}
	}
	requests := map[string]ratelimit.Request{
		"no limit":        counter(0, 0),
		"no count":        counter(0, time.Minute),
		"negative count":  counter(-1, time.Minute),
		"no window":       counter(1, 0),
		"negative window": counter(1, -time.Minute),
		"microseconds":    counter(1, time.Minute+time.Microsecond),
		"over a day":      counter(1, 24*time.Hour+time.Millisecond),
		"no rule":         lockout(0, 0, 0),
		"no failures":     lockout(0, time.Minute, time.Minute),
		"no within":       lockout(1, 0, time.Minute),
		"no for":          lockout(1, time.Minute, 0),
	}
	for name, req := range requests {
		res, err := limiter.Check(t.Context(), epoch(), req)
		if !errors.Is(err, ratelimit.ErrInvalid) || res != (ratelimit.Result{}) {
			t.Errorf("%s: Check = %+v, %v; want the zero Result and ErrInvalid", name, res, err)
		}
		if req.Lockouts == (ratelimit.Lockouts{}) {
			continue
		}
		if res, err := limiter.Fail(t.Context(), epoch(), req.Lockouts); !errors.Is(err, ratelimit.ErrInvalid) || res != (ratelimit.Result{}) {
			t.Errorf("%s: Fail = %+v, %v; want the zero Result and ErrInvalid", name, res, err)
		}
		if err := limiter.Forgive(t.Context(), epoch(), req.Lockouts); !errors.Is(err, ratelimit.ErrInvalid) {
			t.Errorf("%s: Forgive = %v, want ErrInvalid", name, err)
		}
	}
}
