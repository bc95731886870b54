package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/clock"
)

// callCases are the store of analytics. AN-02.
var callCases = []testCase[*Env]{
	{"Calls come back as they were added, oldest first", func(t *testing.T, e *Env) {
		early, late := bucket("app_1", noon), bucket("app_1", noon.Add(time.Hour))
		early.Calls, early.Errors, early.RateLimited = 7, 5, 3
		for i := range late.Latency {
			late.Latency[i] = int64(i + 1)
		}
		must(t, e.AddCalls(t.Context(), batch("w", 1, late, bucket("app_2", noon), early)))
		wantCalls(t, e, "app_1", early, late)
		wantCalls(t, e, "app_2", bucket("app_2", noon))
		wantCalls(t, e, "app_3")
	}},
	{"Calls of a period: its first hour and not its last", func(t *testing.T, e *Env) {
		must(t, e.AddCalls(t.Context(), batch("w", 1,
			bucket("app_1", noon.Add(-time.Hour)), bucket("app_1", noon), bucket("app_1", noon.Add(time.Hour)))))
		got := get[[]analytics.Bucket](t)(e.Calls(t.Context(), "app_1", noon, noon.Add(time.Hour)))
		if diff := cmp.Diff([]analytics.Bucket{bucket("app_1", noon)}, got); diff != "" {
			t.Error(diff)
		}
	}},
	{"Calls add up: every column, over batches and within one", func(t *testing.T, e *Env) {
		one := bucket("app_1", noon)
		one.Errors, one.RateLimited = 2, 3
		for i := range one.Latency {
			one.Latency[i] = int64(i + 4)
		}
		must(t, e.AddCalls(t.Context(), batch("w", 1, one)))
		must(t, e.AddCalls(t.Context(), batch("w", 2, one, one)))
		must(t, e.AddCalls(t.Context(), batch("v", 1, one)))
		wantCalls(t, e, "app_1", times(4, one))
	}},
	{"A batch of calls that comes again changes nothing", func(t *testing.T, e *Env) {
		for range 2 {
			must(t, e.AddCalls(t.Context(), batch("w", 1, bucket("app_1", noon))))
		}
		must(t, e.AddCalls(t.Context(), batch("w", 2, bucket("app_1", noon))))
		must(t, e.AddCalls(t.Context(), batch("w", 1, bucket("app_1", noon))))
		wantCalls(t, e, "app_1", times(2, bucket("app_1", noon)))
	}},
	{"Race of one batch of calls with itself", func(t *testing.T, e *Env) {
		for n := range int64(10) {
			Race(8, func(int) {
				if err := e.AddCalls(t.Context(), batch("w", n+1, bucket("app_1", noon), bucket("app_2", noon))); err != nil {
					t.Error(err)
				}
			})
			wantCalls(t, e, "app_1", times(n+1, bucket("app_1", noon)))
		}
	}},
	// Two writers with the same buckets in opposite orders wait for each other
	// in no circle.
	{"Race of writers of calls", func(t *testing.T, e *Env) {
		var there []analytics.Bucket
		for i := range 20 {
			there = append(there, bucket(fmt.Sprintf("app_%02d", i), noon))
		}
		back := slices.Clone(there)
		slices.Reverse(back)
		const writers, batches = 8, 5
		Race(writers, func(w int) {
			for n := range int64(batches) {
				buckets := there
				if w%2 == 0 {
					buckets = back
				}
				if err := e.AddCalls(t.Context(), batch(fmt.Sprint("w", w), n+1, buckets...)); err != nil {
					t.Error(err)
				}
			}
		})
		for _, b := range there {
			wantCalls(t, e, b.AppID, times(writers*batches, b))
		}
	}},
	{"Calls under faults", func(t *testing.T, e *Env) {
		var number, want int64
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { number++ },
			Act: func(ctx context.Context) error {
				return e.AddCalls(ctx, batch("w", number, bucket("app_1", noon), bucket("app_2", noon)))
			},
			Check: func(t *testing.T, happened bool) {
				if happened {
					want = number
				}
				var one, two []analytics.Bucket
				if want > 0 {
					one, two = []analytics.Bucket{times(want, bucket("app_1", noon))}, []analytics.Bucket{times(want, bucket("app_2", noon))}
				}
				wantCalls(t, e, "app_1", one...)
				wantCalls(t, e, "app_2", two...)
			},
		})
	}},
	{"The last use of an installation is the latest one", func(t *testing.T, e *Env) {
		must(t, e.MarkUsed(t.Context(), map[string]time.Time{"inst_1": noon, "inst_2": noon}))
		must(t, e.MarkUsed(t.Context(), map[string]time.Time{"inst_1": noon.Add(time.Hour), "inst_2": noon.Add(-time.Hour)}))
		must(t, e.MarkUsed(t.Context(), nil))
		got := get[map[string]time.Time](t)(e.LastUses(t.Context(), []string{"inst_1", "inst_2", "inst_3"}))
		if diff := cmp.Diff(map[string]time.Time{"inst_1": noon.Add(time.Hour), "inst_2": noon}, got); diff != "" {
			t.Error(diff)
		}
	}},
	{"Uses under faults", func(t *testing.T, e *Env) {
		now, want := noon, map[string]time.Time{}
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { now = now.Add(time.Second) },
			Act: func(ctx context.Context) error {
				return e.MarkUsed(ctx, map[string]time.Time{"inst_1": now, "inst_2": now})
			},
			Check: func(t *testing.T, happened bool) {
				if happened {
					want = map[string]time.Time{"inst_1": now, "inst_2": now}
				}
				if diff := cmp.Diff(want, get[map[string]time.Time](t)(e.LastUses(t.Context(), []string{"inst_1", "inst_2"}))); diff != "" {
					t.Error(diff)
				}
			},
		})
	}},
	{"Old calls are purged, a few at a time", func(t *testing.T, e *Env) {
		var old []analytics.Bucket
		for i := range 5 {
			old = append(old, bucket(fmt.Sprint("app_", i), noon.Add(-time.Hour)))
		}
		first, second := batch("w", 1, old...), batch("v", 1, bucket("app_0", noon))
		first.At = noon.Add(-time.Hour)
		must(t, e.AddCalls(t.Context(), first))
		must(t, e.AddCalls(t.Context(), second))
		for _, want := range []int{2 + 1, 2, 1, 0} { // and the writer that is gone
			if n := get[int](t)(e.PurgeCalls(t.Context(), noon, 2)); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
		wantCalls(t, e, "app_0", bucket("app_0", noon))
		wantCalls(t, e, "app_1")
		must(t, e.AddCalls(t.Context(), second)) // its writer is still known
		wantCalls(t, e, "app_0", bucket("app_0", noon))
	}},
	{"Counters of two nodes add up", func(t *testing.T, e *Env) {
		nodes := []*analytics.Counter{newCounter(t, e), newCounter(t, e)}
		const callers, calls = 4, 200
		Race(len(nodes)*callers, func(i int) {
			node := nodes[i%len(nodes)]
			for n := range calls {
				node.Count("app_1", noon, 200, false, time.Millisecond)
				if n%50 == i {
					if err := node.Flush(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
		var flushed sync.WaitGroup
		for _, node := range nodes {
			flushed.Go(func() {
				if err := node.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		flushed.Wait()
		for _, node := range nodes {
			report := get[analytics.Report](t)(node.Report(t.Context(), "app_1", 1))
			if want := int64(len(nodes) * callers * calls); report.Totals.Calls != want {
				t.Errorf("%d calls, want %d", report.Totals.Calls, want)
			}
		}
	}},
	// Whatever happens to a flush, the next one makes it good; also when the
	// commit happened and its answer was lost.
	{"A counter under faults counts exactly once", func(t *testing.T, e *Env) {
		counter, want := newCounter(t, e), int64(0)
		for _, fault := range []Fault{FaultError, FaultCancel, FaultLostCommit} {
			for place := 1; place <= 4; place++ {
				for _, app := range []string{"app_1", "app_2"} {
					counter.Count(app, noon, 200, false, 0)
				}
				want++
				ctx, cancel := e.Tap.Cancellable(t.Context())
				e.Tap.Arm(fault, place)
				err := counter.Flush(ctx)
				if struck := e.Tap.Struck(); struck && fault != FaultCancel && err == nil {
					t.Errorf("%s at %d: no error", fault, place)
				}
				cancel()
				e.Tap.Reset()
				must(t, counter.Flush(t.Context()))
				wantCalls(t, e, "app_1", times(want, bucket("app_1", noon)))
				wantCalls(t, e, "app_2", times(want, bucket("app_2", noon)))
			}
		}
	}},
}

func newCounter(t *testing.T, e *Env) *analytics.Counter {
	t.Helper()
	return get[*analytics.Counter](t)(analytics.New(analytics.Config{Store: e, Clock: clock.NewManual(noon)}))
}

func batch(writer string, number int64, buckets ...analytics.Bucket) analytics.Batch {
	return analytics.Batch{Writer: writer, Number: number, At: noon, Buckets: buckets}
}

// bucket is one quick call.
func bucket(appID string, hour time.Time) analytics.Bucket {
	return analytics.Bucket{AppID: appID, Hour: hour, Counts: analytics.Counts{Calls: 1}, Latency: analytics.Latency{1}}
}

// times is a bucket that was added n times.
func times(n int64, b analytics.Bucket) analytics.Bucket {
	b.Calls, b.Errors, b.RateLimited = n*b.Calls, n*b.Errors, n*b.RateLimited
	for i := range b.Latency {
		b.Latency[i] *= n
	}
	return b
}

func wantCalls(t *testing.T, e *Env, appID string, want ...analytics.Bucket) {
	t.Helper()
	got := get[[]analytics.Bucket](t)(e.Calls(t.Context(), appID, noon.AddDate(-1, 0, 0), noon.AddDate(1, 0, 0)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of %s (-want +got):\n%s", appID, diff)
	}
}
