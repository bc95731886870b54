package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

// callCases are the store of analytics. AN-02.
var callCases = []testCase[partnerkit.Store]{
	{"Calls come back as they were added, oldest first", func(t *testing.T, e partnerkit.Store) {
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
	{"Calls of a period: its first hour and not its last", func(t *testing.T, e partnerkit.Store) {
		must(t, e.AddCalls(t.Context(), batch("w", 1,
			bucket("app_1", noon.Add(-time.Hour)), bucket("app_1", noon), bucket("app_1", noon.Add(time.Hour)))))
		got := get[[]callstore.Bucket](t)(e.Calls(t.Context(), "app_1", noon, noon.Add(time.Hour)))
		if diff := cmp.Diff([]callstore.Bucket{bucket("app_1", noon)}, got); diff != "" {
			t.Error(diff)
		}
	}},
	{"Calls add up: every column, over batches and within one", func(t *testing.T, e partnerkit.Store) {
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
	{"A batch of calls that comes again changes nothing", func(t *testing.T, e partnerkit.Store) {
		for range 2 {
			must(t, e.AddCalls(t.Context(), batch("w", 1, bucket("app_1", noon))))
		}
		must(t, e.AddCalls(t.Context(), batch("w", 2, bucket("app_1", noon))))
		must(t, e.AddCalls(t.Context(), batch("w", 1, bucket("app_1", noon))))
		wantCalls(t, e, "app_1", times(2, bucket("app_1", noon)))
	}},
	{"Race of one batch of calls with itself", func(t *testing.T, e partnerkit.Store) {
		for n := range int64(10) {
			testdb.Race(8, func(int) {
				if err := e.AddCalls(t.Context(), batch("w", n+1, bucket("app_1", noon), bucket("app_2", noon))); err != nil {
					t.Error(err)
				}
			})
			wantCalls(t, e, "app_1", times(n+1, bucket("app_1", noon)))
		}
	}},
	// Two writers with the same buckets in opposite orders wait for each other
	// in no circle.
	{"Race of writers of calls", func(t *testing.T, e partnerkit.Store) {
		var there []callstore.Bucket
		for i := range 20 {
			there = append(there, bucket(fmt.Sprintf("app_%02d", i), noon))
		}
		back := slices.Clone(there)
		slices.Reverse(back)
		const writers, batches = 8, 5
		testdb.Race(writers, func(w int) {
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
	{"CON-10 The request log comes back newest first, filtered, trimmed and purged", func(t *testing.T, e partnerkit.Store) {
		var want []callstore.Request
		for i := range 5 {
			at := noon.Add(time.Duration(i) * time.Second)
			want = append(want, callstore.Request{
				ID: id.New(id.Request, at), AppID: "app_1", BusinessID: fmt.Sprint("biz_", i%2), Method: "GET", Route: []string{"GET /invoices/{id}", "GET /invoices"}[i%2], Status: 200 + 100*i, Bytes: int64(i) << 33,
				Code: "CODE", RequestID: fmt.Sprint("req_", i), Error: "{}", At: at, Took: time.Duration(i) * time.Microsecond,
			})
		}
		other := callstore.Request{ID: id.New(id.Request, noon), AppID: "app_2", At: noon}
		both := callstore.Batch{Writer: "w", Number: 1, At: noon, Requests: append(slices.Clone(want), other)}
		for range 2 { // a batch that is sent again adds nothing
			must(t, e.AddCalls(t.Context(), both))
		}
		slices.Reverse(want)
		list := func(q callstore.RequestQuery) []callstore.Request {
			q.AppID, q.Limit = "app_1", 10
			return get[[]callstore.Request](t)(e.Requests(t.Context(), q))
		}
		for name, test := range map[string]struct {
			q    callstore.RequestQuery
			want []callstore.Request
		}{
			"all": {callstore.RequestQuery{}, want}, "page": {callstore.RequestQuery{Before: want[1].ID}, want[2:]}, "one": {callstore.RequestQuery{ID: want[2].ID}, want[2:3]}, "of another app": {callstore.RequestQuery{ID: other.ID}, nil},
			"since": {callstore.RequestQuery{Since: want[1].At}, want[:2]}, "until": {callstore.RequestQuery{Until: want[1].At}, want[2:]},
			"since and until": {callstore.RequestQuery{Since: want[3].At, Until: want[1].At}, want[2:4]}, "an empty time": {callstore.RequestQuery{Since: want[1].At, Until: want[1].At}, nil},
			"request id": {callstore.RequestQuery{RequestID: "req_3"}, want[1:2]}, "part of a request id": {callstore.RequestQuery{RequestID: "req_"}, nil},
			"path": {callstore.RequestQuery{Path: "/invoices"}, want}, "part of a path": {callstore.RequestQuery{Path: "voices/{i"}, []callstore.Request{want[0], want[2], want[4]}},
			"another case": {callstore.RequestQuery{Path: "/Invoices"}, nil}, "a method": {callstore.RequestQuery{Path: "GET"}, nil}, "wildcards": {callstore.RequestQuery{Path: "/in%_"}, nil},
			"a quote": {callstore.RequestQuery{Path: "'"}, nil}, "part of a route": {callstore.RequestQuery{Route: "GET /invoices/"}, nil},
			"status": {callstore.RequestQuery{MinStatus: 400, MaxStatus: 599}, want[1:3]}, "route": {callstore.RequestQuery{Route: "GET /other"}, nil},
			"business": {callstore.RequestQuery{BusinessID: "biz_1"}, []callstore.Request{want[1], want[3]}},
		} {
			if diff := cmp.Diff(test.want, list(test.q)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		if n := get[int](t)(e.TrimRequests(t.Context(), "app_1", 3, 1)); n != 1 {
			t.Errorf("trimmed %d", n)
		}
		get[int](t)(e.TrimRequests(t.Context(), "app_1", 3, 10))
		if diff := cmp.Diff(want[:3], list(callstore.RequestQuery{})); diff != "" {
			t.Errorf("trimmed (-want +got)\n%s", diff)
		}
		if n := get[int](t)(purge(e, storage.PurgeRequests)(t.Context(), want[1].At, 10)); n != 2 { // one of each app
			t.Errorf("purged %d", n)
		}
		if diff := cmp.Diff(want[:2], list(callstore.RequestQuery{})); diff != "" {
			t.Errorf("purged (-want +got)\n%s", diff)
		}
	}},
	{"AN-02 Groups of calls add up over days, most calls first", func(t *testing.T, e partnerkit.Store) {
		group := func(day time.Time, by callstore.GroupBy, key string, calls int64) callstore.Group {
			return callstore.Group{AppID: "app_1", Day: day, By: by, Key: key, Counts: callstore.Counts{Calls: calls, Errors: 1}}
		}
		today := noon.Truncate(24 * time.Hour)
		before := today.AddDate(0, 0, -1)
		must(t, e.AddCalls(t.Context(), callstore.Batch{Writer: "w", Number: 1, At: noon, Groups: []callstore.Group{
			group(today, callstore.ByRoute, "a", 2), group(today, callstore.ByRoute, "a", 1), group(before, callstore.ByRoute, "a", 4), group(today, callstore.ByRoute, "b", 5), group(today, callstore.ByStatus, "200", 8),
		}}))
		read := func(from time.Time) (got []string) {
			for _, g := range get[[]callstore.Group](t)(e.CallGroups(t.Context(), callstore.GroupQuery{AppID: "app_1", By: callstore.ByRoute, From: from, To: today.AddDate(0, 0, 1), Limit: 10})) {
				got = append(got, fmt.Sprint(g.Key, " ", g.Calls, " ", g.Errors))
			}
			return got
		}
		if diff := cmp.Diff([]string{"a 7 3", "b 5 1"}, read(before)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"b 5 1", "a 3 2"}, read(today)); diff != "" {
			t.Error(diff)
		}
		if n := get[int](t)(purge(e, storage.PurgeCallGroups)(t.Context(), today, 10)); n != 1 {
			t.Errorf("purged %d", n)
		}
	}},
	{"AN-03 Usage adds up by business and day, and is purged apart from other groups", func(t *testing.T, e partnerkit.Store) {
		today := noon.Truncate(24 * time.Hour)
		before := today.AddDate(0, 0, -1)
		group := func(day time.Time, by callstore.GroupBy, key string, bytes int64) callstore.Group {
			return callstore.Group{AppID: "app_1", Day: day, By: by, Key: key, Counts: callstore.Counts{Calls: 2, Errors: 1}, Bytes: bytes}
		}
		other := group(today, callstore.ByBusiness, "biz_a", 5)
		other.AppID = "app_2"
		added := callstore.Batch{Writer: "w", Number: 1, At: noon, Groups: []callstore.Group{
			group(today, callstore.ByBusiness, "biz_b", 1<<40), group(today, callstore.ByBusiness, "biz_a", 7), group(before, callstore.ByBusiness, "biz_b", 0), other,
			group(today, callstore.ByRoute, "biz_a", 9), group(before, callstore.ByRoute, "biz_a", 9), group(today, callstore.ByBusiness, "biz_b", 3),
		}}
		for range 2 { // a batch that is sent again adds nothing
			must(t, e.AddCalls(t.Context(), added))
		}
		want := []callstore.Usage{
			{Day: before, BusinessID: "biz_b", Calls: 2, Errors: 1},
			{Day: today, BusinessID: "biz_a", Calls: 2, Errors: 1, Bytes: 7},
			{Day: today, BusinessID: "biz_b", Calls: 4, Errors: 2, Bytes: 1<<40 + 3},
		}
		read := func(q callstore.UsageQuery) []callstore.Usage {
			q.AppID = "app_1"
			return get[[]callstore.Usage](t)(e.Usage(t.Context(), q))
		}
		for name, test := range map[string]struct {
			q    callstore.UsageQuery
			want []callstore.Usage
		}{
			"both days": {callstore.UsageQuery{From: before, To: today, Limit: 10}, want}, "the first": {callstore.UsageQuery{From: before, To: before, Limit: 10}, want[:1]},
			"the last": {callstore.UsageQuery{From: today, To: today, Limit: 10}, want[1:]}, "none": {callstore.UsageQuery{From: today.AddDate(0, 0, 1), To: today.AddDate(0, 0, 1), Limit: 10}, nil},
			"a page": {callstore.UsageQuery{From: before, To: today, Limit: 2}, want[:2]}, "the page after": {callstore.UsageQuery{From: before, To: today, After: want[1].Cursor(), Limit: 2}, want[2:]},
			"after an earlier day": {callstore.UsageQuery{From: today, To: today, After: want[0].Cursor(), Limit: 10}, want[1:]},
		} {
			if diff := cmp.Diff(test.want, read(test.q)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		all := callstore.UsageQuery{From: before, To: today, Limit: 10}
		if n := get[int](t)(purge(e, storage.PurgeCallGroups)(t.Context(), today, 10)); n != 1 || len(read(all)) != 3 {
			t.Errorf("purged %d other groups and left %v", n, read(all))
		}
		if n := get[int](t)(purge(e, storage.PurgeUsage)(t.Context(), today, 10)); n != 1 {
			t.Errorf("purged %d", n)
		}
		if diff := cmp.Diff(want[1:], read(all)); diff != "" {
			t.Errorf("purged (-want +got)\n%s", diff)
		}
	}},
	{"The last use of an installation is the latest one", func(t *testing.T, e partnerkit.Store) {
		for i, uses := range []map[string]time.Time{
			{"inst_1": noon, "inst_2": noon},
			{"inst_1": noon.Add(time.Hour), "inst_2": noon.Add(-time.Hour)},
			nil,
		} {
			must(t, e.AddCalls(t.Context(), used(int64(i+1), uses)))
		}
		must(t, e.AddCalls(t.Context(), used(3, map[string]time.Time{"inst_3": noon}))) // came before
		got := get[map[string]time.Time](t)(e.LastUses(t.Context(), []string{"inst_1", "inst_2", "inst_3"}))
		if diff := cmp.Diff(map[string]time.Time{"inst_1": noon.Add(time.Hour), "inst_2": noon}, got); diff != "" {
			t.Error(diff)
		}
	}},
	{"Old calls are purged, a few at a time", func(t *testing.T, e partnerkit.Store) {
		var old []callstore.Bucket
		for i := range 5 {
			old = append(old, bucket(fmt.Sprint("app_", i), noon.Add(-time.Hour)))
		}
		first, second := batch("w", 1, old...), batch("v", 1, bucket("app_0", noon))
		first.At = noon.Add(-time.Hour)
		must(t, e.AddCalls(t.Context(), first))
		must(t, e.AddCalls(t.Context(), second))
		for _, want := range []int{2 + 1, 2, 1, 0} { // and the writer that is gone
			if n := get[int](t)(purge(e, storage.PurgeCalls)(t.Context(), noon, 2)); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
		wantCalls(t, e, "app_0", bucket("app_0", noon))
		wantCalls(t, e, "app_1")
		must(t, e.AddCalls(t.Context(), second)) // its writer is still known
		wantCalls(t, e, "app_0", bucket("app_0", noon))
	}},
	{"Counters of two nodes add up", func(t *testing.T, e partnerkit.Store) {
		nodes := []*analytics.Counter{newCounter(t, e), newCounter(t, e)}
		const callers, calls = 4, 200
		testdb.Race(len(nodes)*callers, func(i int) {
			node := nodes[i%len(nodes)]
			for n := range calls {
				node.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: time.Millisecond})
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
}

func newCounter(t *testing.T, e partnerkit.Store) *analytics.Counter {
	t.Helper()
	return get[*analytics.Counter](t)(analytics.New(analytics.Config{Store: e, Clock: clock.NewManual(noon)}))
}

func batch(writer string, number int64, buckets ...callstore.Bucket) callstore.Batch {
	return callstore.Batch{Writer: writer, Number: number, At: noon, Buckets: buckets}
}

// used returns a batch of uses alone.
func used(number int64, uses map[string]time.Time) callstore.Batch {
	return callstore.Batch{Writer: "w", Number: number, At: noon, Uses: uses}
}

// bucket returns one quick call.
func bucket(appID string, hour time.Time) callstore.Bucket {
	return callstore.Bucket{AppID: appID, Hour: hour, Counts: callstore.Counts{Calls: 1}, Latency: callstore.Latency{1}}
}

// times returns a bucket that was added n times.
func times(n int64, b callstore.Bucket) callstore.Bucket {
	b.Calls, b.Errors, b.RateLimited = n*b.Calls, n*b.Errors, n*b.RateLimited
	for i := range b.Latency {
		b.Latency[i] *= n
	}
	return b
}

func wantCalls(t *testing.T, e partnerkit.Store, appID string, want ...callstore.Bucket) {
	t.Helper()
	got := get[[]callstore.Bucket](t)(e.Calls(t.Context(), appID, noon.AddDate(-1, 0, 0), noon.AddDate(1, 0, 0)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of %s (-want +got):\n%s", appID, diff)
	}
}
