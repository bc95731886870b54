// Package report collects what was measured and prints it.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one operation.
type Row struct {
	Group     string // "OAuth", "Limits"
	Operation string
	Ours      string
	Others    []string // "fosite 46 µs"
	Floor     string
	Ratios    string
	Spread    string // of the first ratio, over the turns
	Allocs    string
	Bar       string // "at most 1.3"; empty: for information
	Missed    bool
}

// Round takes off the digits that say nothing.
func Round(d time.Duration) time.Duration {
	for unit := time.Duration(1); unit < time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}

// Count returns a number of rows in words: 10 k, 1 M.
func Count(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%d M", n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}

// Report is all of it.
type Report struct {
	Rows  []Row
	Plots []Plot
	Notes []string // about what was measured
	// Machine is about what it was measured on.
	Machine []string
}

// Add takes rows.
func (r *Report) Add(rows ...Row) { r.Rows = append(r.Rows, rows...) }

// DropBars takes the bars off what was measured too shortly for them.
func (r *Report) DropBars() {
	for i := range r.Rows {
		r.Rows[i].Bar, r.Rows[i].Missed = "", false
	}
}

// Missed returns how many bars were missed.
func (r *Report) Missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.Missed {
			n++
		}
	}
	return n
}

// Print writes the table for a terminal, group by group.
func (r *Report) Print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, group := range r.groups() {
		lines := r.lines(group)
		lines[0][0] = group
		for _, cells := range lines {
			fmt.Fprintln(out, strings.Join(cells, "\t"))
		}
		fmt.Fprintln(out)
		if err := out.Flush(); err != nil { // the next group has columns of its own
			return err
		}
	}
	for _, note := range append(r.Machine, r.Notes...) {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d operations, %d bars missed\n", len(r.Rows), r.Missed())
	return err
}

// groups are in the order of their first rows.
func (r *Report) groups() []string {
	var all []string
	for _, row := range r.Rows {
		if !slices.Contains(all, row.Group) {
			all = append(all, row.Group)
		}
	}
	return all
}

// lines returns the cells of a group, with the names of the columns first: of those that have
// something in them.
func (r *Report) lines(group string) [][]string {
	all := [][]string{slices.Clone(columns)}
	used := make([]bool, len(columns))
	for _, row := range r.Rows {
		if row.Group != group {
			continue
		}
		cells := row.cells()
		for i, text := range cells {
			used[i] = used[i] || text != ""
		}
		all = append(all, cells)
	}
	for i, cells := range all {
		var kept []string
		for k, text := range cells {
			if used[k] {
				kept = append(kept, text)
			}
		}
		all[i] = kept
	}
	return all
}

var columns = []string{"operation", "ours", "others", "floor", "ratios", "spread", "allocations", "bar", ""}

func (r Row) cells() []string {
	verdict := ""
	switch {
	case r.Missed:
		verdict = "MISSED"
	case r.Bar != "":
		verdict = "ok"
	}
	return []string{r.Operation, r.Ours, strings.Join(r.Others, ", "), r.Floor, r.Ratios, r.Spread, r.Allocs, r.Bar, verdict}
}
