package longwindows_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/longwindows"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// frail is a store that can be down.
type frail struct {
	longwindows.Store
	down atomic.Bool
}

var errFrail = errors.New("the store is down")

func (f *frail) SaveLimitWindows(ctx context.Context, windows []ratelimit.WindowCount) error {
	if f.down.Load() {
		return errFrail
	}
	return f.Store.SaveLimitWindows(ctx, windows)
}

func (f *frail) LimitWindows(ctx context.Context, q ratelimit.WindowQuery) ([]ratelimit.WindowCount, error) {
	if f.down.Load() {
		return nil, errFrail
	}
	return f.Store.LimitWindows(ctx, q)
}

// process is a limiter whose long windows are kept, from its start to its end.
type process struct {
	t      *testing.T
	clock  *clock.Manual
	memory *ratelimit.Memory
	stop   context.CancelFunc
	done   chan error
}

func start(t *testing.T, store longwindows.Store, at *clock.Manual) *process {
	t.Helper()
	memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &process{t: t, clock: at, memory: memory, stop: stop, done: make(chan error, 1)}
	go func() {
		p.done <- longwindows.New(longwindows.Config{Store: store, Limiter: memory, Clock: at}).Run(ctx)
	}()
	t.Cleanup(stop)
	return p
}

var keptLimits = ratelimit.CallLimits{PerBusiness: ratelimit.PerMinute(300), PerApp: ratelimit.PerHour(1_000), PerBusinessAlso: ratelimit.Windows{ratelimit.PerDay(100)}}

func counters(business string) ratelimit.Counters {
	return keptLimits.Counters(&ratelimit.Call{AppID: "app_1", BusinessID: business})
}

func (p *process) call(business string) {
	p.t.Helper()
	if _, err := p.memory.Check(p.t.Context(), p.clock.Now(), ratelimit.Request{Counters: counters(business)}); err != nil {
		p.t.Fatal(err)
	}
}

// used returns how much of each window is used.
func (p *process) used(business string) (minute, hour, day int) {
	p.t.Helper()
	of := counters(business)
	quotas, err := p.memory.Peek(p.t.Context(), p.clock.Now(), []ratelimit.Counter{of[0], of[1], of[3]})
	if err != nil {
		p.t.Fatal(err)
	}
	return quotas[0].Limit - quotas[0].Remaining, quotas[1].Limit - quotas[1].Remaining, quotas[2].Limit - quotas[2].Remaining
}

// await waits for a state that another goroutine brings about.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("LIM-08: %s: it does not happen", what)
		}
	}
}

// LIM-08: windows of an hour and longer survive the restart of a node, those of a minute do not.
func TestLongWindowsSurvive_LIM08(t *testing.T) {
	t.Parallel()
	for name, open := range testdb.Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
			store := &frail{Store: testdb.NewEnv(t, open).Store}
			stored := func() (n int64) {
				found, err := store.Store.LimitWindows(t.Context(), ratelimit.WindowQuery{EndsAfter: at.Now(), Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				for _, one := range found {
					n += one.Count
				}
				return n
			}
			first := start(t, store, at)
			for range 7 {
				first.call("biz_1")
			}
			first.call("biz_2")
			first.stop()
			if err := <-first.done; err != nil {
				t.Fatal(err)
			}
			if n := stored(); n != 16 { // 8 in the hour of the app, 8 in the days of the businesses
				t.Errorf("LIM-08: %d calls are stored at the end", n)
			}

			// A store that is down delays loading. Calls that come before it count too.
			store.down.Store(true)
			second := start(t, store, at)
			second.call("biz_1")
			store.down.Store(false)
			at.Advance(30 * time.Second)
			await(t, "the counts are loaded", func() bool { _, _, day := second.used("biz_1"); return day == 8 })
			if minute, hour, _ := second.used("biz_1"); minute > 1 || hour != 9 {
				t.Errorf("LIM-08: %d in the minute, %d in the hour", minute, hour)
			}
			if _, _, day := second.used("biz_2"); day != 1 {
				t.Errorf("LIM-08: the other business has %d in the day", day)
			}
			second.call("biz_1")
			at.Advance(30 * time.Second) // half a minute is enough
			await(t, "the counts are saved", func() bool { return stored() == 20 })
			store.down.Store(true) // it is killed: nothing more is stored
			second.call("biz_1")
			second.stop()
			if err := <-second.done; !errors.Is(err, errFrail) {
				t.Errorf("LIM-08: the end of a process whose store is down: %v", err)
			}
			store.down.Store(false)
			third := start(t, store, at)
			await(t, "the counts are loaded", func() bool { _, _, day := third.used("biz_1"); return day == 9 })

			// What has ended is deleted, and is not loaded.
			third.stop()
			if err := <-third.done; err != nil {
				t.Fatal(err)
			}
			at.Advance(48 * time.Hour)
			fourth := start(t, store, at)
			fourth.call("biz_3")
			at.Advance(time.Hour)
			await(t, "ended windows are deleted", func() bool {
				all, err := store.Store.LimitWindows(t.Context(), ratelimit.WindowQuery{Limit: 100})
				return err == nil && len(all) > 0 && len(all) <= 2
			})
			if minute, hour, day := fourth.used("biz_1"); minute != 0 || hour > 1 || day != 0 {
				t.Errorf("LIM-08: an old window counts: %d, %d, %d", minute, hour, day)
			}
		})
	}
}
