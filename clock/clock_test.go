package clock_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

var (
	_ clock.Movable = clock.System{}
	_ clock.Movable = (*clock.Manual)(nil)
	_ clock.Movable = (*clock.Offset)(nil)
)

var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func TestClocksTellUTCWithoutMonotonicReading(t *testing.T) {
	t.Parallel()
	local := time.Now().In(time.FixedZone("elsewhere", 3600))
	for _, c := range []clock.Clock{clock.System{}, clock.NewManual(local), new(clock.Offset)} {
		now := c.Now()
		if now.Location() != time.UTC || now != now.Round(0) {
			t.Errorf("%T tells %#v", c, now)
		}
	}
}

func TestManual(t *testing.T) {
	t.Parallel()
	m := clock.NewManual(start)
	changed := m.Changed()
	if m.Now() != start || closed(changed) {
		t.Fatal("a clock that nobody moved has moved")
	}
	m.Advance(time.Hour)
	if m.Now() != start.Add(time.Hour) || !closed(changed) || closed(m.Changed()) {
		t.Error("Advance does not move, or wakes the wrong ones")
	}
	defer func() {
		if recover() == nil || m.Now() != start.Add(time.Hour) {
			t.Error("Advance takes time back")
		}
	}()
	m.Advance(-1)
}

func TestOffset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, err := clock.NewOffset(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		real := clock.System{}
		if o.Now() != real.Now().Add(time.Hour) {
			t.Errorf("%v, want an hour ahead", o.Now())
		}
		changed := o.Changed()
		time.Sleep(time.Minute)
		if o.Now() != real.Now().Add(time.Hour) || closed(changed) {
			t.Error("real time that passes is a jump")
		}
		if err := o.Advance(time.Hour); err != nil || o.Ahead() != 2*time.Hour || !closed(changed) {
			t.Errorf("Advance: %v, ahead %v", err, o.Ahead())
		}

		changed = o.Changed()
		o.Raise(time.Hour)     // late news
		o.Raise(2 * time.Hour) // no news
		if o.Ahead() != 2*time.Hour || closed(changed) {
			t.Errorf("Raise to less moves: ahead %v", o.Ahead())
		}
		o.Raise(3 * time.Hour)
		if o.Ahead() != 3*time.Hour || !closed(changed) {
			t.Errorf("Raise to more: ahead %v", o.Ahead())
		}

		for _, d := range []time.Duration{-1, math.MinInt64, math.MaxInt64} {
			if err := o.Advance(d); !errors.Is(err, clock.ErrBackwards) || o.Ahead() != 3*time.Hour {
				t.Errorf("Advance(%d) = %v, ahead %v", d, err, o.Ahead())
			}
		}
		if _, err := clock.NewOffset(-1); !errors.Is(err, clock.ErrBackwards) {
			t.Errorf("NewOffset(-1): %v", err)
		}
	})
}

func TestWait(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (c clock.Movable, move func(time.Duration)){
		"system": func() (clock.Movable, func(time.Duration)) { return clock.System{}, time.Sleep },
		"manual": func() (clock.Movable, func(time.Duration)) {
			m := clock.NewManual(start)
			return m, m.Advance
		},
		"offset": func() (clock.Movable, func(time.Duration)) {
			o := new(clock.Offset)
			return o, func(d time.Duration) {
				if err := o.Advance(d); err != nil {
					panic(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, move := open()
				done := make(chan error, 1)
				due := c.Now().Add(time.Hour)
				go func() { done <- clock.Wait(t.Context(), c, due) }()
				move(20 * time.Minute)
				move(20 * time.Minute)
				synctest.Wait()
				select {
				case err := <-done:
					t.Fatalf("woke early: %v", err)
				default:
				}
				move(20 * time.Minute)
				if err := <-done; err != nil || c.Now().Before(due) {
					t.Errorf("Wait = %v at %v, due %v", err, c.Now(), due)
				}
			})
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := clock.Wait(ctx, clock.System{}, time.Now().Add(time.Hour))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait = %v", err)
		}
		if err := clock.Wait(ctx, clock.System{}, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait on an ended context = %v", err)
		}
	})
}

// No move is lost between reading the clock and waiting on it.
func TestConcurrentMovesWakeEveryWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := clock.NewManual(start)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if err := clock.Wait(t.Context(), m, start.Add(time.Duration(i)*time.Hour)); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() { m.Advance(time.Hour) })
		}
		wg.Wait()
	})
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// onlyNow is a host's clock: in its own zone, and without Changed.
type onlyNow struct{ clock.Clock }

func (c onlyNow) Now() time.Time { return c.Clock.Now().In(time.FixedZone("elsewhere", 3600)) }

func TestClockOfAHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		manual := clock.NewManual(start)
		c := clock.From(onlyNow{manual})
		if c.Now() != start || clock.Changed(c) != nil {
			t.Errorf("%#v is not %#v in UTC, or reports jumps", c.Now(), start)
		}
		if again := clock.From(c); again != c {
			t.Errorf("From wraps a clock twice: %#v", again)
		}
		if _, ok := clock.From(nil).(clock.System); !ok {
			t.Error("nil is not the system's clock")
		}
		go func() {
			time.Sleep(10 * time.Second)
			manual.Advance(time.Hour)
		}()
		begun := time.Now()
		if err := clock.Wait(t.Context(), c, start.Add(time.Minute)); err != nil || time.Since(begun) > 12*time.Second {
			t.Errorf("a jump that is not reported wakes after %v: %v", time.Since(begun), err)
		}
		if changed := clock.Changed(clock.From(struct{ clock.Movable }{manual})); changed == nil {
			t.Error("a host's clock that reports jumps is not asked")
		}
	})
}
