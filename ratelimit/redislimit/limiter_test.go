package redislimit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/ratelimit/limittest"
	"github.com/partnerkit/partnerkit/ratelimit/redislimit"
)

// TestLimiter proves LOCK-01, LOCK-02, LOCK-04, LOCK-05, LIM-06 and LIM-07 on
// Redis.
func TestLimiter(t *testing.T) {
	t.Parallel()
	client := dial(t)
	limittest.Run(t, func(t *testing.T) ratelimit.Limiter { return newLimiter(t, client) })
}

// TestSameAsMemory plays one random script on both limiters: every response must
// be the same.
func TestSameAsMemory(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	shared := newLimiter(t, dial(t))
	memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(1_900_000_000_000)
	for i := range 4000 {
		now = now.Add(randomStep(random))
		req := randomRequest(random)
		var want, got ratelimit.Result
		var errA, errB error
		switch random.IntN(7) {
		case 0:
			errA, errB = memory.Forgive(t.Context(), now, req.Lockouts), shared.Forgive(t.Context(), now, req.Lockouts)
		case 1, 2, 3:
			want, errA = memory.Fail(t.Context(), now, req.Lockouts)
			got, errB = shared.Fail(t.Context(), now, req.Lockouts)
		default:
			want, errA = memory.Check(t.Context(), now, req)
			got, errB = shared.Check(t.Context(), now, req)
		}
		if errA != nil || errB != nil {
			t.Fatalf("call %d: %v in memory, %v on Redis", i, errA, errB)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("call %d at %v (-memory +redis):\n%s", i, now, diff)
		}
	}
}

// randomStep is mostly a short time, rarely a long one, and sometimes one back.
func randomStep(random *rand.Rand) time.Duration {
	switch random.IntN(100) {
	case 0:
		return time.Duration(random.Int64N(int64(48 * time.Hour)))
	case 1, 2, 3:
		return -time.Duration(random.Int64N(int64(2 * time.Second)))
	default:
		return time.Duration(random.Int64N(int64(500 * time.Millisecond)))
	}
}

func randomRequest(random *rand.Rand) ratelimit.Request {
	var req ratelimit.Request
	for i := range req.Counters {
		if random.IntN(2) == 0 {
			window := time.Duration(1+random.IntN(3)) * 5 * time.Second
			req.Counters[i] = ratelimit.Counter{
				Key:   ratelimit.NewKey("counter", fmt.Sprint(random.IntN(4))),
				Limit: ratelimit.Limit{Count: 1 + random.IntN(20), Window: window},
			}
		}
	}
	keys := random.Perm(6)
	for i := range req.Lockouts {
		if random.IntN(2) == 0 {
			key := keys[i]
			req.Lockouts[i] = ratelimit.Lockout{
				Key: ratelimit.NewKey("lockout", fmt.Sprint(key)),
				Rule: ratelimit.LockoutRule{
					MoreThan: 2 + key,
					Within:   time.Duration(1+key) * 2 * time.Second,
					For:      time.Duration(6-key) * time.Second,
				},
			}
		}
	}
	return req
}

// TestOneRoundTrip proves LIM-07's one round trip a check.
func TestOneRoundTrip(t *testing.T) {
	t.Parallel()
	client := dial(t)
	limiter := newLimiter(t, client)
	var req ratelimit.Request
	for i := range req.Counters {
		req.Counters[i] = ratelimit.Counter{Key: ratelimit.NewKey("c", fmt.Sprint(i)), Limit: ratelimit.PerMinute(5)}
	}
	for i := range req.Lockouts {
		req.Lockouts[i] = ratelimit.Lockout{Key: ratelimit.NewKey("l", fmt.Sprint(i)), Rule: ratelimit.DefaultLimits().AuthFailures}
	}
	both := func() {
		t.Helper()
		now := time.UnixMilli(1_900_000_000_000)
		if _, err := limiter.Check(t.Context(), now, req); err != nil {
			t.Fatal(err)
		}
		if _, err := limiter.Fail(t.Context(), now, req.Lockouts); err != nil {
			t.Fatal(err)
		}
	}
	both() // the first may have to bring the scripts along
	hook := &commands{}
	client.AddHook(hook)
	both()
	if got := hook.sent.Load(); got != 2 {
		t.Errorf("%d commands for a check and a failure, want 2", got)
	}
	if _, err := limiter.Check(t.Context(), time.Now(), ratelimit.Request{}); err != nil || hook.sent.Load() != 2 {
		t.Errorf("an empty check: %v, %d commands in all", err, hook.sent.Load())
	}
}

// TestScriptsLost: a Redis that does not know the scripts is sent them.
func TestScriptsLost(t *testing.T) {
	t.Parallel()
	client := dial(t)
	limiter := newLimiter(t, client)
	hook := &forgetful{}
	client.AddHook(hook)
	now, req := time.UnixMilli(1_900_000_000_000), failing()
	if res, err := limiter.Check(t.Context(), now, req); err != nil || res.Counters[0].Remaining != 1 {
		t.Errorf("Check = %+v, %v", res, err)
	}
	if _, err := limiter.Fail(t.Context(), now, req.Lockouts); err != nil {
		t.Errorf("Fail = %v", err)
	}
	if got := hook.evals.Load(); got != 2 {
		t.Errorf("%d scripts were sent, want 2", got)
	}
}

// TestKeysExpire: every key has a time to live and a bounded length for any input
// of a client (OLIM-06).
func TestKeysExpire(t *testing.T) {
	t.Parallel()
	client := dial(t)
	prefix := newPrefix(t, client)
	limiter := open(t, redislimit.Config{
		Client: client, Prefix: prefix, Timeout: 30 * time.Second, OnFailure: redislimit.FailClosed,
	})
	long := ratelimit.NewKey("long", strings.Repeat("x", 1<<16))
	lockouts := ratelimit.Lockouts{{Key: long, Rule: ratelimit.DefaultLimits().AuthFailures}}
	for i := range 40 {
		now := time.UnixMilli(1_900_000_000_000).Add(time.Duration(i) * time.Second)
		req := ratelimit.Request{
			Counters: ratelimit.Counters{{Key: long, Limit: ratelimit.PerMinute(5)}},
			Lockouts: lockouts,
		}
		if _, err := limiter.Check(t.Context(), now, req); err != nil {
			t.Fatal(err)
		}
		if _, err := limiter.Fail(t.Context(), now, lockouts); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) < 3 || len(keys) > 4 {
		t.Fatalf("keys %q, %v; want one or two windows, a lockout and its failures", keys, err)
	}
	for _, key := range keys {
		ttl, err := client.PTTL(t.Context(), key).Result()
		if err != nil || ttl <= 0 || ttl > 2*time.Minute {
			t.Errorf("%s lives for %v, %v", key, ttl, err)
		}
		if got := len(key) - len(prefix); got > 64 {
			t.Errorf("%s has %d bytes after the prefix", key, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	nowhere := func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	good := newClient(t, &redis.Options{Addr: "127.0.0.1:1", Dialer: nowhere})
	deaf := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", Dialer: nowhere})
	t.Cleanup(func() { deaf.Close() })
	tests := map[string]redislimit.Config{
		"no client":             {},
		"timeouts without hold": {Client: deaf},
		"negative timeout":      {Client: good, Timeout: -1},
		"long prefix":           {Client: good, Prefix: strings.Repeat("x", 129)},
		"unknown choice":        {Client: good, OnFailure: "maybe"},
		"local limiter":         {Client: good, Local: ratelimit.MemoryConfig{MaxBytes: 1}},
	}
	for name, config := range tests {
		if _, err := redislimit.New(config); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := redislimit.New(redislimit.Config{Client: good}); err != nil {
		t.Errorf("the zero Config with a client: %v", err)
	}
}
