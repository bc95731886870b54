package ratelimit

import (
	"math"
	"time"
)

// WindowCount is how many requests a window has counted.
type WindowCount struct {
	Key    Key
	Length time.Duration
	Ends   time.Time
	Count  int64
}

// WindowQuery asks for windows, in the order of their keys, lengths and ends.
type WindowQuery struct {
	EndsAfter time.Time
	After     WindowCount // the last one of the page before; zero: the first page
	Limit     int
}

// ChangedWindows returns the windows of an hour or longer that have counted requests since the last call and
// have not ended, each with its whole count.
func (m *Memory) ChangedWindows(now time.Time) []WindowCount {
	if !m.counters.hasLong.Swap(false) {
		return nil
	}
	var changed []WindowCount
	ms := now.UnixMilli()
	for i := range m.counters.shards {
		shard := &m.counters.shards[i]
		shard.mu.Lock()
		for _, set := range shard.sets {
			if set == nil {
				continue
			}
			for j := range set {
				e := &set[j]
				if e.window&unsaved == 0 {
					continue
				}
				e.window &^= unsaved
				if e.count > 0 && e.ends > ms {
					changed = append(changed, WindowCount{Key: e.key, Length: time.Duration(e.window) * time.Millisecond, Ends: time.UnixMilli(e.ends), Count: int64(e.count)})
				}
			}
		}
		shard.mu.Unlock()
	}
	return changed
}

// RestoreWindows adds counts of an earlier process to those of this one. Windows that have ended
// are left out.
func (m *Memory) RestoreWindows(now time.Time, windows []WindowCount) {
	for _, w := range windows {
		if w.Ends.After(now) && w.Count > 0 && isSpan(w.Length) {
			m.counters.restore(w, now.UnixMilli())
		}
	}
}

// restore adds a count to a window. It is not marked as changed: the sum is saved with the next
// request.
func (t *counterTable) restore(w WindowCount, ms int64) {
	length, ends := uint32(w.Length.Milliseconds()), w.Ends.UnixMilli() //nolint:gosec // a span fits
	shard, i := t.place(&w.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.set(i)
	for j := range set {
		if e := &set[j]; e.count > 0 && e.key == w.Key && e.window&^unsaved == length && e.ends == ends {
			e.count = uint32(min(int64(e.count)+w.Count, math.MaxUint32)) //nolint:gosec // it is bounded
			return
		}
	}
	*set.victim(ms) = entry{key: w.Key, window: length, ends: ends, count: uint32(min(w.Count, math.MaxUint32))} //nolint:gosec // it is bounded
}
