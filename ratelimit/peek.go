package ratelimit

import (
	"context"
	"fmt"
	"time"
)

// Peeker is a Limiter whose counters can be read without counting a request. Both
// limiters of this module are Peekers.
type Peeker interface {
	// Peek returns the states of the counters, in their order. It counts nothing. Errors
	// are those of Limiter.Check.
	Peek(ctx context.Context, now time.Time, counters []Counter) ([]Quota, error)
}

// Peek implements Peeker. Its errors wrap ErrInvalid; the context is not used.
func (m *Memory) Peek(_ context.Context, now time.Time, counters []Counter) ([]Quota, error) {
	return Peek(now, counters, func() ([]int64, error) {
		counts := make([]int64, len(counters))
		for i := range counters {
			counts[i] = m.counters.read(&counters[i], now.UnixMilli())
		}
		return counts, nil
	})
}

// Peek turns counts into the states of the counters, for implementations of Peeker. The
// function read returns how many requests each counter has in its current window; it is
// called once every counter is known to be valid.
func Peek(now time.Time, counters []Counter, read func() ([]int64, error)) ([]Quota, error) {
	for i := range counters {
		if err := counters[i].Limit.validate(); err != nil {
			return nil, fmt.Errorf("counter %d: %w", i, err)
		}
	}
	counts, err := read()
	if err != nil {
		return nil, err
	}
	ms := now.UnixMilli()
	quotas := make([]Quota, len(counters))
	for i := range counters {
		_, ends := counters[i].window(ms)
		quotas[i] = counters[i].quota(counts[i], ends-ms)
	}
	return quotas, nil
}

// quota returns the state of a counter whose window ends in so many milliseconds.
func (c *Counter) quota(count, left int64) Quota {
	return Quota{
		Allowed:   count <= int64(c.Limit.Count),
		Limit:     c.Limit.Count,
		Remaining: int(max(0, int64(c.Limit.Count)-count)),
		Reset:     time.Duration(left) * time.Millisecond,
	}
}
