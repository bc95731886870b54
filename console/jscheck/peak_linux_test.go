package jscheck_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// CON-06: no known source takes the process more than 160 MiB, and a checker with the
// default configuration has ended each within its 3 seconds and little more.
func TestPeak_CON06(t *testing.T) {
	if !testenv.Proving() {
		t.Skip("measures; see make prove")
	}
	const most = 160 << 10 // KiB
	checker := newChecker(t, asChecker, 0)
	var largest int64
	var longest time.Duration
	for name, source := range hostile() {
		limited, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		process := exec.CommandContext(limited, os.Args[0], asChecker)
		var out bytes.Buffer
		process.Env, process.Stdin, process.Stdout = []string{"GOMAXPROCS=1"}, strings.NewReader(source), &out
		err := process.Run()
		cancel()
		peak := process.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		begun := time.Now()
		verdict := checker.CheckFunction(t.Context(), source)
		took := time.Since(begun)
		t.Logf("%-40s %6d KiB %8v  %.60v", name, peak, took.Round(time.Millisecond), verdict)
		if peak > most || took > 5*time.Second {
			t.Errorf("%s took %d KiB and %v: %v", name, peak, took, err)
		}
		largest, longest = max(largest, peak), max(longest, took)
	}
	t.Logf("at most %d KiB and %v", largest, longest)
}
