package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// An address that opens more connections than the process may open files does not keep another
// address out.
func TestConnectionsOfProgram(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "sh")
	p := launch(t, exec.Command("sh", "-c", `ulimit -n 1024 && exec "$0" "$@"`, os.Args[0], "-db", ":memory:"))
	address := strings.TrimPrefix(p.api, "http://")
	for range 1100 { // each with a request, after which it may be idle for minutes
		_, _ = io.WriteString(connectFrom(t, "127.0.0.1", address), "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	c := connectFrom(t, "127.0.0.2", address)
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("another address is not served: %v", err)
	}
	_ = res.Body.Close()
	p.term()
}

// connectFrom opens a connection from an address of loopback, and sends nothing.
func connectFrom(t *testing.T, from, to string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	c, err := dialer.Dial("tcp", to)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Skipf("this machine does not have the address %s", from)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
