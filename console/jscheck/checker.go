package jscheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/console"
)

const defaultTimeout = 10 * time.Second

// Config of a [Checker]. Command is required.
type Config struct {
	// Command is a program with its arguments that calls [Main] and ends.
	Command []string
	// Timeout is how long the check of one source may take on the clock, whatever processor
	// time it gets in it. A source that takes longer is rejected. 0 means 10 seconds.
	Timeout time.Duration
}

// Checker checks sources in processes of their own. It implements
// [console.FunctionChecker] and is safe for concurrent use.
type Checker struct{ cfg Config }

// New checks the configuration and returns a checker. It starts no process.
func New(cfg Config) (*Checker, error) {
	switch {
	case len(cfg.Command) == 0:
		return nil, errors.New("jscheck: Config.Command is empty")
	case cfg.Timeout < 0:
		return nil, errors.New("jscheck: Config.Timeout is negative")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	return &Checker{cfg: cfg}, nil
}

// CheckFunction returns nil if source is an ES module that exports a handler. It returns
// a [*console.SourceError] if it is not, or if the parser needs more than two seconds of
// processor time, 128 MiB of memory, or too much stack. Other errors are of the process or of ctx, with which the process is killed.
func (c *Checker) CheckFunction(ctx context.Context, source string) error {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	process := exec.CommandContext(limited, c.cfg.Command[0], c.cfg.Command[1:]...) //nolint:gosec // the host's own program
	process.Env = []string{"GOMAXPROCS=1"}                                          // and nothing of the host's environment
	process.Stdin, process.Stdout, process.Stderr = strings.NewReader(source), &stdout, &stderr
	process.WaitDelay = time.Second
	err := process.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return tooComplex(fmt.Sprintf("parsing it takes longer than %v", c.cfg.Timeout))
	case process.ProcessState != nil && isOverTime(process.ProcessState):
		return tooComplex("parsing it takes too much processor time")
	case err != nil && bytes.Contains(stderr.Bytes(), []byte(stackOverflow)):
		return tooComplex("it is nested too deeply")
	case err != nil && slices.ContainsFunc(outOfMemory, func(text string) bool { return bytes.Contains(stderr.Bytes(), []byte(text)) }):
		return tooComplex("parsing it takes too much memory")
	case err != nil:
		return fmt.Errorf("jscheck: %s: %w: %.200s", c.cfg.Command[0], err, stderr.Bytes())
	}
	var result result
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		return fmt.Errorf("jscheck: response of %s: %w", c.cfg.Command[0], err)
	}
	if result.Rejected != nil {
		return result.Rejected
	}
	return nil
}

func tooComplex(reason string) error { return &console.SourceError{Reason: reason, TooComplex: true} }

// isOverTime reports whether a process was killed for its processor time. The operating system
// counts it differently for its limit and for its report, on a busy virtual machine by a lot.
func isOverTime(p *os.ProcessState) bool {
	return !p.Exited() && p.UserTime()+p.SystemTime() >= maxProcessorTime/2
}
