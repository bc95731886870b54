package pages

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/internal/site"
)

// The inside of a chart, in pixels. Its width is that of the page: places along it are
// in per cent, so that texts keep their size.
const (
	chartTop    = 10.0
	chartBase   = 170.0 // where bars stand
	chartHeight = 194
	leastBar    = 1.5 // what is there can be seen
	barShare    = .7  // of the room that each has
	mostLines   = 4
	mostBars    = 100 // days of one chart; of a longer time a bar is a week
)

// series is what a part of each bar stands for; Kind is its class in the style sheet.
type series struct{ Kind, Name string }

// point is a day or an hour of a chart.
type point struct {
	Name    string  // in full
	Mark    string  // below the chart; empty: none
	IsMinor bool    // the mark may be left out where there is no room
	Parts   []int64 // of the bar, from the ground up, one for each series
	Text    string  // what happened, in words
	Cells   []string
}

// String describes the bar in words.
func (p point) String() string { return p.Name + ": " + p.Text }

// chart is bars, each a stack with a part for each series, so that none of them hides another.
type chart struct {
	Title  string
	What   string // the bars are of, in words
	Unit   string // what a bar is: Day or Hour
	Suffix string // of the numbers on the axis
	Series []series
	Heads  []head // of the table, after Unit
	Points []point

	Height int
	Bars   []bar
	Lines  []chartLine
}

// head is the head of a column of numbers; a narrow window leaves out one that IsWide.
type head struct {
	Text   string
	IsWide bool
}

type bar struct {
	point
	Left, Room       string // the whole place of the bar
	X, Middle, Width string
	Stack            []layer // from the ground up; empty layers are left out
}

// layer is a part of a bar.
type layer struct{ Kind, Y, Height string }

type chartLine struct{ Y, TextY, Text string }

// drawn returns the chart with its bars.
func (c chart) drawn() chart {
	c.Height = chartHeight
	var most int64
	for _, p := range c.Points {
		most = max(most, p.total())
	}
	top := c.rule(most)
	room := 100 / float64(max(1, len(c.Points)))
	for i, p := range c.Points {
		left := room * float64(i)
		c.Bars = append(c.Bars, bar{
			point: p, Left: percent(left), Room: percent(room), X: percent(left + room*(1-barShare)/2), Middle: percent(left + room/2), Width: percent(room * barShare),
			Stack: c.stack(p, (chartBase-chartTop)/float64(top)),
		})
	}
	return c
}

// total is how high a bar is.
func (p point) total() (sum int64) {
	for _, n := range p.Parts {
		sum += n
	}
	return sum
}

// stack draws a bar, with so many pixels for one of what it counts.
func (c chart) stack(p point, perOne float64) []layer {
	var layers []layer
	ground := chartBase
	for i, n := range p.Parts {
		if n > 0 {
			height := max(float64(n)*perOne, leastBar)
			ground -= height
			layers = append(layers, layer{c.Series[i].Kind, pixels(ground), pixels(height)})
		}
	}
	return layers
}

// rule draws lines at round numbers, and returns that of the highest.
func (c *chart) rule(most int64) int64 {
	step := int64(1)
	for factors := []int64{2, 5, 10}; (most+step-1)/step > mostLines; {
		decade := int64(1)
		for decade*10 <= step {
			decade *= 10
		}
		for _, factor := range factors {
			if decade*factor > step {
				step = decade * factor
				break
			}
		}
	}
	top := max(1, (most+step-1)/step) * step
	for n := int64(0); n <= top; n += step {
		y := chartBase - float64(n)/float64(top)*(chartBase-chartTop)
		c.Lines = append(c.Lines, chartLine{pixels(y), pixels(y + 4), short(n) + c.Suffix})
	}
	return top
}

// LastBar is the index of the newest bar.
func (c chart) LastBar() int { return len(c.Bars) - 1 }

// isBare reports that there is nothing in the chart.
func (c chart) isBare() bool {
	return !slices.ContainsFunc(c.Points, func(p point) bool { return p.total() > 0 })
}

func percent(n float64) string { return strconv.FormatFloat(n, 'f', 3, 64) + "%" }
func pixels(n float64) string  { return strconv.FormatFloat(n, 'f', 2, 64) }

// period is what happened in a day or an hour.
type period struct {
	Start   time.Time
	Counts  analytics.Counts
	Latency analytics.Latency
}

// byDay adds hours up to days, or to weeks if there are more than a chart has room for.
func byDay(hours []analytics.Hour) (days []period, unit string) {
	length := 24
	unit = "Day"
	if len(hours) > mostBars*length {
		length, unit = 7*24, "Week"
	}
	for part := range slices.Chunk(hours, length) {
		one := period{Start: part[0].Start}
		for _, hour := range part {
			one.Counts.Add(hour.Counts)
			one.Latency.Add(hour.Latency)
		}
		days = append(days, one)
	}
	return days, unit
}

// byHour returns hours as periods.
func byHour(hours []analytics.Hour) []period {
	all := make([]period, 0, len(hours))
	for _, hour := range hours {
		all = append(all, period{hour.Start, hour.Counts, hour.Latency})
	}
	return all
}

// dayPoints marks some seven days or weeks, the last one among them.
func dayPoints(days []period, unit string) []point {
	points := make([]point, len(days))
	every := max(1, len(points)/6)
	for i, one := range days {
		points[i] = point{Name: one.Start.Format("Mon 2 Jan 2006")}
		if unit == "Week" {
			points[i].Name = "Week from " + one.Start.Format("2 Jan 2006")
		}
		if back := len(days) - 1 - i; back%every == 0 {
			points[i].Mark, points[i].IsMinor = one.Start.Format("2 Jan"), back/every%2 == 1
		}
	}
	return points
}

// hourPoints marks midnight by the day, and noon and what is between by the hour.
func hourPoints(hours []period) []point {
	points := make([]point, len(hours))
	for i, one := range hours {
		points[i] = point{Name: one.Start.Format("Mon 2 Jan, 15:04 UTC")}
		switch hour := one.Start.Hour(); {
		case hour == 0:
			points[i].Mark = one.Start.Format("2 Jan")
		case hour%6 == 0:
			points[i].Mark, points[i].IsMinor = one.Start.Format("15:04"), hour != 12
		}
	}
	return points
}

// callChart shows how calls have ended.
func callChart(title, unit string, points []point, periods []period) chart {
	for i, one := range periods {
		c := one.Counts
		succeeded, others := c.Calls-c.Errors, c.Errors-c.RateLimited
		p := &points[i]
		p.Parts, p.Text = []int64{succeeded, c.RateLimited, others}, "no calls"
		p.Cells = []string{site.Grouped(c.Calls), site.Grouped(succeeded), site.Grouped(c.RateLimited), site.Grouped(others)}
		if c.Calls > 0 {
			p.Text = counting(c.Calls, "call", "calls") + fmt.Sprintf(", %s succeeded, %s rate-limited, %s other errors", p.Cells[1], p.Cells[2], p.Cells[3])
		}
	}
	return chart{
		Title: title, Unit: unit, What: "calls that succeeded, rate-limited calls and other errors", Points: points,
		Series: []series{{"succeeded", "Succeeded"}, {"limited", "Rate-limited"}, {"errors", "Other errors"}},
		Heads:  []head{{"Calls", false}, {"Succeeded", true}, {"Rate-limited", true}, {"Other errors", false}},
	}.drawn()
}

// attemptChart shows how the attempts of a webhook have ended, whose Errors are those that failed.
func attemptChart(title, unit string, points []point, periods []period) chart {
	for i, one := range periods {
		c, p := one.Counts, &points[i]
		p.Parts, p.Text = []int64{c.Calls - c.Errors, c.Errors}, "no attempts"
		p.Cells = []string{site.Grouped(c.Calls), site.Grouped(c.Calls - c.Errors), site.Grouped(c.Errors)}
		if c.Calls > 0 {
			p.Text = counting(c.Calls, "attempt", "attempts") + fmt.Sprintf(", %s succeeded, %s failed", p.Cells[1], p.Cells[2])
		}
	}
	return chart{
		Title: title, Unit: unit, What: "attempts that succeeded and that failed", Points: points,
		Series: []series{{"succeeded", "Succeeded"}, {"errors", "Failed"}},
		Heads:  []head{{"Attempts", false}, {"Succeeded", false}, {"Failed", false}},
	}.drawn()
}

// latencyChart shows how long half of all took, and above that nineteen of twenty.
func latencyChart(title, unit string, points []point, periods []period) chart {
	for i, one := range periods {
		p := &points[i]
		half, most := one.Latency.Percentile(50), one.Latency.Percentile(95)
		p.Parts, p.Cells, p.Text = []int64{0, 0}, []string{"–", "–"}, "none"
		if most > 0 {
			p.Parts = []int64{max(1, half.Milliseconds()), max(0, most.Milliseconds()-max(1, half.Milliseconds()))}
			p.Cells = []string{milliseconds(half), milliseconds(most)}
			p.Text = "p50 " + p.Cells[0] + ", p95 " + p.Cells[1]
		}
	}
	return chart{
		Title: title, Unit: unit, Suffix: " ms", What: "median and 95th percentile, in milliseconds", Points: points,
		Series: []series{{"median", "p50"}, {"slow", "p95"}}, Heads: []head{{"p50", false}, {"p95", false}},
	}.drawn()
}

// counting writes a number with what it counts.
func counting(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return site.Grouped(n) + " " + many
}

// short returns a round number with few characters: 20k, 1.5M.
func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1_000_000, 'f', -1, 64) + "M"
	case n >= 10_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + "k"
	}
	return site.Grouped(n)
}
