package analytics_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// AN-01: a call, an error from 400 up, and a refused one all three.
func TestAN01Counts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status      int
		rateLimited bool
		want        callstore.Counts
	}{
		{http.StatusOK, false, callstore.Counts{Calls: 1}},
		{http.StatusCreated, false, callstore.Counts{Calls: 1}},
		{http.StatusNotModified, false, callstore.Counts{Calls: 1}},
		{399, false, callstore.Counts{Calls: 1}},
		{http.StatusBadRequest, false, callstore.Counts{Calls: 1, Errors: 1}},
		{http.StatusForbidden, false, callstore.Counts{Calls: 1, Errors: 1}},
		{http.StatusInternalServerError, false, callstore.Counts{Calls: 1, Errors: 1}},
		{http.StatusTooManyRequests, false, callstore.Counts{Calls: 1, Errors: 1}}, // the handler's own
		{http.StatusTooManyRequests, true, callstore.Counts{Calls: 1, Errors: 1, RateLimited: 1}},
	} {
		t.Run(fmt.Sprint(test.status, test.rateLimited), func(t *testing.T) {
			t.Parallel()
			r := newHarness(t, analytics.Config{})
			r.Count(analytics.Call{AppID: "app_1", At: noon, Status: test.status, RateLimited: test.rateLimited})
			report, err := r.Report(t.Context(), "app_1", 1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, report.Totals.Counts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AN-01: each app has its own counts, and calls of no app have none.
func TestAN01CountsForItsApp(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.call("app_1")
	r.call("app_1")
	r.call("app_2")
	r.call("")
	r.flush(t)
	if one, two, none := r.storedCalls(t, "app_1"), r.storedCalls(t, "app_2"), r.storedCalls(t, ""); one != 2 || two != 1 || none != 0 {
		t.Errorf("%d, %d, %d calls", one, two, none)
	}
}

// AN-02: the bucket is the UTC hour in which the call arrived, in any time zone.
func TestAN02KeptPerHour(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	for _, at := range []time.Time{
		noon.Add(-time.Nanosecond),
		noon,
		noon.Add(time.Hour - 1).In(time.FixedZone("half", 5*3600+1800)),
		noon.Add(time.Hour),
		noon.Add(12*time.Hour - 1), // the last of the day
		noon.Add(12 * time.Hour),
	} {
		r.Count(analytics.Call{AppID: "app_1", At: at, Status: 200})
	}
	r.flush(t)
	got := map[string]int64{}
	for _, b := range r.stored(t, "app_1") {
		got[b.Hour.Format(time.DateTime)] = b.Calls
	}
	want := map[string]int64{
		"2026-06-01 11:00:00": 1, "2026-06-01 12:00:00": 2, "2026-06-01 13:00:00": 1,
		"2026-06-01 23:00:00": 1, "2026-06-02 00:00:00": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// AN-02: a latency bound belongs to its own element, a nanosecond more to the next.
func TestAN02Latency(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: -time.Second}) // a clock that was set back
	const ms = time.Millisecond
	want := callstore.Latency{1}
	for i, bound := range []time.Duration{
		5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 250 * ms, 500 * ms, time.Second, 2500 * ms, 5 * time.Second, 10 * time.Second,
	} {
		r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: bound})
		r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: bound + 1})
		want[i]++
		want[i+1]++
	}
	r.flush(t)
	if diff := cmp.Diff(want, r.stored(t, "app_1")[0].Latency); diff != "" {
		t.Error(diff)
	}
}

// AN-02: callers, flushes and readers at once lose nothing and double nothing.
func TestAN02ConcurrentSumsAreExact(t *testing.T) {
	t.Parallel()
	const callers, calls, apps = 8, 3000, 5
	r := newHarness(t, analytics.Config{})
	done := make(chan struct{})
	var readers, counting sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if i == 0 {
					r.flush(t)
				} else if _, err := r.Report(t.Context(), fmt.Sprint("app_", i), 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range callers {
		counting.Go(func() {
			for n := range calls {
				status, refused := 200, n%10 == 0
				if refused {
					status = 429
				}
				r.Count(analytics.Call{AppID: fmt.Sprint("app_", n%apps), At: noon, Status: status, RateLimited: refused, Took: time.Duration(n) * time.Millisecond})
			}
		})
	}
	counting.Wait()
	close(done)
	readers.Wait()
	r.flush(t)

	var sum callstore.Counts
	var latency int64
	for i := range apps {
		for _, b := range r.stored(t, fmt.Sprint("app_", i)) {
			sum.Add(b.Counts)
			for _, n := range b.Latency {
				latency += n
			}
		}
	}
	want := callstore.Counts{Calls: callers * calls, Errors: callers * calls / 10, RateLimited: callers * calls / 10}
	if sum != want || latency != want.Calls {
		t.Errorf("%+v and %d latencies, want %+v", sum, latency, want)
	}
	if n := r.observed(t, "buckets"); n != 0 {
		t.Errorf("%d buckets wait after the last flush", n)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	store := newHarness(t, analytics.Config{}).env
	for name, cfg := range map[string]analytics.Config{
		"no store":            {},
		"negative FlushEvery": {Store: store, FlushEvery: -1},
		"negative MaxBuckets": {Store: store, MaxBuckets: -1},
	} {
		if _, err := analytics.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := analytics.New(analytics.Config{Store: store}); err != nil {
		t.Error(err)
	}
}
