package pages_test

import (
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
)

// drawing is a chart as a browser reads it.
type drawing struct {
	Class  string `xml:"class,attr"`
	Height string `xml:"height,attr"`
	Lines  []struct {
		Y float64 `xml:"y1,attr"`
	} `xml:"line"`
	Texts []struct {
		X    string  `xml:"x,attr"`
		Y    float64 `xml:"y,attr"`
		Text string  `xml:",chardata"`
	} `xml:"text"`
	Bars []struct {
		Title string `xml:"title"`
		Rects []struct {
			Class  string  `xml:"class,attr"`
			X      string  `xml:"x,attr"`
			Width  string  `xml:"width,attr"`
			Y      float64 `xml:"y,attr"`
			Height float64 `xml:"height,attr"`
		} `xml:"rect"`
	} `xml:"g"`
}

// charts are the drawings of a page, which must be well-formed.
func (a response) charts() []drawing {
	a.o.Helper()
	var all []drawing
	for _, found := range regexp.MustCompile(`(?s)<svg class="chart".*?</svg>`).FindAllString(a.Body, -1) {
		var one drawing
		a.o.must(xml.Unmarshal([]byte(found), &one))
		all = append(all, one)
	}
	return all
}

// scale is how many pixels one call is high: from the lines and what stands beside them.
func (d drawing) scale(t *testing.T) (perCall, ground float64) {
	t.Helper()
	top, err := strconv.ParseFloat(strings.NewReplacer(",", "", "k", "000").Replace(d.Texts[len(d.Lines)-1].Text), 64)
	if err != nil || d.Texts[0].Text != "0" {
		t.Fatalf("the axis says %v", d.Texts)
	}
	return (d.Lines[0].Y - d.Lines[len(d.Lines)-1].Y) / top, d.Lines[0].Y
}

// parts are the heights of a bar by what they count, in calls.
func (d drawing) parts(t *testing.T, i int) map[string]float64 {
	t.Helper()
	perCall, ground := d.scale(t)
	parts := map[string]float64{}
	for _, rect := range d.Bars[i].Rects {
		if math.Abs(rect.Y+rect.Height-ground) > .02 {
			t.Errorf("the part %s stands at %v, what is below it ends at %v", rect.Class, rect.Y+rect.Height, ground)
		}
		ground = rect.Y
		parts[rect.Class] = math.Round(rect.Height / perCall)
	}
	return parts
}

// AN-01, AN-02: charts and tables have the numbers that were counted.
func TestAnalytics_AN01_AN02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	path := "/apps/" + app.ID + "/analytics"
	count := func(back time.Duration, n, failed, limited int) {
		at := o.clock.Now().Add(-back)
		for i := range n {
			status := http.StatusOK
			if i < failed {
				status = http.StatusTooManyRequests
			}
			o.Calls.Count(analytics.Call{AppID: app.ID, At: at, Status: status, RateLimited: i < limited, Took: time.Millisecond})
		}
	}
	const day = 24 * time.Hour
	count(0, 40, 20, 10)
	count(47*time.Hour, 30, 0, 0)
	count(6*day, 35, 35, 0)
	count(29*day, 28, 7, 7)
	count(89*day, 15, 0, 0)
	for _, test := range []struct {
		query  string
		days   int // or weeks
		hours  int
		totals string
	}{
		{"?days=7", 7, 48, "Calls, last 7 days 105 Errors 55 Rate-limited 10 p50 2 ms p95 4 ms"},
		{"", 30, 48, "Calls, last 30 days 133 Errors 62 Rate-limited 17"},
		{"?days=90", 90, 48, "Calls, last 90 days 148 Errors 62 Rate-limited 17"},
		{"?days=8", 30, 48, "Calls, last 30 days"},
		{"?days=%3Cb%3E", 30, 48, "Calls, last 30 days"},
		{"?from=2026-08-26&to=2026-08-31", 6, 48, "Calls, 26 Aug 2026 to 31 Aug 2026 65 Errors 35 Rate-limited 0"},
		{"?from=2026-09-01", 1, 13, "Calls, 1 Sep 2026 to 1 Sep 2026 40"},
		{"?to=2026-08-26", 30, 48, "Calls, 28 Jul 2026 to 26 Aug 2026 63"},
		{"?from=2026-05-01", 18, 48, "Calls, 1 May 2026 to 1 Sep 2026 148"},
	} {
		page := o.get(path + test.query).want(http.StatusOK).shows(test.totals)
		charts := page.charts()
		if len(charts) != 3 || len(charts[0].Bars) != test.days || len(charts[1].Bars) != test.days || len(charts[2].Bars) != test.hours {
			t.Fatalf("%q: %d charts", test.query, len(charts))
		}
		if strings.Count(page.Body, "<tr><td>") != 2*test.days+test.hours {
			t.Errorf("%q: %d rows", test.query, strings.Count(page.Body, "<tr><td>"))
		}
		if strings.Contains(page.Body, "style=") {
			t.Errorf("%q: the policy forbids styles in attributes", test.query)
		}
	}
	page := o.get(path)
	charts := page.charts()
	for _, test := range []struct {
		chart  drawing
		bar    int
		parts  map[string]float64
		words  string
		inRow  string
		atMark string
	}{
		{charts[0], 29, map[string]float64{"succeeded": 20, "errors": 10, "limited": 10}, "Tue 1 Sep 2026: 40 calls, 20 succeeded, 10 rate-limited, 10 other errors", "Tue 1 Sep 2026 40 20 10 10", "1 Sep"},
		{charts[0], 28, map[string]float64{}, "Mon 31 Aug 2026: no calls", "Mon 31 Aug 2026 0 0 0 0", ""},
		{charts[0], 27, map[string]float64{"succeeded": 30}, "Sun 30 Aug 2026: 30 calls, 30 succeeded, 0 rate-limited, 0 other errors", "Sun 30 Aug 2026 30 30 0 0", ""},
		{charts[0], 23, map[string]float64{"errors": 35}, "Wed 26 Aug 2026: 35 calls, 0 succeeded, 0 rate-limited, 35 other errors", "Wed 26 Aug 2026 35 0 0 35", ""},
		{charts[0], 0, map[string]float64{"succeeded": 21, "limited": 7}, "Mon 3 Aug 2026: 28 calls, 21 succeeded, 7 rate-limited, 0 other errors", "Mon 3 Aug 2026 28 21 7 0", ""},
		{charts[2], 47, map[string]float64{"succeeded": 20, "errors": 10, "limited": 10}, "Tue 1 Sep, 12:00 UTC: 40 calls, 20 succeeded, 10 rate-limited, 10 other errors", "Tue 1 Sep, 12:00 UTC 40 20 10 10", "12:00"},
		{charts[2], 35, map[string]float64{}, "Tue 1 Sep, 00:00 UTC: no calls", "Tue 1 Sep, 00:00 UTC 0 0 0 0", "1 Sep"},
		{charts[2], 0, map[string]float64{"succeeded": 30}, "Sun 30 Aug, 13:00 UTC: 30 calls, 30 succeeded, 0 rate-limited, 0 other errors", "Sun 30 Aug, 13:00 UTC 30 30 0 0", ""},
	} {
		if got := test.chart.parts(t, test.bar); fmt.Sprint(got) != fmt.Sprint(test.parts) {
			t.Errorf("bar %d is %v, want %v", test.bar, got, test.parts)
		}
		if got := test.chart.Bars[test.bar].Title; got != test.words {
			t.Errorf("bar %d says %q, want %q", test.bar, got, test.words)
		}
		page.shows(test.inRow)
		middle := fmt.Sprintf("%.3f%%", 100*(float64(test.bar)+.5)/float64(len(test.chart.Bars)))
		mark := ""
		for _, text := range test.chart.Texts {
			if text.X == middle {
				mark = text.Text
			}
		}
		if mark != test.atMark {
			t.Errorf("below bar %d stands %q, want %q", test.bar, mark, test.atMark)
		}
	}
	for query, problem := range map[string]string{
		"?from=soon": "Enter a date such as 2026-09-01.", "?from=2026-09-01&to=2026-08-31": "Choose a period of at most 400 days", "?from=2020-01-01": "Choose a period of at most 400 days",
	} {
		o.get(path+query).want(http.StatusBadRequest).shows(problem, "Calls, last 30 days")
	}
	o.get(path + "?from=2026-01-01").shows("Counts by route, status and business are kept for 90 days").links(path + "?days=7")
	o.get(path + "?from=2026-01-01&to=2026-02-01").shows("No calls: 1 Jan 2026 to 1 Feb 2026")
	o.refuses(app, []string{"/analytics"}, nil)
}

// AN-02: the chart of latency shows the median and, above it, the 95th percentile.
func TestLatency_AN02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	for i := range 20 {
		took := 200 * time.Millisecond
		if i > 17 {
			took = 900 * time.Millisecond
		}
		o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Status: http.StatusOK, Took: took})
	}
	page := o.get("/apps/"+app.ID+"/analytics").shows("p50 183 ms p95 750 ms", "Tue 1 Sep 2026 183 ms 750 ms", "600 ms")
	latency := page.charts()[1]
	if last := latency.Bars[29]; last.Title != "Tue 1 Sep 2026: p50 183 ms, p95 750 ms" || len(last.Rects) != 2 || last.Rects[0].Class != "median" || last.Rects[1].Class != "slow" {
		t.Errorf("the last bar is %+v", last)
	}
	if first := latency.Bars[0]; first.Title != "Mon 3 Aug 2026: none" || len(first.Rects) != 0 {
		t.Errorf("a day without calls is %+v", first)
	}
}

// A chart of many calls has few lines, at round numbers, and what is rare can be seen.
func TestChartScale_AN02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	for calls, want := range map[int]string{1: "0 1", 4: "0 1 2 3 4", 5: "0 2 4 6", 11: "0 5 10 15", 2001: "0 1,000 2,000 3,000", 41_000: "0 20k 40k 60k"} {
		app := o.newApp()
		for range calls - 1 {
			o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Status: http.StatusOK, Took: time.Millisecond})
		}
		o.Calls.Count(analytics.Call{AppID: app.ID, At: o.clock.Now(), Status: http.StatusNotFound, Took: time.Millisecond})
		chart := o.get("/apps/" + app.ID + "/analytics").charts()[0]
		var got []string
		for _, text := range chart.Texts[:len(chart.Lines)] {
			got = append(got, text.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d calls: the axis says %q, want %q", calls, got, want)
		}
		rects := chart.Bars[len(chart.Bars)-1].Rects
		if last := rects[len(rects)-1]; last.Class != "errors" || last.Height < 1 {
			t.Errorf("%d calls, one of them an error: %+v", calls, rects)
		}
		if parts := chart.parts(t, len(chart.Bars)-1); math.Abs(parts["succeeded"]-float64(calls-1)) > float64(calls)/1000 {
			t.Errorf("%d calls that succeeded look like %v", calls-1, parts["succeeded"])
		}
	}
}

func TestNoCalls_AN02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.get("/apps/"+o.newApp().ID+"/analytics").want(http.StatusOK).
		shows("No calls: last 30 days", "Calls with an expired or revoked token are not counted").lacks(`<svg class="chart"`)
}

// Calls are counted by route, status and business, and each group leads to its calls in the
// request log.
func TestAnalyticsGroups_CON10(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.logCalls(app, 3)
	page := o.get("/apps/"+app.ID+"/analytics").want(http.StatusOK).shows("By route", "GET /invoices/{id} 3 0 0", "By status", "400 1 1 0", "By business", "biz_2 1 1",
		"Calls with an expired or revoked token are not counted here")
	links := page.values("href")
	log := o.prefix + "/apps/" + app.ID + "/requests?"
	for query, want := range map[string]string{
		"route=GET%20%2finvoices%2f%7bid%7d": "200 OK", "status=400": "400 Bad Request", "businessId=biz_2": "req-7", "status=4xx&businessId=biz_2": "req-7", "status=4xx": "req-7",
	} {
		if !slices.Contains(links, log+query) {
			t.Errorf("no link to %s", query)
		}
		o.get("/apps/" + app.ID + "/requests?" + query).want(http.StatusOK).shows(want)
	}
}
