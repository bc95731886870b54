//go:build linux

package crash_test

import (
	"errors"
	"syscall"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// node is a server in a process of its own, by the addresses that it listens on.
type node struct {
	*servertest.Process
	API, App string
}

// launch starts a server, whose log is appended to a file, and waits until it is
// ready.
func launch(log string, flags ...string) (*node, error) {
	p, err := servertest.Config{
		Flags:        append([]string{"-api", "127.0.0.1:0", "-app", "127.0.0.1:0", "-metrics", "127.0.0.1:0"}, flags...),
		LogFile:      log,
		OSAttributes: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, // no server outlives the test
	}.Launch()
	if err != nil {
		return nil, err
	}
	n := &node{Process: p}
	if n.API, n.App, err = p.Listening(); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return n, nil
}

// kill sends SIGKILL to the process and returns when it has exited.
func (n *node) kill() { _ = n.Kill() } // it may have exited before
