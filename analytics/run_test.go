package analytics_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/clock"
)

// inBubble runs a counter whose Run has begun, inside a bubble. stop ends it and
// returns what Run returned.
func inBubble(t *testing.T, cfg analytics.Config, run func(t *testing.T, r *harness, stop func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		stop := func() error {
			cancel()
			return <-done
		}
		run(t, r, stop)
		cancel()
		synctest.Wait()
	})
}

func wantStored(t *testing.T, r *harness, want int64) {
	t.Helper()
	synctest.Wait()
	if n := r.storedCalls(t, "app_1"); n != want {
		t.Errorf("%d calls are stored, want %d", n, want)
	}
}

// AN-02: in batches, off the request path: ten seconds later and not before.
func TestAN02RunFlushes(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{Clock: clock.System{}}, func(t *testing.T, r *harness, stop func() error) {
		r.call("app_1")
		r.call("app_1")
		time.Sleep(10*time.Second - 1)
		wantStored(t, r, 0)
		time.Sleep(time.Nanosecond)
		wantStored(t, r, 2)
		r.call("app_1")
		time.Sleep(10 * time.Second)
		wantStored(t, r, 3)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// AN-02: flushed at shutdown.
func TestAN02RunFlushesAtShutdown(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, stop func() error) {
		r.call("app_1")
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		wantStored(t, r, 1)
	})
}

// What the last flush could not write is an error, and not the one of a context
// that was ended on purpose.
func TestRunTellsOfALostShutdown(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, stop func() error) {
		r.call("app_1")
		r.down.Store(true)
		if err := stop(); !errors.Is(err, errDown) || errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	})
}

// The last flush waits for a busy database, and not for ever.
func TestShutdownIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counter, err := analytics.New(analytics.Config{Store: stuck{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		counter.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200})
		begun := time.Now()
		if err := counter.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run = %v", err)
		}
		if took := time.Since(begun); took > 10*time.Second { // the bubble's time
			t.Errorf("it took %v", took)
		}
	})
}

type stuck struct{ callstore.Store }

func (stuck) AddCalls(ctx context.Context, _ callstore.Batch) error {
	<-ctx.Done()
	return ctx.Err()
}

// A failed flush is logged and tried again at the next turn.
func TestRunTriesAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{Clock: clock.System{}, FlushEvery: time.Minute}, func(t *testing.T, r *harness, _ func() error) {
		r.call("app_1")
		r.down.Store(true)
		time.Sleep(3*time.Minute + time.Second)
		wantStored(t, r, 0)
		if n := r.log.Count("counts stay in memory"); n != 3 {
			t.Errorf("%d lines in the log, want one a turn", n)
		}
		r.down.Store(false)
		time.Sleep(time.Minute)
		wantStored(t, r, 1)
	})
}

// Moving the clock wakes the loop.
func TestRunWakesWhenTheClockMoves(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, _ func() error) {
		r.call("app_1")
		r.clock.Advance(10*time.Second - 1)
		wantStored(t, r, 0)
		r.clock.Advance(1)
		wantStored(t, r, 1)
	})
}

// When half of the room is taken the loop does not wait for its turn; and a
// store that is down is not asked again with every call.
func TestRunWakesWhenMemoryFills(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{MaxBuckets: 10}, func(t *testing.T, r *harness, _ func() error) {
		fill := func(n int) {
			for i := range n {
				r.call(fmt.Sprint("app_", i+1))
			}
		}
		fill(4)
		wantStored(t, r, 0)
		fill(5)
		wantStored(t, r, 2)

		r.down.Store(true)
		for range 5 {
			fill(20)
			synctest.Wait()
		}
		// Half of the room of buckets is taken once, and half of that of groups.
		if n := r.log.Count("counts stay in memory"); n < 1 || n > 2 {
			t.Errorf("%d flushes of a store that is down", n)
		}
	})
}

// Retention: whole days, the first that is too old and not the next.
func TestRunPurges(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, _ func() error) {
		oldest := noon.Add(12 * time.Hour) // midnight
		r.Count(analytics.Call{AppID: "app_1", At: oldest.Add(-time.Second), Status: 200})
		r.Count(analytics.Call{AppID: "app_1", At: oldest, Status: 200})
		r.clock.Advance(analytics.Retention + 12*time.Hour - time.Second)
		wantStored(t, r, 2)
		r.clock.Advance(time.Hour) // the next day, and the next look
		wantStored(t, r, 1)
		if got := r.stored(t, "app_1"); len(got) != 1 || !got[0].Hour.Equal(oldest) {
			t.Errorf("%v is left, want %v", got, oldest)
		}
	})
}
