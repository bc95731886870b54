package look

import (
	"fmt"
	"slices"
	"strconv"
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

// Series is what a part of each bar stands for; Kind is its class in the style sheet.
type Series struct{ Kind, Name string }

// Point is a day or an hour of a chart.
type Point struct {
	Name    string  // in full
	Mark    string  // below the chart; empty: none
	IsMinor bool    // the mark may be left out where there is no room
	Parts   []int64 // of the bar, from the ground up, one for each series
	Text    string  // what happened, in words
	Cells   []string
}

// String describes the bar in words.
func (p Point) String() string { return p.Name + ": " + p.Text }

// Chart is bars, each a stack with a part for each series, so that none of them hides another.
type Chart struct {
	Title  string
	What   string // the bars are of, in words
	Unit   string // what a bar is: Day or Hour
	Suffix string // of the numbers on the axis
	Series []Series
	Heads  []Head // of the table, after Unit
	Points []Point

	Height int
	Bars   []Bar
	Lines  []ChartLine
}

// Head is the head of a column of numbers; a narrow window leaves out one that IsWide.
type Head struct {
	Text   string
	IsWide bool
}

// Bar is a point as it is drawn.
type Bar struct {
	Point
	Left, Room       string // the whole place of the bar
	X, Middle, Width string
	Stack            []Layer // from the ground up; empty layers are left out
	IsLast           bool    // at the end of the chart, where its mark has no room on the right
}

// Layer is a part of a bar.
type Layer struct{ Kind, Y, Height string }

// ChartLine is a line at a round number.
type ChartLine struct{ Y, TextY, Text string }

// Drawn returns the chart with its bars.
func (c Chart) Drawn() Chart {
	c.Height = chartHeight
	var most int64
	for _, p := range c.Points {
		most = max(most, p.total())
	}
	top := c.rule(most)
	room := 100 / float64(max(1, len(c.Points)))
	for i, p := range c.Points {
		left := room * float64(i)
		c.Bars = append(c.Bars, Bar{
			Point: p, Left: percent(left), Room: percent(room), X: percent(left + room*(1-barShare)/2), Middle: percent(left + room/2), Width: percent(room * barShare),
			IsLast: left+room/2 > 95,
			Stack:  c.stack(p, (chartBase-chartTop)/float64(top)),
		})
	}
	return c
}

// total is how high a bar is.
func (p Point) total() (sum int64) {
	for _, n := range p.Parts {
		sum += n
	}
	return sum
}

// stack draws a bar, with so many pixels for one of what it counts.
func (c Chart) stack(p Point, perOne float64) []Layer {
	var layers []Layer
	ground := chartBase
	for i, n := range p.Parts {
		if n > 0 {
			height := max(float64(n)*perOne, leastBar)
			ground -= height
			layers = append(layers, Layer{c.Series[i].Kind, pixels(ground), pixels(height)})
		}
	}
	return layers
}

// rule draws lines at round numbers, and returns that of the highest.
func (c *Chart) rule(most int64) int64 {
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
		c.Lines = append(c.Lines, ChartLine{pixels(y), pixels(y + 4), round(n) + c.Suffix})
	}
	return top
}

// LastBar is the index of the newest bar.
func (c Chart) LastBar() int { return len(c.Bars) - 1 }

// IsBare reports that there is nothing in the chart.
func (c Chart) IsBare() bool {
	return !slices.ContainsFunc(c.Points, func(p Point) bool { return p.total() > 0 })
}

func percent(n float64) string { return strconv.FormatFloat(n, 'f', 3, 64) + "%" }
func pixels(n float64) string  { return strconv.FormatFloat(n, 'f', 2, 64) }

// round returns a round number with few characters: 20k, 1.5M.
func round(n int64) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1_000_000, 'f', -1, 64) + "M"
	case n >= 10_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + "k"
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.FormatInt(n, 10)
}
