// Package clock is where the platform gets the time from: lifetimes, windows, due
// times and retention are all judged by one [Clock], so that a test, or a developer
// on the reference server, can move time forward and see what happens.
//
//   - [System] is the real time, for production.
//   - [Manual] stands still until a test moves it.
//   - [Offset] runs, ahead of the real time by an amount that can grow.
//
// A loop that waits for a due time takes a [Movable] and wakes when the clock moves
// ([Wait]). Timeouts of connections and leases are no business of these clocks:
// they run on real time.
package clock

import (
	"context"
	"time"
)

// Clock tells the time, in UTC and without a monotonic reading, so that a time can
// be compared with one that comes back from a database. It is safe for concurrent use.
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

// Now is the time of this machine.
func (System) Now() time.Time { return time.Now().UTC().Round(0) }

// Changed is nil: real time does not jump.
func (System) Changed() <-chan struct{} { return nil }

// Wait blocks until the clock shows t or later, and then returns nil; or until ctx
// ends, and returns its error. It is woken by real time passing and by the clock
// moving. A loop that waits for other things too selects as Wait does.
func Wait(ctx context.Context, c Movable, t time.Time) error {
	for {
		changed := c.Changed()
		left := t.Sub(c.Now())
		if left <= 0 {
			return ctx.Err()
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
