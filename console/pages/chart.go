package pages

import (
	"fmt"
	"strconv"

	"github.com/partnerkit/partnerkit/analytics/callstore"
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
)

// point is the calls of one day or hour.
type point struct {
	Name    string // in full
	Mark    string // below the chart; empty: none
	IsMinor bool   // the mark may be left out where there is no room
	callstore.Counts
}

// chart is bars of calls. A bar is a stack of what succeeded, what was rate-limited and the
// other errors, so that none of them hides another.
type chart struct {
	Title  string
	Unit   string // what a bar is
	Height int
	Points []point
	Bars   []bar
	Lines  []chartLine
}

type bar struct {
	point
	Left, Room       string // the whole place of the bar
	X, Middle, Width string
	Stack            []layer // from the ground up; empty layers are left out
}

// layer is a part of a bar; Kind is its class in the style sheet.
type layer struct{ Kind, Y, Height string }

type chartLine struct{ Y, TextY, Text string }

// newChart draws points.
func newChart(title, unit string, points []point) chart {
	c := chart{Title: title, Unit: unit, Height: chartHeight, Points: points}
	var most int64
	for _, p := range points {
		most = max(most, p.Calls)
	}
	top := c.rule(most)
	room := 100 / float64(max(1, len(points)))
	for i, p := range points {
		left := room * float64(i)
		c.Bars = append(c.Bars, bar{
			point: p, Left: percent(left), Room: percent(room), X: percent(left + room*(1-barShare)/2), Middle: percent(left + room/2), Width: percent(room * barShare),
			Stack: p.stack((chartBase - chartTop) / float64(top)),
		})
	}
	return c
}

// stack draws a bar, with so many pixels for a call.
func (p point) stack(perCall float64) []layer {
	var layers []layer
	ground := chartBase
	for _, part := range []struct {
		kind string
		n    int64
	}{{"succeeded", p.Succeeded()}, {"limited", p.RateLimited}, {"errors", p.OtherErrors()}} {
		if part.n > 0 {
			height := max(float64(part.n)*perCall, leastBar)
			ground -= height
			layers = append(layers, layer{part.kind, pixels(ground), pixels(height)})
		}
	}
	return layers
}

// OtherErrors are those that were not rate-limited.
func (p point) OtherErrors() int64 { return p.Errors - p.RateLimited }

// Succeeded are the calls that were no errors.
func (p point) Succeeded() int64 { return p.Calls - p.Errors }

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
		c.Lines = append(c.Lines, chartLine{pixels(y), pixels(y + 4), short(n)})
	}
	return top
}

// LastBar is the index of the newest bar.
func (c chart) LastBar() int { return len(c.Bars) - 1 }

// isBare reports that there were no calls.
func (c chart) isBare() bool {
	for _, p := range c.Points {
		if p.Calls > 0 {
			return false
		}
	}
	return true
}

// String describes the bar in words.
func (p point) String() string {
	if p.Calls == 0 {
		return p.Name + ": no calls"
	}
	if p.Calls == 1 {
		return fmt.Sprintf("%s: 1 call, %d succeeded, %d rate-limited, %d other errors", p.Name, p.Succeeded(), p.RateLimited, p.OtherErrors())
	}
	return fmt.Sprintf("%s: %s calls, %s succeeded, %s rate-limited, %s other errors",
		p.Name, site.Grouped(p.Calls), site.Grouped(p.Succeeded()), site.Grouped(p.RateLimited), site.Grouped(p.OtherErrors()))
}

func percent(n float64) string { return strconv.FormatFloat(n, 'f', 3, 64) + "%" }
func pixels(n float64) string  { return strconv.FormatFloat(n, 'f', 2, 64) }

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
