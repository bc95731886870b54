// Command table prints what the proofs of a run tried, from the lines that they
// left. It ends with 1 when something was violated, skipped or
// not tried at all.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/partnerkit/partnerkit/internal/proof"
)

func main() {
	lines, err := read(os.Stdin)
	if err == nil {
		err = write(os.Stdout, lines)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(r io.Reader) ([]proof.Line, error) {
	var lines []proof.Line
	for in := bufio.NewScanner(r); in.Scan(); {
		var line proof.Line
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b proof.Line) int { return cmp.Compare(a.What, b.What) })
	return lines, nil
}

// write prints the table and returns an error if a proof has violations or
// tried nothing, or if there is no proof.
func write(w io.Writer, lines []proof.Line) error {
	violations, untried := 0, 0
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "proof\ttried\tviolations\tseconds\t")
	for _, l := range lines {
		violations += l.Violations
		if l.Tried == 0 {
			untried++
		}
		fmt.Fprintf(out, "%s\t%s %s\t%d\t%.0f\t%s\n", l.What, thousands(l.Tried), l.Unit, l.Violations, l.Seconds, l.Note)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d proofs, %d violations\n", len(lines), violations)
	if violations > 0 || untried > 0 || len(lines) == 0 {
		return fmt.Errorf("%d violations, %d of %d proofs tried nothing", violations, untried, len(lines))
	}
	return nil
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	var groups []string
	for len(s) > 3 {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, groups...), ",")
}
