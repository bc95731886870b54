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

// CON-06, CON-14: no known source takes the process more than 128 MiB and little more than two
// seconds of processor time.
func TestPeak_CON06(t *testing.T) {
	if !testenv.Proving() {
		t.Skip("measures; see make prove")
	}
	const most = 128 << 10 // KiB
	checker := newChecker(t, asChecker, 0)
	var largest int64
	var longest time.Duration // of the processor
	for name, source := range hostile() {
		limited, cancel := context.WithTimeout(t.Context(), patient)
		process := exec.CommandContext(limited, os.Args[0], asChecker)
		var out bytes.Buffer
		process.Env, process.Stdin, process.Stdout = []string{"GOMAXPROCS=1"}, strings.NewReader(source), &out
		err := process.Run()
		cancel()
		peak := process.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		verdict := checker.CheckFunction(t.Context(), source)
		took := process.ProcessState.UserTime() + process.ProcessState.SystemTime()
		t.Logf("%-40s %6d KiB %8v  %.60v", name, peak, took.Round(time.Millisecond), verdict)
		if peak > most || took > 2500*time.Millisecond {
			t.Errorf("%s took %d KiB and %v: %v", name, peak, took, err)
		}
		largest, longest = max(largest, peak), max(longest, took)
	}
	t.Logf("at most %d KiB and %v", largest, longest)
}
