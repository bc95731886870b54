package ratelimit_test

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// TestCheckAllocatesNothing covers what a token endpoint does for each request,
// keys included.
func TestCheckAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var limiter ratelimit.Limiter = newMemory(t, 0)
	ctx, now := t.Context(), time.UnixMilli(1_900_000_000_000)
	ip, client := netip.MustParseAddr("2001:db8::1"), "app_0123456789abcdefghijklmnop"
	once := func() {
		pair, all := ratelimit.NewIPKey("token", ip, client), ratelimit.NewIPKey("token", ip)
		req := ratelimit.Request{
			Counters: ratelimit.Counters{
				{Key: pair, Limit: ratelimit.DefaultLimits().OAuthWithSecret},
				{Key: all, Limit: ratelimit.DefaultLimits().OAuthPerIP},
			},
			Lockouts: ratelimit.Lockouts{
				{Key: pair, Rule: ratelimit.DefaultLimits().AuthFailures},
				{Key: all, Rule: ratelimit.DefaultLimits().AuthFailuresPerIP},
			},
		}
		if _, err := limiter.Check(ctx, now, req); err != nil {
			t.Error(err)
		}
		if _, err := limiter.Fail(ctx, now, req.Lockouts); err != nil {
			t.Error(err)
		}
	}
	if got := testing.AllocsPerRun(1000, once); got != 0 {
		t.Errorf("%v allocations a check, want 0", got)
	}
}

// BenchmarkCheck is the keyed fixed window: two counters, 100,000 keys, parallel.
func BenchmarkCheck(b *testing.B) {
	const keys = 100_000
	var limiter ratelimit.Limiter = newMemory(b, 0)
	ctx, now := b.Context(), time.UnixMilli(1_900_000_000_000)
	requests := make([]ratelimit.Request, keys)
	for i := range requests {
		requests[i].Counters = ratelimit.Counters{
			{Key: numbered(i), Limit: ratelimit.DefaultLimits().PerBusiness},
			{Key: numbered(keys + i/100), Limit: ratelimit.DefaultLimits().PerApp},
		}
		if _, err := limiter.Check(ctx, now, requests[i]); err != nil {
			b.Fatal(err)
		}
	}
	var worker atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		i := int(worker.Add(1)) * 7919
		for pb.Next() {
			i += 101
			if _, err := limiter.Check(ctx, now, requests[i%keys]); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkNewIPKey is the price of one key.
func BenchmarkNewIPKey(b *testing.B) {
	ip, client := netip.MustParseAddr("2001:db8::1"), "app_0123456789abcdefghijklmnop"
	b.ReportAllocs()
	for b.Loop() {
		ratelimit.NewIPKey("token", ip, client)
	}
}
