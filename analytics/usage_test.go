package analytics_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// AN-03: usage by business and day, from the first call on and over the end of a process.
func TestUsage_AN03(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	today := noon.Truncate(24 * time.Hour)
	count := func(c *analytics.Counter, at time.Time, business string, status int, bytes int64) {
		c.Count(analytics.Call{AppID: "app_1", BusinessID: business, At: at, Status: status, Bytes: bytes})
	}
	count(r.Counter, today.Add(-1), "biz_1", 200, 10) // yesterday, by a nanosecond
	count(r.Counter, today, "biz_2", 404, 20)
	count(r.Counter, noon, "biz_1", 200, 30)
	r.Count(analytics.Call{AppID: "app_2", BusinessID: "biz_1", At: noon, Status: 200, Bytes: 99})
	r.Count(analytics.Call{AppID: "app_1", BusinessID: "biz_1", At: noon, Status: 401, Bytes: 99, HasDeadToken: true}) // is not counted
	want := []callstore.Usage{
		{Day: today.AddDate(0, 0, -1), BusinessID: "biz_1", Calls: 1, Bytes: 10},
		{Day: today, BusinessID: "biz_1", Calls: 1, Bytes: 30},
		{Day: today, BusinessID: "biz_2", Calls: 1, Errors: 1, Bytes: 20},
	}
	read := func(c *analytics.Counter, from, to time.Time) (all []callstore.Usage) {
		t.Helper()
		if err := c.EachUsage(t.Context(), "app_1", from, to, func(u callstore.Usage) error { all = append(all, u); return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if diff := cmp.Diff(want, read(r.Counter, noon.AddDate(0, 0, -1), noon)); diff != "" {
		t.Errorf("AN-03 (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], read(r.Counter, noon, noon)); diff != "" {
		t.Errorf("AN-03 today (-want +got)\n%s", diff)
	}
	next, err := analytics.New(analytics.Config{Store: r.env, Clock: r.clock}) // the next process, or another node
	if err != nil {
		t.Fatal(err)
	}
	count(next, noon, "biz_2", 500, 1<<40)
	want[2].Calls, want[2].Errors, want[2].Bytes = 2, 2, 1<<40+20
	if diff := cmp.Diff(want, read(next, noon.AddDate(0, 0, -1), noon)); diff != "" {
		t.Errorf("AN-03 two counters (-want +got)\n%s", diff)
	}
	page, err := next.Usage(t.Context(), callstore.UsageQuery{AppID: "app_1", From: noon.AddDate(0, 0, -399), To: noon, After: want[0].Cursor(), Limit: 1})
	if diff := cmp.Diff(want[1:2], page); err != nil || diff != "" {
		t.Errorf("AN-03 a page: %v (-want +got)\n%s", err, diff)
	}
	for name, q := range map[string]callstore.UsageQuery{
		"backwards": {AppID: "app_1", From: noon, To: noon.AddDate(0, 0, -1), Limit: 1}, "401 days": {AppID: "app_1", From: noon.AddDate(0, 0, -400), To: noon, Limit: 1},
	} {
		if _, err := next.Usage(t.Context(), q); !errors.Is(err, analytics.ErrPeriod) {
			t.Errorf("AN-03 %s: %v", name, err)
		}
	}
}

// AN-03: usage is read a page at a time, and a reader that fails ends the reading.
func TestEachUsage_AN03(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	var groups []callstore.Group
	for i := range 1001 {
		groups = append(groups, callstore.Group{AppID: "app_1", Day: noon.Truncate(24 * time.Hour), By: callstore.ByBusiness, Key: string(rune('一' + i)), Bytes: 1})
	}
	if err := r.env.AddCalls(t.Context(), callstore.Batch{Writer: "w", Number: 1, At: noon, Groups: groups}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	if err := r.EachUsage(t.Context(), "app_1", noon, noon, func(u callstore.Usage) error { seen[u.BusinessID] = true; return nil }); err != nil || len(seen) != len(groups) {
		t.Errorf("AN-03: %d entries of %d, %v", len(seen), len(groups), err)
	}
	failed := errors.New("no space left")
	if err := r.EachUsage(t.Context(), "app_1", noon, noon, func(callstore.Usage) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("AN-03: %v", err)
	}
}

// AN-03: usage is kept as long as counts are, groups by route are not.
func TestUsageIsKept_AN03(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{}, func(t *testing.T, r *harness, _ func() error) {
		today := noon.Truncate(24 * time.Hour)
		for _, days := range []int{0, 90, 91, 400, 401} {
			r.Count(analytics.Call{AppID: "app_1", BusinessID: "biz_1", Route: "GET /", At: today.AddDate(0, 0, -days), Status: 200, Bytes: 1})
		}
		r.flush(t)
		r.clock.Advance(time.Hour)
		time.Sleep(time.Hour)
		var kept []string
		used, err := r.env.Usage(t.Context(), callstore.UsageQuery{AppID: "app_1", From: today.AddDate(-5, 0, 0), To: today, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range used {
			kept = append(kept, one.Day.Format(time.DateOnly))
		}
		if diff := cmp.Diff([]string{today.AddDate(0, 0, -400).Format(time.DateOnly), today.AddDate(0, 0, -91).Format(time.DateOnly), today.AddDate(0, 0, -90).Format(time.DateOnly), today.Format(time.DateOnly)}, kept); diff != "" {
			t.Errorf("AN-03 (-want +got)\n%s", diff)
		}
		routes, err := r.env.CallGroups(t.Context(), callstore.GroupQuery{AppID: "app_1", By: callstore.ByRoute, From: today.AddDate(-5, 0, 0), To: noon, Limit: 10})
		if err != nil || len(routes) != 1 || routes[0].Calls != 2 {
			t.Errorf("groups by route: %v, %v", routes, err)
		}
	})
}

// AN-03: one app with many businesses does not lose usage: memory that fills up is flushed.
func TestUsageOfManyBusinesses_AN03(t *testing.T) {
	t.Parallel()
	inBubble(t, analytics.Config{MaxBuckets: 10}, func(t *testing.T, r *harness, _ func() error) {
		r.down.Store(true)
		for i := range 200 {
			r.Count(analytics.Call{AppID: "app_1", BusinessID: string(rune('一' + i)), At: noon, Status: 200, Bytes: 1})
		}
		dropped := r.observed(t, "dropped")
		r.down.Store(false)
		var calls int64
		err := r.EachUsage(t.Context(), "app_1", noon, noon, func(u callstore.Usage) error { calls += u.Calls; return nil })
		if err != nil || dropped == 0 || calls+dropped != 200 {
			t.Errorf("AN-03: %d calls in the usage and %d dropped of 200, %v", calls, dropped, err)
		}
	})
}
