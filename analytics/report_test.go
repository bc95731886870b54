package analytics_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
)

// AN-02: what the console shows, as it is sent. Days are filled in, oldest first
// and today last; what lies before the first day is not in the totals.
func TestAN02Report(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	first := noon.AddDate(0, 0, -3).Add(-12 * time.Hour) // May 29, midnight
	r.Count(analytics.Call{AppID: "app_1", At: first.Add(-time.Second), Status: 200})
	r.Count(analytics.Call{AppID: "app_1", At: first, Status: 404})
	r.Count(analytics.Call{AppID: "app_1", At: noon.AddDate(0, 0, -1), Status: 200})
	r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 429, RateLimited: true})
	r.Count(analytics.Call{AppID: "app_1", At: noon.Add(12*time.Hour - 1), Status: 200})
	r.Count(analytics.Call{AppID: "app_1", At: noon.Add(12 * time.Hour), Status: 200}) // another node's clock is ahead
	r.Count(analytics.Call{AppID: "app_2", At: noon, Status: 200})

	report, err := r.Report(t.Context(), "app_1", 4)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "totals": {
  "calls": 4,
  "errors": 2,
  "rateLimited": 1,
  "p50Ms": 2.5,
  "p95Ms": 5
 },
 "days": [
  {
   "date": "2026-05-29",
   "calls": 1,
   "errors": 1,
   "rateLimited": 0,
   "p50Ms": 5,
   "p95Ms": 5
  },
  {
   "date": "2026-05-30",
   "calls": 0,
   "errors": 0,
   "rateLimited": 0
  },
  {
   "date": "2026-05-31",
   "calls": 1,
   "errors": 0,
   "rateLimited": 0,
   "p50Ms": 5,
   "p95Ms": 5
  },
  {
   "date": "2026-06-01",
   "calls": 2,
   "errors": 1,
   "rateLimited": 1,
   "p50Ms": 2.5,
   "p95Ms": 5
  }
 ]
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// A day ends at midnight UTC: the second before is still yesterday's today.
func TestReportFollowsTheClock(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	for _, step := range []struct {
		by   time.Duration
		want string
	}{{12*time.Hour - time.Second, "2026-06-01"}, {time.Second, "2026-06-02"}} {
		r.clock.Advance(step.by)
		report, err := r.Report(t.Context(), "app_1", 1)
		if err != nil || report.Days[0].Date != step.want {
			t.Errorf("at %v: %+v, %v; want %s", r.clock.Now(), report, err, step.want)
		}
	}
}

func TestReportDays(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	for _, days := range []int{-1, 0, analytics.MaxDays + 1} {
		if _, err := r.Report(t.Context(), "app_1", days); !errors.Is(err, analytics.ErrPeriod) {
			t.Errorf("%d days: %v", days, err)
		}
	}
	report, err := r.Report(t.Context(), "app_1", analytics.MaxDays)
	if err != nil || len(report.Days) != analytics.MaxDays || report.Days[0].Date != "2025-04-28" {
		t.Errorf("the longest report: %v, %d days", err, len(report.Days))
	}
	if _, err := r.Report(t.Context(), "", 1); err == nil {
		t.Error("a report about no app")
	}
}

// A report makes the node write the counts of the reported app only.
func TestReportFlushesItsAppOnly(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	for range 2 {
		r.call("app_1")
		r.call("app_2")
		if _, err := r.Report(t.Context(), "app_1", 1); err != nil {
			t.Fatal(err)
		}
	}
	if one, two := r.storedCalls(t, "app_1"), r.storedCalls(t, "app_2"); one != 2 || two != 0 {
		t.Errorf("%d and %d calls are stored", one, two)
	}
	r.flush(t)
	if two := r.storedCalls(t, "app_2"); two != 2 {
		t.Errorf("%d calls of the other", two)
	}
}

// AN-02: for a chart, every hour that has a part in the time.
func TestAN02Hours(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.Count(analytics.Call{AppID: "app_1", At: noon.Add(-time.Second), Status: 200})
	r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 500, Took: 30 * time.Millisecond})
	r.Count(analytics.Call{AppID: "app_1", At: noon.Add(2 * time.Hour), Status: 200, Took: time.Minute})
	r.Count(analytics.Call{AppID: "app_1", At: noon.Add(3 * time.Hour), Status: 200})
	want := []analytics.Hour{
		{Start: noon, Counts: callstore.Counts{Calls: 1, Errors: 1}, Latency: callstore.Latency{3: 1}},
		{Start: noon.Add(time.Hour)},
		{Start: noon.Add(2 * time.Hour), Counts: callstore.Counts{Calls: 1}, Latency: callstore.Latency{11: 1}},
	}
	for _, period := range [][2]time.Duration{{0, 3 * time.Hour}, {59 * time.Minute, 2*time.Hour + 1}} {
		got, err := r.Hours(t.Context(), "app_1", noon.Add(period[0]), noon.Add(period[1]))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", period, diff)
		}
	}
	for _, period := range [][2]time.Time{{noon, noon}, {noon, noon.Add(-1)}, {noon, noon.Add(analytics.Retention + 1)}, {{}, noon}} {
		if _, err := r.Hours(t.Context(), "app_1", period[0], period[1]); !errors.Is(err, analytics.ErrPeriod) {
			t.Errorf("%v: %v", period, err)
		}
	}
	if got, err := json.Marshal(want[0]); err != nil ||
		string(got) != `{"start":"2026-06-01T12:00:00.000Z","calls":1,"errors":1,"rateLimited":0,"latency":[0,0,0,1,0,0,0,0,0,0,0,0]}` {
		t.Errorf("%s, %v", got, err)
	}
}

// AN-02: percentiles are estimated from how many calls were how fast.
func TestAN02Percentile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		latency  callstore.Latency
		p50, p95 time.Duration
	}{
		"no calls":      {},
		"one call":      {callstore.Latency{3: 1}, 50 * time.Millisecond, 50 * time.Millisecond},
		"spread evenly": {callstore.Latency{100}, 2500 * time.Microsecond, 4750 * time.Microsecond},
		"two kinds":     {callstore.Latency{0: 90, 7: 10}, 5 * time.Millisecond * 50 / 90, 750 * time.Millisecond},
		"very slow":     {callstore.Latency{11: 3}, 10 * time.Second, 10 * time.Second},
	} {
		if p50, p95 := c.latency.Percentile(50), c.latency.Percentile(95); p50 != c.p50 || p95 != c.p95 {
			t.Errorf("%s: %v and %v, want %v and %v", name, p50, p95, c.p50, c.p95)
		}
	}
}
