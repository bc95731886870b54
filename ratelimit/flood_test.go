package ratelimit_test

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// numbered is a key like those of NewKey, without the cost of the digest.
func numbered(i int) ratelimit.Key {
	var k ratelimit.Key
	binary.BigEndian.PutUint64(k[:8], uint64(i)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(k[8:], uint64(i)+1)
	return k
}

func pairOf(key ratelimit.Key) ratelimit.Lockouts {
	return ratelimit.Lockouts{{Key: key, Rule: ratelimit.DefaultLimits().AuthFailures}}
}

func isLocked(t testing.TB, m *ratelimit.Memory, now time.Time, l ratelimit.Lockouts) bool {
	t.Helper()
	res, err := m.Check(t.Context(), now, ratelimit.Request{Lockouts: l})
	if err != nil {
		t.Fatal(err)
	}
	return res.Refusal == "lockout"
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestFlood proves OLIM-06. It is not parallel, for it measures the heap.
func TestFlood(t *testing.T) {
	keys, maxBytes := 300_000, int64(2<<20)
	if testenv.Proving() {
		keys, maxBytes = 10_000_000, 64<<20
	}
	ctx, now := t.Context(), time.UnixMilli(1_900_000_000_000)
	before := heap()
	m := newMemory(t, maxBytes)

	locked := pairOf(ratelimit.NewKey("locked"))
	for range ratelimit.DefaultLimits().AuthFailures.MoreThan + 1 {
		if _, err := m.Fail(ctx, now, locked); err != nil {
			t.Fatal(err)
		}
	}
	busy := ratelimit.Counter{Key: ratelimit.NewKey("busy"), Limit: ratelimit.PerMinute(2)}
	req := ratelimit.Request{Counters: ratelimit.Counters{busy}}
	for range 3 {
		if _, err := m.Check(ctx, now, req); err != nil {
			t.Fatal(err)
		}
	}

	for i := range keys {
		key := numbered(i)
		flood := ratelimit.Request{
			Counters: ratelimit.Counters{{Key: key, Limit: ratelimit.PerMinute(1)}},
			Lockouts: pairOf(key),
		}
		if _, err := m.Check(ctx, now, flood); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fail(ctx, now, flood.Lockouts); err != nil {
			t.Fatal(err)
		}
	}

	if grown := heap() - before; grown > maxBytes {
		t.Errorf("%d keys took %d bytes, more than %d", keys, grown, maxBytes)
	}
	if !isLocked(t, m, now, locked) {
		t.Error("the flood ended a live lockout")
	}
	if res, err := m.Check(ctx, now, req); err != nil || res.Allowed {
		t.Errorf("the flood reset the busiest counter: %+v, %v", res, err)
	}
	runtime.KeepAlive(m)
}

// TestFloodOfFailures: the times of failures take bounded memory too, and the busiest key
// is remembered (OLIM-06,
// LOCK-05). It is not parallel, for it measures the heap.
func TestFloodOfFailures(t *testing.T) {
	const keys, maxBytes = 4_000, 2 << 20
	ctx, now := t.Context(), time.UnixMilli(1_900_000_000_000)
	before := heap()
	m := newMemory(t, maxBytes)
	address := ratelimit.Lockouts{{Key: ratelimit.NewKey("address"), Rule: ratelimit.DefaultLimits().AuthFailuresPerIP}}
	for i := range 30 {
		at := now.Add(time.Duration(i) * time.Second)
		for n := range keys {
			if _, err := m.Fail(ctx, at.Add(time.Duration(n)*time.Microsecond), pairOf(numbered(n))); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 3 { // 90 in all
			if _, err := m.Fail(ctx, at.Add(time.Duration(n)*time.Millisecond), address); err != nil {
				t.Fatal(err)
			}
		}
	}
	if grown := heap() - before; grown > maxBytes {
		t.Errorf("%d keys took %d bytes, more than %d", keys, grown, maxBytes)
	}
	if isLocked(t, m, now.Add(30*time.Second), address) {
		t.Error("90 failures locked the address out")
	}
	for n := range 11 {
		if _, err := m.Fail(ctx, now.Add(30*time.Second+time.Duration(n)*time.Millisecond), address); err != nil {
			t.Fatal(err)
		}
	}
	if !isLocked(t, m, now.Add(31*time.Second), address) {
		t.Error("101 failures did not lock the address out: the flood made the limiter forget")
	}
	runtime.KeepAlive(m)
}

// TestFloodOfLockouts: with no room left for lockouts the live ones stay (OLIM-06), new
// ones are not recorded and no other client is locked out; when the live ones have ended
// there is room again.
func TestFloodOfLockouts(t *testing.T) {
	t.Parallel()
	ctx, now := t.Context(), time.UnixMilli(1_900_000_000_000)
	m := newMemory(t, 1<<20)
	quick := func(i int) ratelimit.Lockouts {
		rule := ratelimit.LockoutRule{MoreThan: 1, Within: time.Minute, For: time.Minute}
		return ratelimit.Lockouts{{Key: numbered(i), Rule: rule}}
	}
	lock := func(now time.Time, i int) bool {
		l := quick(i)
		for range 2 {
			if _, err := m.Fail(ctx, now, l); err != nil {
				t.Fatal(err)
			}
		}
		return isLocked(t, m, now, l)
	}

	const keys = 4_000
	held := map[int]bool{}
	for i := range keys {
		if lock(now, i) {
			held[i] = true
		}
	}
	if len(held) == keys || len(held) < keys/10 {
		t.Fatalf("%d of %d keys are locked out; the table should be full, and full of them", len(held), keys)
	}
	for i := range keys {
		if got := isLocked(t, m, now, quick(i)); got != held[i] {
			t.Fatalf("key %d: locked is %t, was %t", i, got, held[i])
		}
	}
	if isLocked(t, m, now, pairOf(ratelimit.NewKey("stranger"))) {
		t.Error("a stranger is locked out")
	}
	if !lock(now.Add(time.Minute), keys) {
		t.Error("there is no room after all lockouts have ended")
	}
}
