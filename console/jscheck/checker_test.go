package jscheck_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/jscheck"
)

// patient is longer than any check of these tests takes.
const patient = time.Minute

func newChecker(t testing.TB, argument string, timeout time.Duration) *jscheck.Checker {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	checker, err := jscheck.New(jscheck.Config{Command: []string{program, argument}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

func wantRejected(t *testing.T, err error, want string) {
	t.Helper()
	var rejected *console.SourceError
	if !errors.As(err, &rejected) || rejected.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// wantTooComplex is wantRejected for a check that was given up.
func wantTooComplex(t *testing.T, err error, want string) {
	t.Helper()
	wantRejected(t, err, want)
	if rejected, ok := errors.AsType[*console.SourceError](err); ok && !rejected.TooComplex {
		t.Errorf("%v is not TooComplex", err)
	}
}

// CON-14: a check gets two seconds of processor time, whatever the clock says.
func TestCheckerLimitsProcessorTime_CON14(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, asChecker, patient)
	source := "export function handler(){}\nx=(" + strings.Repeat("a,", 30000) + "a)"
	wantTooComplex(t, checker.CheckFunction(t.Context(), source), "parsing it takes too much processor time")
	if err := checker.CheckFunction(t.Context(), handler); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

const handler = "export default () => 1"

func TestChecker_CON06(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, asChecker, patient)
	for _, source := range []string{handler, "export const handler = async () => {}", "export default f" + strings.Repeat("\n", console.MaxFunctionSource-16)} {
		if err := checker.CheckFunction(t.Context(), source); err != nil {
			t.Errorf("%.40q: %v", source, err)
		}
	}
	for source, why := range map[string]string{
		"":                                "there is no export named handler, and no default one",
		"export * from 'a'":               "there is no export named handler, and no default one",
		"export default 1;\nlet a: b":     `line 2, column 6: Expected ";" but found ":"`,
		"export default '\xff":            `line 1, column 18: Unterminated string literal`,
		strings.Repeat(" ", 64<<10) + ";": "the source has more than 65536 bytes",
	} {
		t.Run(why, func(t *testing.T) { wantRejected(t, checker.CheckFunction(t.Context(), source), why) })
	}
}

// misleading keeps a parser without limits busy for more than ten seconds. A parser that
// reads the first slash as a division takes the rest for a string.
var misleading = `{}/"/;x=` + strings.Repeat("!", 65510) + "a;export default 1"

// CON-06: the process that parses has little stack.
func TestCheckerLimitsNesting_CON06(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, asChecker, patient)
	for name, source := range map[string]string{
		"negations": misleading, "arrows": strings.Repeat("a=>", 21000) + "1;" + handler, "assignments": strings.Repeat("a=", 32000) + "1;" + handler,
		"arrays": strings.Repeat("[", 32000), "blocks": strings.Repeat("{", 60000), "members": "a" + strings.Repeat(".a", 32000) + ";" + handler,
		"patterns": "let " + strings.Repeat("[", 60000), "calls": "a" + strings.Repeat("()", 32000) + ";" + handler, "new": strings.Repeat("new ", 16000) + "a;" + handler,
	} {
		t.Run(name, func(t *testing.T) {
			wantTooComplex(t, checker.CheckFunction(t.Context(), source), "it is nested too deeply")
		})
	}
	if err := checker.CheckFunction(t.Context(), handler); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// CON-06: the process that parses has little memory. esbuild keeps every partial sum of
// these strings.
func TestCheckerLimitsMemory_CON06(t *testing.T) {
	t.Parallel()
	source := "a=''" + strings.Repeat("+'a'", 16000) + ";" + handler
	wantTooComplex(t, newChecker(t, asChecker, patient).CheckFunction(t.Context(), source), "parsing it takes too much memory")
}

// CON-06: what people write is far from the limits.
func TestCheckerAllowsNesting_CON06(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, asChecker, patient)
	source, names := handler, ""
	check := func() {
		if err := checker.CheckFunction(t.Context(), source); err != nil {
			t.Errorf("%s: %v", names, err)
		}
		source, names = handler, ""
	}
	for name, nest := range nests { // several at a time, a line each
		line := ";\n{" + strings.Repeat(nest[0], 500) + nest[1] + strings.Repeat(nest[2], 500) + ";}"
		if len(source)+len(line) > console.MaxFunctionSource {
			check()
		}
		source, names = source+line, names+name+", "
	}
	check()
}

// CON-06: a process that takes too long is killed.
func TestCheckerTimeout_CON06(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, asChecker, time.Millisecond)
	for range 3 {
		wantTooComplex(t, checker.CheckFunction(t.Context(), slow), "parsing it takes longer than 1ms")
	}
}

// slow is nested little enough for the stack. The parser looks up each name in each of
// the functions around it.
var slow = strings.Repeat("a=>", 1500) + "{" + strings.Repeat("b;", 30000) + "};" + handler

// CON-06: a check ends with its request.
func TestCheckerContext_CON06(t *testing.T) {
	t.Chdir(t.TempDir())
	checker := newChecker(t, asStuck, patient)
	first, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- checker.CheckFunction(first, handler) }()
	for {
		if _, err := os.Stat("started"); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("checking: %v", err)
	}
}

// An error of the process says nothing about the source.
func TestCheckerProcessFails(t *testing.T) {
	t.Parallel()
	missing, err := jscheck.New(jscheck.Config{Command: []string{"/does/not/exist"}})
	if err != nil {
		t.Fatal(err)
	}
	for why, checker := range map[string]*jscheck.Checker{"no such library": newChecker(t, asBroken, patient), "/does/not/exist": missing} {
		err := checker.CheckFunction(t.Context(), handler)
		var rejected *console.SourceError
		if err == nil || errors.As(err, &rejected) || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want %s", err, why)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	command := []string{"server", "check-function"}
	for field, cfg := range map[string]jscheck.Config{
		"Command": {}, "Timeout": {Command: command, Timeout: -1},
	} {
		if _, err := jscheck.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
