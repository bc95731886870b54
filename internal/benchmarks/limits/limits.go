package limits

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/benchmarks/report"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const group = "Limits"

// Memory compares the limiter in memory.
func Memory(p bench.Plan, r *report.Report) error {
	sides, stop, err := memorySides()
	if err != nil {
		return err
	}
	defer stop()
	measured, err := p.Compare(5, sides...)
	if err != nil {
		return err
	}
	our, others := measured[0], measured[1:]
	cheapest := others[0]
	row := report.Row{Group: group, Operation: "check of two counters in memory", Ours: our.Wall.String(), Allocs: fmt.Sprintf("%.2f", our.Allocs)}
	for _, other := range others {
		row.Others = append(row.Others, fmt.Sprintf("%s %v", other.Name, other.Wall))
		if other.Wall < cheapest.Wall {
			cheapest = other
		}
	}
	ratio := our.Ratio(cheapest)
	row.Ratios = fmt.Sprintf("%.2f of two calls of %s", ratio, cheapest.Name)
	row.Spread = our.Spread(cheapest)
	row.Bar, row.Missed = "below 1, no allocation", ratio >= 1 || our.Allocs >= 0.01
	r.Add(row)
	return memoryPerKey(p, r)
}

// memoryPerKey compares what a key costs.
func memoryPerKey(p bench.Plan, r *report.Report) error {
	n := int64(p.Count(1_000_000))
	row := report.Row{Group: group, Operation: "memory for a key"}
	our, err := heapOf(func() (any, error) {
		l, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
		if err != nil {
			return nil, err
		}
		now := time.Now()
		for i := range n {
			var req ratelimit.Request
			req.Counters[0] = ratelimit.Counter{Key: ratelimit.NewKey("business", fmt.Sprint(i)), Limit: ratelimit.PerMinute(generous)}
			if got, err := l.Check(context.Background(), now, req); err != nil || !got.Allowed {
				return nil, wanted(got.Allowed, err)
			}
		}
		return l, nil
	})
	if err != nil {
		return err
	}
	row.Ours = fmt.Sprintf("%d bytes", our/n)
	leanest, name := int64(0), ""
	for _, peer := range peers {
		used, err := heapOf(func() (any, error) {
			take, stop, err := peer.make()
			if err != nil {
				return nil, err
			}
			for i := range n / 10 { // fewer: some are bounded by keys
				if err := take(context.Background(), fmt.Sprint("business:", i)); err != nil {
					return nil, err
				}
			}
			return []any{take, stop}, nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", peer.name, err)
		}
		used /= n / 10
		row.Others = append(row.Others, fmt.Sprintf("%s %d bytes", peer.name, used))
		if peer.isBounded && (leanest == 0 || used < leanest) {
			leanest, name = used, peer.name
		}
	}
	row.Ratios = fmt.Sprintf("%.2f of %s", float64(our/n)/float64(leanest), name)
	row.Bar, row.Missed = "below the leanest bounded one", our/n >= leanest
	r.Add(row)
	return nil
}

// heapOf returns how many bytes more are alive with what was made.
func heapOf(do func() (any, error)) (int64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept, err := do()
	if err != nil {
		return 0, err
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), nil
}

// Redis compares the limiter on Redis.
func Redis(p bench.Plan, r *report.Report, url string) error {
	sides, stop, err := redisSides(url)
	if err != nil {
		return err
	}
	defer stop()
	measured, err := p.Compare(15, sides...)
	if err != nil {
		return err
	}
	floor, our, others := measured[0], measured[1], measured[2:]
	row := report.Row{
		Group: group, Operation: "check of two counters on Redis, 64 goroutines", Ours: perSecond(our), Floor: "INCR " + perSecond(floor),
		Allocs: fmt.Sprintf("%.0f", our.Allocs),
	}
	fastest := others[0]
	for _, other := range others {
		row.Others = append(row.Others, other.Name+" "+perSecond(other)+" with one")
		if other.Wall < fastest.Wall {
			fastest = other
		}
	}
	toFloor, toPeer := our.Ratio(floor), our.Ratio(fastest)
	row.Ratios = fmt.Sprintf("%.2f of INCR, %.2f of %s", toFloor, toPeer, fastest.Name)
	row.Spread = our.Spread(floor)
	row.Bar, row.Missed = "at most 2 of INCR, below 1 of the fastest", toFloor > 2 || toPeer >= 1
	r.Add(row)
	return nil
}

func perSecond(m bench.Measured) string { return fmt.Sprintf("%.0f/s", m.PerSecond()) }
