package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Plot is cost against size, for one operation on one database.
type Plot struct {
	Group  string
	Name   string // the operation
	Line   string // the database
	Sizes  []int
	Values []float64 // microseconds
}

// The measures of a picture, in pixels: a panel for each operation, a few in a row.
const (
	perRow               = 3
	panelWide, panelHigh = 260.0, 150.0
	left, right          = 46.0, 16.0 // around the lines of a panel
	above, below         = 34.0, 26.0
	margin, legendHigh   = 12.0, 30.0
)

// pictureStyle has its own ground, so that the picture can be read on any page.
const pictureStyle = `
.ground { fill: #ffffff } text { fill: #333a44; font: 11px system-ui, sans-serif } .title { font-weight: 600 }
.grid { stroke: #dfe3e8; stroke-width: 1 } .line0 { stroke: #0b6bcb } .dot0 { fill: #0b6bcb } .line1 { stroke: #c2410c } .dot1 { fill: #c2410c }
.line0, .line1 { fill: none; stroke-width: 2; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
  .ground { fill: #12161c } text { fill: #d5dae1 } .grid { stroke: #313843 }
  .line0 { stroke: #6cb6ff } .dot0 { fill: #6cb6ff } .line1 { stroke: #ff9d5c } .dot1 { fill: #ff9d5c }
}
`

// draw returns an SVG picture with a panel for each operation and a line for each database.
func draw(plots []Plot) string {
	var names, lines []string
	for _, one := range plots {
		if !slices.Contains(names, one.Name) {
			names = append(names, one.Name)
		}
		if !slices.Contains(lines, one.Line) {
			lines = append(lines, one.Line)
		}
	}
	rows := (len(names) + perRow - 1) / perRow
	wide, high := 2*margin+perRow*panelWide, 2*margin+legendHigh+float64(rows)*panelHigh
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="Cost against rows">`+"\n", wide, high, wide, high)
	fmt.Fprintf(&out, "<style>%s</style>\n<rect class=\"ground\" width=\"%.0f\" height=\"%.0f\" rx=\"8\"/>\n", pictureStyle, wide, high)
	x := margin + left
	for i, line := range lines {
		fmt.Fprintf(&out, `<path class="line%d" d="M%.1f %.1fh18"/><text x="%.1f" y="%.1f">%s</text>`+"\n", i%2, x, margin+10, x+24, margin+14, html.EscapeString(line))
		x += 110
	}
	fmt.Fprintf(&out, `<text x="%.1f" y="%.1f" text-anchor="end">time for one, against rows of each kind</text>`+"\n", wide-margin-right, margin+14)
	for i, name := range names {
		p := panel{x: margin + float64(i%perRow)*panelWide, y: margin + legendHigh + float64(i/perRow)*panelHigh, name: name}
		for _, one := range plots {
			if one.Name == name {
				p.plots, p.lines = append(p.plots, one), append(p.lines, slices.Index(lines, one.Line))
			}
		}
		p.draw(&out)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// panel is one operation.
type panel struct {
	x, y  float64
	name  string
	plots []Plot
	lines []int // the number of each one's line
}

func (p panel) draw(out *strings.Builder) {
	var sizes []int
	most := 0.0
	for _, one := range p.plots {
		sizes = append(sizes, one.Sizes...)
		most = max(most, slices.Max(one.Values))
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	top := ceiling(most)
	placeX := func(size int) float64 {
		share := 0.5
		if last := sizes[len(sizes)-1]; last > sizes[0] {
			share = math.Log(float64(size)/float64(sizes[0])) / math.Log(float64(last)/float64(sizes[0]))
		}
		return p.x + left + share*(panelWide-left-right)
	}
	placeY := func(value float64) float64 { return p.y + panelHigh - below - value/top*(panelHigh-above-below) }
	fmt.Fprintf(out, `<text class="title" x="%.1f" y="%.1f">%s</text>`+"\n", p.x+left, p.y+20, html.EscapeString(p.name))
	for _, value := range []float64{0, top / 2, top} {
		y := placeY(value)
		fmt.Fprintf(out, `<path class="grid" d="M%.1f %.1fH%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			p.x+left, y, p.x+panelWide-right, p.x+left-5, y+4, micros(value))
	}
	for _, size := range sizes {
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", placeX(size), p.y+panelHigh-below+15, Count(size))
	}
	for i, one := range p.plots {
		var path strings.Builder
		for k, size := range one.Sizes {
			fmt.Fprintf(&path, "%s%.1f %.1f", cmp.Or(map[bool]string{k == 0: "M"}[true], "L"), placeX(size), placeY(one.Values[k]))
			fmt.Fprintf(out, `<circle class="dot%d" cx="%.1f" cy="%.1f" r="3"/>`, p.lines[i]%2, placeX(size), placeY(one.Values[k]))
		}
		fmt.Fprintf(out, `<path class="line%d" d="%s"/>`+"\n", p.lines[i]%2, path.String())
	}
}

// ceiling returns the next of 1, 2, 4, 5, 6, 8 and their tens, where an axis ends well.
func ceiling(value float64) float64 {
	if value <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range []float64{1, 2, 4, 5, 6, 8} {
		if value <= step*unit {
			return step * unit
		}
	}
	return 10 * unit
}

// micros returns a number of microseconds in words.
func micros(value float64) string {
	if value == 0 {
		return "0"
	}
	if value >= 1000 {
		return fmt.Sprintf("%g ms", value/1000)
	}
	return fmt.Sprintf("%g µs", value)
}
