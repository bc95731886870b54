package clock

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBackwards means that a move would set the clock back, or overflow a duration.
var ErrBackwards = errors.New("clock: time only moves forward")

// Offset is real time plus an offset that can grow, for development: time travel on
// a running server. Keeping the offset over a restart is the caller's part. The zero
// value has no offset. It is safe for concurrent use and must not be copied.
type Offset struct {
	mu     sync.Mutex
	offset time.Duration
	moved  jump
}

// NewOffset makes a clock that is ahead by d, as an earlier run left it.
func NewOffset(d time.Duration) (*Offset, error) {
	o := &Offset{}
	if err := o.Advance(d); err != nil {
		return nil, err
	}
	return o, nil
}

// Now returns the real time plus the offset.
func (o *Offset) Now() time.Time { return System{}.Now().Add(o.Ahead()) }

// Ahead returns the offset.
func (o *Offset) Ahead() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.offset
}

// Advance adds d to the offset and wakes all waiting goroutines. It returns
// [ErrBackwards] if d is negative or the sum overflows.
func (o *Offset) Advance(d time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d < 0 || o.offset+d < o.offset {
		return fmt.Errorf("%w: %v", ErrBackwards, d)
	}
	o.raise(o.offset + d)
	return nil
}

// Raise sets the offset to d if that is further ahead, and does nothing otherwise:
// for an offset that another node announced, once or twice, in any order.
func (o *Offset) Raise(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.raise(d)
}

// Changed gives a channel that is closed when the offset next grows.
func (o *Offset) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.moved.next()
}

func (o *Offset) raise(d time.Duration) {
	if d > o.offset {
		o.offset = d
		o.moved.announce()
	}
}
