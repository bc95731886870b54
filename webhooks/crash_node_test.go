//go:build unix

package webhooks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// crashNode is a process that runs TestCrashChild, and the door through which its
// requests come.
type crashNode struct {
	t       *testing.T
	ledger  *ledger
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	log     bytes.Buffer
	did     chan string
	ended   chan struct{} // after its last word
	started time.Time

	// The ledger's lock guards these.
	isDead     bool // killed
	hasStalled bool // for longer than its lease
}

func startNode(t *testing.T, l *ledger, host crashHost) *crashNode {
	t.Helper()
	n := &crashNode{t: t, ledger: l, did: make(chan string, 1), ended: make(chan struct{})}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := &http.Server{Handler: l.door(n), ReadHeaderTimeout: time.Minute}
	go func() { _ = door.Serve(socket) }()
	t.Cleanup(func() { _ = door.Close() })

	host.Door = socket.Addr().String()
	config, err := json.Marshal(host)
	if err != nil {
		t.Fatal(err)
	}
	n.cmd = exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.timeout=0")
	n.cmd.Env = append(os.Environ(), crashChildVar+"="+string(config))
	n.cmd.Stderr = &n.log
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if n.stdin, err = n.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	n.started = time.Now()
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go n.listen(stdout)
	t.Cleanup(func() {
		_ = n.cmd.Process.Kill() // a failed test leaves no process behind
		<-n.ended
		if t.Failed() && n.log.Len() > 0 {
			t.Logf("process %d: %s", n.cmd.Process.Pid, n.log.String())
		}
	})
	return n
}

// listen reads the output of the process until it ends.
func (n *crashNode) listen(stdout io.Reader) {
	defer close(n.ended)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "did":
			n.did <- rest
		case "begin", "commit", "rollback":
			id, name, _ := strings.Cut(rest, " ")
			n.ledger.wrote(word, id, name)
		case "recorded", "refused", "foreign":
			n.ledger.finished(n, word, rest)
		case "fault":
			n.t.Logf("process %d could not write: %s", n.cmd.Process.Pid, rest)
		}
	}
	_ = n.cmd.Wait()
}

// tell makes the process do something, and waits until it is done.
func (n *crashNode) tell(words ...any) {
	n.t.Helper()
	if _, err := fmt.Fprintln(n.stdin, words...); err != nil {
		n.t.Fatal(err)
	}
	select {
	case <-n.did:
	case <-n.ended:
		n.t.Fatalf("process %d ended, told to %v", n.cmd.Process.Pid, words)
	case <-time.After(patience):
		n.t.Fatalf("process %d does not %v", n.cmd.Process.Pid, words)
	}
}

// kill kills the process and waits until it has gone, with all that it had said.
func (n *crashNode) kill() (at time.Time) {
	n.t.Helper()
	if err := n.cmd.Process.Kill(); err != nil {
		n.t.Fatal(err)
	}
	at = time.Now()
	<-n.ended
	return at
}

// stop lets the process finish what it does.
func (n *crashNode) stop() {
	n.t.Helper()
	_ = n.stdin.Close()
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.t.Fatalf("process %d does not stop", n.cmd.Process.Pid)
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("process %d: %v", n.cmd.Process.Pid, n.cmd.ProcessState)
	}
}
