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

	"github.com/partnerkit/partnerkit/internal/logtest"
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
	// In its own module, since tests of other modules start it too. The program is not run:
	// "go version" takes its place and prints its path. The go command that links the program
	// names a temporary file, and the next one names the file in the cache.
	for range 3 {
		var stderr strings.Builder
		run := exec.CommandContext(ctx, "go", "run", "-C", strings.TrimSpace(string(module)), "-buildvcs=false", "-exec", "go version", importPath) //nolint:gosec // our own program
		run.Stderr = &stderr
		out, err := run.Output()
		if err != nil {
			return "", fmt.Errorf("build the server: %w\n%s", err, &stderr)
		}
		path, _, _ := strings.Cut(string(out), ": go")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("build the server: the build cache does not keep it")
})

// Main is for TestMain: it runs the tests, and fails when a goroutine is left.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Config says how a server is launched. The zero Config launches it with the demo in a
// database in memory.
type Config struct {
	Flags []string // beside, or instead of, those that Launch sets
	Env   []string // variables beside those of the test
	// LogFile is the file that the log is appended to. Empty: it is kept in memory.
	LogFile string
	// OSAttributes are those of the process.
	OSAttributes *syscall.SysProcAttr
}

// Process is a server that runs until Stop.
type Process struct {
	API, App string    // public URLs, from its ready line
	Metrics  string    // the URL, where they are served
	Began    time.Time // when it was started
	command  *exec.Cmd
	log      *logtest.Buffer
	logFile  string
}

// Launch starts a server with a database of its own, and more flags, and waits until it
// is ready. It is for examples, which have no testing.TB; tests have [Start].
func Launch(flags ...string) (*Process, error) { return Config{Flags: flags}.Launch() }

// Launch starts a server and waits until it is ready.
func (c Config) Launch() (*Process, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	args := append([]string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}, c.Flags...)
	p := &Process{command: exec.CommandContext(context.Background(), path, args...), log: &logtest.Buffer{}, logFile: c.LogFile} //nolint:gosec // likewise
	p.command.Env, p.command.SysProcAttr, p.command.Stderr = append(os.Environ(), c.Env...), c.OSAttributes, p.log
	if c.LogFile != "" {
		file, err := os.OpenFile(c.LogFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		defer file.Close() // the process has its own
		p.command.Stderr = file
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.Began = time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err = errors.Join(err, json.Unmarshal(line, p)); err != nil {
		text := p.Log()
		return nil, errors.Join(fmt.Errorf("ready line %q: %w\n%s", line, err, text[max(0, len(text)-3000):]), p.Stop())
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

// PID returns the id of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

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

// Log returns the output of the server on standard error, and what its LogFile had before.
func (p *Process) Log() string {
	if p.logFile == "" {
		return p.log.String()
	}
	text, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var listening = regexp.MustCompile(`msg=listening api="?(\S+?)"? .*app="?(\S+?)"?\s`)

// Listening returns the addresses that the server listens at, which are others than those
// of its public URLs when these are given as flags.
func (p *Process) Listening() (api, app string, err error) {
	for range 1000 { // the line is written before the ready line, and comes by another way
		if all := listening.FindAllStringSubmatch(p.Log(), -1); len(all) > 0 {
			last := all[len(all)-1] // of earlier servers, if they have the same log
			return "http://" + last[1], "http://" + last[2], nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", "", fmt.Errorf("the log lacks the addresses of the server:\n%s", p.Log())
}
