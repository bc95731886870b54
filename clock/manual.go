package clock

import (
	"fmt"
	"sync"
	"time"
)

// Manual is a clock for tests: it stands still until it is advanced. Make it with
// [NewManual]. It is safe for concurrent use.
type Manual struct {
	mu    sync.Mutex
	now   time.Time
	moved jump
}

// NewManual makes a clock that shows t.
func NewManual(t time.Time) *Manual { return &Manual{now: t.UTC().Round(0)} }

// Now returns the time that the clock was last set to.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward and wakes all waiting goroutines. It panics if the
// duration is negative.
func (m *Manual) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("clock: Advance(%v): time only moves forward", d))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
	m.moved.announce()
}

// Changed gives a channel that is closed at the next Advance.
func (m *Manual) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moved.next()
}

// A jump announces moves to all holders of its channel. The owner's lock guards it.
type jump struct{ ch chan struct{} }

func (j *jump) next() <-chan struct{} {
	if j.ch == nil {
		j.ch = make(chan struct{})
	}
	return j.ch
}

func (j *jump) announce() {
	if j.ch != nil {
		close(j.ch)
		j.ch = nil
	}
}
