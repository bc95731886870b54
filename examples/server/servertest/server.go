// Package servertest runs the reference server for the tests of the other
// examples: the real program, in a process of its own.
package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

const importPath = "github.com/partnerkit/partnerkit/examples/server"

// program is the path of the server, built when the first test asks for it.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "server")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", path, importPath) //nolint:gosec // our own program
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return path, nil
})

var folder string

// Main is for TestMain: it runs the tests and removes what was built.
func Main(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "servertest-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// Server is one that runs, with the demo in a database of its own.
type Server struct {
	t        testing.TB
	API, App string
}

// Start starts a server and waits until it is ready; it ends with the test. The
// demo's app ledgerlink-sync is at partnerURL, for its redirect and its webhook;
// "" leaves it where it is.
func Start(t testing.TB, partnerURL string) *Server {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:"}
	if partnerURL != "" {
		args = append(args, "-fixtures", fixtures(t, partnerURL))
	}
	command := exec.CommandContext(context.Background(), path, args...) //nolint:gosec // likewise
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	s := &Server{t: t}
	if err := json.Unmarshal(line, s); readErr != nil || err != nil {
		t.Fatalf("ready line %q: %v, %v", line, readErr, err)
	}
	return s
}
