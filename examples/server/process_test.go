package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/partnerkit/partnerkit/internal/logtest"
)

// process is a server that is a process of its own.
type process struct {
	harness
	cmd  *exec.Cmd
	wait func() error // for its end
}

// startProcess runs the server as a process, on ports of its own.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, exec.Command(os.Args[0], args...))
}

// launch starts a command that runs the server with the last of its arguments.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	cmd.Args = append(cmd.Args, "-api", "127.0.0.1:0", "-app", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), runAsServer+"=1")
	p := &process{harness: harness{t: t, stdout: &logtest.Buffer{}, stderr: &logtest.Buffer{}}, cmd: cmd}
	cmd.Stderr = p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, _ := lines.ReadBytes('\n')
	p.wait = sync.OnceValue(func() error {
		_, _ = io.Copy(p.stdout, lines)
		return cmd.Wait()
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // unless it has ended
		_ = p.wait()
	})
	var ready struct{ API, App string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("no ready line: %v\n%s", err, p.stderr)
	}
	p.api, p.app = ready.API, ready.App
	return p
}

// term ends the process with SIGTERM. It has to end well.
func (p *process) term() {
	p.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.wait(); err != nil {
		p.t.Fatalf("%v\n%s", err, p.stderr)
	}
	if p.stdout.String() != "" {
		p.t.Errorf("more than the ready line on standard output: %q", p.stdout)
	}
}
