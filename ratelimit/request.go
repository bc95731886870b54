package ratelimit

import (
	"fmt"
	"math"
	"time"
)

const (
	// MaxCounters is how many counters one request can have.
	MaxCounters = 8
	// MaxLockouts is how many lockouts one request can have.
	MaxLockouts = 4
	// maxWindow is the longest Window, Within and For.
	maxWindow = 24 * time.Hour
)

// Request is all that is asked about one request. It is a plain value of fixed
// size, so that a check through the Limiter interface allocates nothing. The
// zero Request counts nothing and is allowed.
type Request struct {
	Counters Counters
	Lockouts Lockouts
}

// Counters are the counters of one request. Places left zero are not used.
type Counters [MaxCounters]Counter

// Lockouts are the lockouts of one request. Places left zero are not used. No two have
// the same key.
type Lockouts [MaxLockouts]Lockout

// Counter is a limit and the key it is counted under. The length of the window
// is part of the counter's identity: one key with two lengths is two counters.
type Counter struct {
	Key   Key
	Limit Limit
}

// Limit allows Count requests in each Window.
type Limit struct {
	Count  int           // at least 1
	Window time.Duration // whole milliseconds, at most 24 hours
}

// Lockout is a rule about failures and the key they are counted under. Check
// uses the key only; Fail uses both.
type Lockout struct {
	Key  Key
	Rule LockoutRule
}

// LockoutRule locks a key out, For so long, after more than MoreThan failures Within a time,
// wherever that time begins: a failure locks the key out if it and the MoreThan failures
// before it happened in less than Within.
type LockoutRule struct {
	MoreThan int           // at least 1
	Within   time.Duration // whole milliseconds, at most 24 hours
	For      time.Duration // whole milliseconds, at most 24 hours
}

// IsUsed reports whether this place in a Request asks for anything.
func (c Counter) IsUsed() bool { return c.isUsed() }

// isUsed looks first at what every used counter has.
func (c *Counter) isUsed() bool { return c.Limit.Count != 0 || *c != Counter{} }

// IsUsed reports whether this place in a Request asks for anything.
func (l Lockout) IsUsed() bool { return l.isUsed() }

func (l *Lockout) isUsed() bool { return l.Rule.MoreThan != 0 || *l != Lockout{} }

// Validate returns an error that wraps ErrInvalid when a used counter or
// lockout is out of the bounds that its fields document.
func (r Request) Validate() error { return r.validate() }

func (r *Request) validate() error {
	for i := range r.Counters {
		c := &r.Counters[i]
		if !c.isUsed() {
			continue
		}
		if err := c.Limit.validate(); err != nil {
			return fmt.Errorf("counter %d: %w", i, err)
		}
	}
	return r.Lockouts.validate()
}

// Validate returns an error that wraps ErrInvalid when a used lockout is out of
// the bounds that its fields document.
func (l Lockouts) Validate() error { return l.validate() }

func (l *Lockouts) validate() error {
	for i := range l {
		if !l[i].isUsed() {
			continue
		}
		if err := l[i].Rule.validate(); err != nil {
			return fmt.Errorf("lockout %d: %w", i, err)
		}
	}
	return nil
}

func (l *Limit) validate() error {
	if inBounds(l.Count) && isSpan(l.Window) {
		return nil
	}
	return fmt.Errorf("%w: %d in %v; the count must be at least 1, and the window whole milliseconds and at most %v", ErrInvalid, l.Count, l.Window, maxWindow)
}

func (r *LockoutRule) validate() error {
	if inBounds(r.MoreThan) && isSpan(r.Within) && isSpan(r.For) {
		return nil
	}
	return fmt.Errorf("%w: more than %d within %v for %v; the number must be at least 1, and the times whole milliseconds and at most %v",
		ErrInvalid, r.MoreThan, r.Within, r.For, maxWindow)
}

func inBounds(count int) bool {
	return count >= 1 && count <= math.MaxInt32
}

func isSpan(d time.Duration) bool {
	return d > 0 && d <= maxWindow && d%time.Millisecond == 0
}
