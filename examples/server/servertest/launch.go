// Package servertest runs the reference server for the tests of the other
// examples: the real program, in a process of its own.
package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	modulePath = "github.com/partnerkit/partnerkit"
	importPath = modulePath + "/examples/server"
)

// Program returns the path of the server's program. The go command builds it and keeps it in
// the build cache, so that the packages which start the server link it once between them.
func Program() (string, error) { return program() }

var program = sync.OnceValues(func() (string, error) {
	ctx := context.Background()
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return "", fmt.Errorf("find the module of the server: %w", err)
	}
	// In its own module, since tests of other modules start it too. The go command that links
	// the program names a temporary file, and the next one names the file in the cache.
	for range 3 {
		var stderr strings.Builder
		run := exec.CommandContext(ctx, "go", "run", "-C", strings.TrimSpace(string(module)), "-buildvcs=false", "-exec", "echo", importPath) //nolint:gosec // our own program
		run.Stderr = &stderr
		out, err := run.Output()
		if err != nil {
			return "", fmt.Errorf("build the server: %w\n%s", err, &stderr)
		}
		path := strings.TrimSpace(string(out))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("build the server: the build cache does not keep it")
})

// Main is for TestMain: it runs the tests, and fails when a goroutine is left.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Process is a server that runs until Stop.
type Process struct {
	API, App string // public URLs, from its ready line
	Metrics  string // the URL, where they are served
	command  *exec.Cmd
	log      *log
}

// Launch starts a server with a database of its own, and more flags, and waits until it
// is ready. It is for examples, which have no testing.TB; tests have [Start].
func Launch(flags ...string) (*Process, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	args := append([]string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}, flags...)
	p := &Process{command: exec.CommandContext(context.Background(), path, args...), log: &log{}} //nolint:gosec // likewise
	p.command.Stderr = p.log
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err = errors.Join(err, json.Unmarshal(line, p)); err != nil {
		return nil, errors.Join(fmt.Errorf("ready line %q: %w", line, err), p.Stop())
	}
	return p, nil
}

// Stop asks the server to stop, and returns its exit error.
func (p *Process) Stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.command.Wait()
}

// Signal sends the server a signal.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// Kill ends the server at once, as a crash would.
func (p *Process) Kill() error {
	if err := p.command.Process.Kill(); err != nil {
		return err
	}
	_ = p.command.Wait() // it was killed
	return nil
}

// Log returns the output of the server on standard error.
func (p *Process) Log() string { return p.log.String() }

var listening = regexp.MustCompile(`msg=listening api="?(\S+?)"? .*app="?(\S+?)"?\s`)

// Listening returns the addresses that the server listens at, which are others than those
// of its public URLs when these are given as flags.
func (p *Process) Listening() (api, app string, err error) {
	for range 1000 { // the line is written before the ready line, and comes by another way
		if found := listening.FindStringSubmatch(p.Log()); found != nil {
			return "http://" + found[1], "http://" + found[2], nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", "", fmt.Errorf("the log lacks the addresses of the server:\n%s", p.Log())
}

// log is an io.Writer that can be read meanwhile.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
