package ratelimit

import (
	"context"
	"fmt"
	"time"
)

const (
	defaultMaxBytes = 64 << 20
	minMaxBytes     = 1 << 20
)

// MemoryConfig configures a Memory. The zero value is ready for use.
type MemoryConfig struct {
	// MaxBytes caps the memory that the limiter ever holds. Zero means 64 MiB,
	// which is room for 1.4 million counters and 58,000 lockouts; less than
	// 1 MiB is refused. Memory is taken as keys arrive and then kept.
	MaxBytes int64
}

// Memory is a Limiter for one process. It allocates nothing on a check once it
// has seen enough keys.
//
// Its memory is bounded, so a flood of keys can make it forget. It forgets
// first what is over, then the counter with the smallest count among those that
// compete for a place: the busiest are remembered. A live lockout is never
// forgotten. A key that failed, but not yet too often, is treated like a
// counter; a lockout takes the place where its failures were counted and
// needs no further room. The times of its failures are exact for rules of fewer
// than 128 failures as long as there is room; without it failures that are close to each
// other are counted at the time of the later one. Should all places that a key can take be held by live
// lockouts, its failures go uncounted and only the counters limit it, so that no
// client is locked out for the failures of others.
type Memory struct {
	counters *counterTable
	lockouts *failureTable
}

var (
	_ Limiter = (*Memory)(nil)
	_ Peeker  = (*Memory)(nil)
)

// NewMemory returns a limiter that remembers nothing yet. It fails only when
// the configuration is out of bounds.
func NewMemory(config MemoryConfig) (*Memory, error) {
	size := config.MaxBytes
	if size == 0 {
		size = defaultMaxBytes
	}
	if size < minMaxBytes {
		return nil, fmt.Errorf("memory limiter: MaxBytes %d is less than %d", size, minMaxBytes)
	}
	size -= size / 16 // what the allocator rounds up
	return &Memory{counters: newCounterTable(size / 4 * 3), lockouts: newFailureTable(size / 4)}, nil
}

// Check implements Limiter. Its errors wrap ErrInvalid; the context is not used.
func (m *Memory) Check(_ context.Context, now time.Time, req Request) (Result, error) {
	if err := req.validate(); err != nil {
		return Result{}, err
	}
	ms := now.UnixMilli()
	var tally Tally
	var ends [MaxCounters]int64
	for i := range req.Lockouts {
		if l := &req.Lockouts[i]; l.isUsed() {
			tally.LockedUntil[i] = m.lockouts.lockedUntil(&l.Key)
		}
	}
	for i := range req.Counters {
		if c := &req.Counters[i]; c.isUsed() {
			tally.Counts[i], ends[i] = m.counters.count(c, ms)
		}
	}
	return decide(ms, &req, &tally, &ends), nil
}

// Fail implements Limiter. Its errors wrap ErrInvalid; the context is not used.
func (m *Memory) Fail(ctx context.Context, now time.Time, failed Lockouts) (Result, error) {
	res, err := m.Check(ctx, now, Request{Lockouts: failed})
	if err != nil || !res.Allowed {
		return res, err
	}
	ms := now.UnixMilli()
	var tally Tally
	for i := range failed {
		if !failed[i].isUsed() {
			continue
		}
		until, began := m.lockouts.fail(&failed[i], ms)
		if until > 0 {
			m.forgive(failed[:i], ms) // it was locked out since the check
			tally.LockedUntil[i] = until
			break
		}
		tally.BeganLockout = tally.BeganLockout || began
	}
	return decide(ms, &Request{Lockouts: failed}, &tally, &[MaxCounters]int64{}), nil
}

// Forgive implements Limiter. Its errors wrap ErrInvalid; the context is not used.
func (m *Memory) Forgive(_ context.Context, now time.Time, failed Lockouts) error {
	if err := failed.validate(); err != nil {
		return err
	}
	m.forgive(failed[:], now.UnixMilli())
	return nil
}

func (m *Memory) forgive(failed []Lockout, ms int64) {
	for i := range failed {
		if l := &failed[i]; l.isUsed() {
			m.lockouts.forgive(l, ms)
		}
	}
}
