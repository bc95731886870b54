package jscheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/console"
)

const defaultTimeout = 3 * time.Second

// Config of a [Checker]. Command is required.
type Config struct {
	// Command is a program with its arguments that calls [Main] and ends.
	Command []string
	// Timeout is how long the check of one source may take, without the wait for a
	// slot. A source that takes longer is rejected. 0 means 3 seconds.
	Timeout time.Duration
	// MaxConcurrent is how many sources are checked at a time; others wait. 0 means one
	// for each CPU that Go uses.
	MaxConcurrent int
}

// Checker checks sources in processes of their own. It implements
// [console.FunctionChecker] and is safe for concurrent use.
type Checker struct {
	cfg   Config
	slots chan struct{}
}

// New checks the configuration and returns a checker. It starts no process.
func New(cfg Config) (*Checker, error) {
	switch {
	case len(cfg.Command) == 0:
		return nil, errors.New("jscheck: Config.Command is empty")
	case cfg.Timeout < 0:
		return nil, errors.New("jscheck: Config.Timeout is negative")
	case cfg.MaxConcurrent < 0:
		return nil, errors.New("jscheck: Config.MaxConcurrent is negative")
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	return &Checker{cfg: cfg, slots: make(chan struct{}, cmp.Or(cfg.MaxConcurrent, runtime.GOMAXPROCS(0)))}, nil
}

// CheckFunction returns nil if source is an ES module that exports a handler. It returns
// a [*console.SourceError] if it is not, or if the parser needs too much time, stack or
// memory. Other errors are of the process or of ctx, with which the process is killed.
func (c *Checker) CheckFunction(ctx context.Context, source string) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
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
		return &console.SourceError{Reason: fmt.Sprintf("parsing it takes longer than %v", c.cfg.Timeout)}
	case err != nil && bytes.Contains(stderr.Bytes(), []byte(stackOverflow)):
		return &console.SourceError{Reason: "it is nested too deeply"}
	case err != nil && bytes.Contains(stderr.Bytes(), []byte(outOfMemory)):
		return &console.SourceError{Reason: "parsing it takes too much memory"}
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
