package redislimit_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// failing is a request with a limit of 2 and a lockout after more than 2.
func failing() ratelimit.Request {
	key := ratelimit.NewKey("outage")
	return ratelimit.Request{
		Counters: ratelimit.Counters{{Key: key, Limit: ratelimit.PerMinute(2)}},
		Lockouts: ratelimit.Lockouts{{Key: key, Rule: ratelimit.LockoutRule{MoreThan: 2, Within: time.Minute, For: time.Hour}}},
	}
}

// TestFailOpen proves LIM-07's default: the local limiter stands in, for
// counters and lockouts, with a warning and a metric.
func TestFailOpen(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){"hangs up": hangUp, "silent": saySilent, "nonsense": sayNonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var warnings logtest.Buffer
			meter := &meter{}
			limiter := open(t, redislimit.Config{
				Client:        listen(t, serve),
				Timeout:       20 * time.Millisecond,
				Logger:        slog.New(slog.NewTextHandler(&warnings, nil)),
				MeterProvider: meter,
			})
			ctx, now, req := t.Context(), time.UnixMilli(1_900_000_000_000), failing()
			for i, want := range []string{"", "", "counter"} {
				res, err := limiter.Check(ctx, now, req)
				if err != nil || res.Refusal != want {
					t.Errorf("check %d: %+v, %v; want %q", i, res, err, want)
				}
				if _, err := limiter.Fail(ctx, now, req.Lockouts); err != nil {
					t.Errorf("failure %d: %v", i, err)
				}
			}
			if res, err := limiter.Check(ctx, now, req); err != nil || res.Refusal != "lockout" {
				t.Errorf("after three failures: %+v, %v", res, err)
			}
			if got := meter.calls.Load(); got != 7 {
				t.Errorf("the metric says %d calls, want 7", got)
			}
			if quotas, err := limiter.Peek(ctx, now, req.Counters[:1]); err != nil || quotas[0].Remaining != 0 {
				t.Errorf("Peek = %+v, %v; want the counts in memory", quotas, err)
			}
			if got := warnings.String(); !strings.Contains(got, "level=WARN") {
				t.Errorf("log %q has no warning", got)
			}
		})
	}
}

// TestFailClosed proves LIM-07's other choice.
func TestFailClosed(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){"hangs up": hangUp, "silent": saySilent, "nonsense": sayNonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meter := &meter{}
			limiter := open(t, redislimit.Config{
				Client:        listen(t, serve),
				Timeout:       20 * time.Millisecond,
				OnFailure:     redislimit.FailClosed,
				MeterProvider: meter,
			})
			if _, err := limiter.Peek(t.Context(), time.UnixMilli(1_900_000_000_000), []ratelimit.Counter{failing().Counters[0]}); !errors.Is(err, ratelimit.ErrUnavailable) {
				t.Errorf("Peek: %v", err)
			}
			for range 5 {
				res, err := limiter.Check(t.Context(), time.Now(), failing())
				if !errors.Is(err, ratelimit.ErrUnavailable) || res != (ratelimit.Result{}) {
					t.Errorf("Check = %+v, %v; want ErrUnavailable", res, err)
				}
				if _, err := limiter.Fail(t.Context(), time.Now(), failing().Lockouts); !errors.Is(err, ratelimit.ErrUnavailable) {
					t.Errorf("Fail = %v, want ErrUnavailable", err)
				}
			}
			if got := meter.calls.Load(); got != 11 {
				t.Errorf("the metric says %d calls, want 11", got)
			}
		})
	}
}

// TestCallerGoesAway: a cancelled request is not an outage.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	meter := &meter{}
	limiter := open(t, redislimit.Config{Client: listen(t, saySilent), Timeout: time.Minute, MeterProvider: meter})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		if _, err := limiter.Check(ctx, time.Now(), failing()); !errors.Is(err, context.Canceled) {
			t.Errorf("Check = %v, want the context's error", err)
		}
		if _, err := limiter.Fail(ctx, time.Now(), failing().Lockouts); !errors.Is(err, context.Canceled) {
			t.Errorf("Fail = %v, want the context's error", err)
		}
	}
	if got := meter.calls.Load(); got != 0 {
		t.Errorf("the metric says %d calls, want none", got)
	}
}

// TestLockoutSurvivesOutage: what this node saw fail stays locked out when Redis
// goes away.
func TestLockoutSurvivesOutage(t *testing.T) {
	t.Parallel()
	client := dial(t)
	limiter := open(t, redislimit.Config{Client: client, Prefix: newPrefix(t, dial(t)), Timeout: 30 * time.Second})
	now, req := time.UnixMilli(1_900_000_000_000), failing()
	for range 3 {
		if _, err := limiter.Fail(t.Context(), now, req.Lockouts); err != nil {
			t.Fatal(err)
		}
	}
	client.Close()
	res, err := limiter.Check(t.Context(), now, req)
	if err != nil || res.Refusal != "lockout" {
		t.Errorf("Check = %+v, %v; want a lockout", res, err)
	}
}

// TestPause: a dead Redis is asked three times, then once a second, and warned
// of once in ten. The time is the bubble's.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := &commands{}
		client := newClient(t, &redis.Options{
			Addr:          "127.0.0.1:1", // an address, for a name would be looked up
			Dialer:        func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
			DialerRetries: 1,
		})
		client.AddHook(hook)
		var warnings logtest.Buffer
		limiter := open(t, redislimit.Config{
			Client: client, Timeout: time.Minute,
			Logger: slog.New(slog.NewTextHandler(&warnings, nil)),
		})
		ask := func(times int) (asked int64) {
			before := hook.sent.Load()
			for range times {
				if _, err := limiter.Check(t.Context(), time.Now(), failing()); err != nil {
					t.Error(err)
				}
			}
			return hook.sent.Load() - before
		}
		if got := ask(50); got != 3 {
			t.Errorf("asked %d times at first, want 3", got)
		}
		for range 3 {
			time.Sleep(2 * time.Second)
			if got := ask(50); got != 1 {
				t.Errorf("asked %d times after a pause, want 1", got)
			}
		}
		if got := strings.Count(warnings.String(), "\n"); got != 1 {
			t.Errorf("%d warnings, want 1", got)
		}
		time.Sleep(10 * time.Second)
		ask(50)
		if got := strings.Count(warnings.String(), "\n"); got != 2 {
			t.Errorf("%d warnings ten seconds later, want 2", got)
		}
	})
}

// TestRecovers: after an outage all checks use Redis again.
func TestRecovers(t *testing.T) {
	t.Parallel()
	var up atomic.Bool
	client := dial(t)
	client.AddHook(gate{&up})
	limiter := open(t, redislimit.Config{Client: client, Prefix: newPrefix(t, dial(t)), Timeout: 30 * time.Second})
	hook := &commands{}
	client.AddHook(hook)
	for range 10 {
		if _, err := limiter.Check(t.Context(), time.Now(), failing()); err != nil {
			t.Fatal(err)
		}
	}
	up.Store(true)
	for before := hook.sent.Load(); hook.sent.Load() == before; time.Sleep(20 * time.Millisecond) {
		if _, err := limiter.Check(t.Context(), time.Now(), failing()); err != nil {
			t.Fatal(err)
		}
	}
	before := hook.sent.Load()
	for range 10 {
		if _, err := limiter.Check(t.Context(), time.Now(), failing()); err != nil {
			t.Fatal(err)
		}
	}
	if got := hook.sent.Load() - before; got != 10 {
		t.Errorf("asked %d of 10 times after the outage", got)
	}
}
