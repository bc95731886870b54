//go:build linux

package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// node is a server in a process of its own, by the addresses that it listens on.
type node struct {
	API, App string
	Metrics  string
	cmd      *exec.Cmd
	began    time.Time
}

var listening = regexp.MustCompile(`msg=listening api=(\S+) app=(\S+)`)

// launch starts a server, whose log is appended to a file, and waits until it is
// ready.
func launch(log string, flags ...string) (*node, error) {
	path, err := servertest.Program()
	if err != nil {
		return nil, err
	}
	stderr, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	n := &node{cmd: exec.CommandContext(context.Background(), path, append([]string{"-api", "127.0.0.1:0", "-app", "127.0.0.1:0", "-metrics", "127.0.0.1:0"}, flags...)...)} //nolint:gosec // our own program
	n.cmd.Stderr = stderr
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // no server outlives the test
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.began = time.Now()
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n') // it is ready; of the hosts it tells the public URLs
	if err == nil {
		err = json.Unmarshal(line, n)
	}
	text, reading := os.ReadFile(log)
	said := listening.FindAllSubmatch(text, -1)
	if err = errors.Join(err, reading); err != nil || len(said) == 0 {
		n.kill()
		return nil, fmt.Errorf("the server did not start: %w\n%s", err, text[max(0, len(text)-3000):])
	}
	last := said[len(said)-1]
	n.API, n.App = "http://"+string(last[1]), "http://"+string(last[2])
	return n, nil
}

// metrics returns the Prometheus metrics of the node.
func (n *node) metrics(t testing.TB) string {
	t.Helper()
	res, err := http.Get(n.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kill sends SIGKILL to the process and returns when it has exited.
func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// stop asks the server to shut down and returns how it exited.
func (n *node) stop() error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return n.cmd.Wait()
}
