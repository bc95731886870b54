// Package proof counts the attempts and violations of the proofs for the table of make
// prove.
package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// FileVar names the file that a line for each proof is appended to.
const FileVar = "PARTNERKIT_PROOFS"

// shown is how many violations a test prints; all are counted.
const shown = 20

// Line is the result of one proof.
type Line struct {
	What       string  `json:"what"`
	Tried      int     `json:"tried"`
	Unit       string  `json:"unit"`
	Violations int     `json:"violations"`
	Note       string  `json:"note,omitempty"`
	Seconds    float64 `json:"seconds"`
}

// Proof is one that is under way. It is safe for concurrent use.
type Proof struct {
	t     testing.TB
	began time.Time

	mu   sync.Mutex
	line Line
}

// Begin starts a proof, which ends with t: "Kills under load, SQLite", counted in
// "kills". A test that fails has at least one violation.
func Begin(t testing.TB, what, unit string) *Proof {
	t.Helper()
	p := &Proof{t: t, began: time.Now(), line: Line{What: what, Unit: unit}}
	t.Cleanup(p.end)
	return p
}

// Tried counts n more.
func (p *Proof) Tried(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Tried += n
}

// Notef says something beside the count, in place of what was said before.
func (p *Proof) Notef(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Note = fmt.Sprintf(format, args...)
}

// Violation counts one and fails the test.
func (p *Proof) Violation(format string, args ...any) {
	p.t.Helper()
	p.mu.Lock()
	p.line.Violations++
	n := p.line.Violations
	p.mu.Unlock()
	switch {
	case n <= shown:
		p.t.Errorf(format, args...)
	case n == shown+1:
		p.t.Error("more violations are only counted")
	}
}

func (p *Proof) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Seconds = time.Since(p.began).Seconds()
	if p.t.Failed() && p.line.Violations == 0 {
		p.line.Violations = 1
	}
	if p.t.Skipped() {
		p.line.Note = "skipped"
	}
	p.t.Logf("%s: %d %s, %d violations in %.1f s %s",
		p.line.What, p.line.Tried, p.line.Unit, p.line.Violations, p.line.Seconds, p.line.Note)
	if file := os.Getenv(FileVar); file != "" {
		if err := p.line.Append(file); err != nil {
			p.t.Errorf("the line of the table: %v", err)
		}
	}
}

// Append adds the line to a file, in one write, so that packages that are tested at
// once do not mix.
func (l Line) Append(file string) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the file that make names
	if err != nil {
		return err
	}
	if _, err := f.Write(append(data, '\n')); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
