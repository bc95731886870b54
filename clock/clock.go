// Package clock provides the platform's time. Lifetimes, windows, due times and
// retention all follow one [Clock], so that a test, or a developer on the reference
// server, can move time forward and see what happens.
//
//   - [System] is the real time, for production.
//   - [Manual] stands still until a test moves it.
//   - [Offset] runs, ahead of the real time by an amount that can grow.
//
// A host's own clock needs only Now. If it also has Changed ([Movable]), loops that wait
// for a due time wake as soon as it jumps; otherwise they read it again every second
// ([Wait]). Timeouts of connections and leases use real time, not these clocks.
package clock

import (
	"context"
	"time"
)

// Clock tells the time. It must be safe for concurrent use. Wherever a Config takes a
// Clock, nil means [System].
type Clock interface {
	Now() time.Time
}

// Movable is a clock that may jump. Every clock of this package is one.
type Movable interface {
	Clock

	// Changed gives a channel that is closed at the next jump; nil, on which a
	// receive blocks for ever, when there will be none. Get it before reading
	// Now: a jump in between then closes the channel already in hand.
	Changed() <-chan struct{}
}

// System is the real time. The zero value is ready for use.
type System struct{}

// Now returns the time of this machine.
func (System) Now() time.Time { return time.Now().UTC().Round(0) }

// Changed returns nil: real time does not jump.
func (System) Changed() <-chan struct{} { return nil }

// From returns a clock that tells the time of c in UTC and without a monotonic reading,
// so that a time can be compared with one that comes back from a database. A nil c means
// [System].
func From(c Clock) Clock {
	switch c.(type) {
	case nil:
		return System{}
	case System, *Manual, *Offset, utc:
		return c
	}
	return utc{c}
}

// utc is a host's clock.
type utc struct{ Clock }

func (c utc) Now() time.Time { return c.Clock.Now().UTC().Round(0) }

func (c utc) Changed() <-chan struct{} { return Changed(c.Clock) }

// Changed returns a channel that is closed at the next jump of c, or nil, on which a
// receive blocks forever, if c does not report jumps.
func Changed(c Clock) <-chan struct{} {
	if movable, ok := c.(Movable); ok {
		return movable.Changed()
	}
	return nil
}

// readEvery is how often Wait reads a clock that may jump without reporting it.
const readEvery = time.Second

// Wait blocks until the clock shows t or later, and then returns nil; or until ctx
// ends, and returns its error. It wakes when real time passes and when the clock
// reports a jump. A clock that does not report jumps is read every second.
func Wait(ctx context.Context, c Clock, t time.Time) error {
	for {
		changed := Changed(c)
		left := t.Sub(c.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if _, isReal := c.(System); !isReal && changed == nil {
			left = min(left, readEvery)
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
