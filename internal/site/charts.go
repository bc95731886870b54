package site

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/look"
)

// mostBars is how many days a chart has; of a longer time a bar is a week.
const mostBars = 100

// Period is what happened in a day or an hour.
type Period struct {
	Start   time.Time
	Counts  callstore.Counts
	Latency callstore.Latency
}

// ByDay adds hours up to days, or to weeks if there are more than a chart has room for.
func ByDay(hours []analytics.Hour) (days []Period, unit string) {
	length := 24
	unit = "Day"
	if len(hours) > mostBars*length {
		length, unit = 7*24, "Week"
	}
	for part := range slices.Chunk(hours, length) {
		one := Period{Start: part[0].Start}
		for _, hour := range part {
			one.Counts.Add(hour.Counts)
			one.Latency.Add(hour.Latency)
		}
		days = append(days, one)
	}
	return days, unit
}

// ByHour returns hours as periods.
func ByHour(hours []analytics.Hour) []Period {
	all := make([]Period, 0, len(hours))
	for _, hour := range hours {
		all = append(all, Period{hour.Start, hour.Counts, hour.Latency})
	}
	return all
}

// DayPoints marks some seven days or weeks, the last one among them.
func DayPoints(days []Period, unit string) []look.Point {
	points := make([]look.Point, len(days))
	every := max(1, len(points)/6)
	for i, one := range days {
		points[i] = look.Point{Name: one.Start.Format("Mon 2 Jan 2006")}
		if unit == "Week" {
			points[i].Name = "Week from " + one.Start.Format("2 Jan 2006")
		}
		if back := len(days) - 1 - i; back%every == 0 {
			points[i].Mark, points[i].IsMinor = one.Start.Format("2 Jan"), back/every%2 == 1
		}
	}
	return points
}

// HourPoints marks midnight by the day, and noon and what is between by the hour.
func HourPoints(hours []Period) []look.Point {
	points := make([]look.Point, len(hours))
	for i, one := range hours {
		points[i] = look.Point{Name: one.Start.Format("Mon 2 Jan, 15:04 UTC")}
		switch hour := one.Start.Hour(); {
		case hour == 0:
			points[i].Mark = one.Start.Format("2 Jan")
		case hour%6 == 0:
			points[i].Mark, points[i].IsMinor = one.Start.Format("15:04"), hour != 12
		}
	}
	return points
}

// CallChart shows how calls have ended.
func CallChart(title, unit string, points []look.Point, periods []Period) look.Chart {
	for i, one := range periods {
		c := one.Counts
		succeeded, others := c.Calls-c.Errors, c.Errors-c.RateLimited
		p := &points[i]
		p.Parts, p.Text = []int64{succeeded, c.RateLimited, others}, "no calls"
		p.Cells = []string{Grouped(c.Calls), Grouped(succeeded), Grouped(c.RateLimited), Grouped(others)}
		if c.Calls > 0 {
			p.Text = Counting(c.Calls, "call", "calls") + fmt.Sprintf(", %s succeeded, %s rate-limited, %s other errors", p.Cells[1], p.Cells[2], p.Cells[3])
		}
	}
	return look.Chart{
		Title: title, Unit: unit, What: "calls that succeeded, rate-limited calls and other errors", Points: points,
		Series: []look.Series{{Kind: "succeeded", Name: "Succeeded"}, {Kind: "limited", Name: "Rate-limited"}, {Kind: "errors", Name: "Other errors"}},
		Heads:  []look.Head{{Text: "Calls"}, {Text: "Succeeded", IsWide: true}, {Text: "Rate-limited", IsWide: true}, {Text: "Other errors"}},
	}.Drawn()
}

// AttemptChart shows how the attempts of a webhook have ended, whose Errors are those that failed.
func AttemptChart(title, unit string, points []look.Point, periods []Period) look.Chart {
	for i, one := range periods {
		c, p := one.Counts, &points[i]
		p.Parts, p.Text = []int64{c.Calls - c.Errors, c.Errors}, "no attempts"
		p.Cells = []string{Grouped(c.Calls), Grouped(c.Calls - c.Errors), Grouped(c.Errors)}
		if c.Calls > 0 {
			p.Text = Counting(c.Calls, "attempt", "attempts") + fmt.Sprintf(", %s succeeded, %s failed", p.Cells[1], p.Cells[2])
		}
	}
	return look.Chart{
		Title: title, Unit: unit, What: "attempts that succeeded and that failed", Points: points,
		Series: []look.Series{{Kind: "succeeded", Name: "Succeeded"}, {Kind: "errors", Name: "Failed"}},
		Heads:  []look.Head{{Text: "Attempts"}, {Text: "Succeeded"}, {Text: "Failed"}},
	}.Drawn()
}

// LatencyChart shows how long half of all took, and above that nineteen of twenty.
func LatencyChart(title, unit string, points []look.Point, periods []Period) look.Chart {
	for i, one := range periods {
		p := &points[i]
		half, most := one.Latency.Percentile(50), one.Latency.Percentile(95)
		p.Parts, p.Cells, p.Text = []int64{0, 0}, []string{"–", "–"}, "none"
		if most > 0 {
			p.Parts = []int64{max(1, half.Milliseconds()), max(0, most.Milliseconds()-max(1, half.Milliseconds()))}
			p.Cells = []string{Milliseconds(half), Milliseconds(most)}
			p.Text = "p50 " + p.Cells[0] + ", p95 " + p.Cells[1]
		}
	}
	return look.Chart{
		Title: title, Unit: unit, Suffix: " ms", What: "median and 95th percentile, in milliseconds", Points: points,
		Series: []look.Series{{Kind: "median", Name: "p50"}, {Kind: "slow", Name: "p95"}}, Heads: []look.Head{{Text: "p50"}, {Text: "p95"}},
	}.Drawn()
}

// Counting writes a number with what it counts.
func Counting(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// Milliseconds writes a latency, which is an estimate.
func Milliseconds(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "< 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}
