package interop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "interop-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// program is the path of the reference server, built when the first test asks for it,
// in its own module.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "server")
	build := exec.CommandContext(context.Background(), "go", "build", "-C", "../../..", "-buildvcs=false", "-o", path, "./examples/server")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return path, nil
})

// server is one that runs, with fixtures of our own.
type server struct {
	t        *testing.T
	API, App string
	redirect string // of both apps
}

// start starts a server and waits until it is ready; it ends with the test. Webhooks
// go to the URL; "" is for tests that cause none.
func start(t *testing.T, webhook string) *server {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, redirect: freeURL(t) + "/callback"}
	if webhook == "" {
		webhook = freeURL(t)
	}
	text, err := os.ReadFile("testdata/fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(fixtures, []byte(strings.NewReplacer("REDIRECT", s.redirect, "WEBHOOK", webhook).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path, "-api", "localhost:0", "-app", "localhost:0", "-db", ":memory:", "-fixtures", fixtures)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("ready line %q: %v", line, err)
	}
	if err := json.Unmarshal(line, s); err != nil {
		t.Fatalf("ready line %q: %v", line, err)
	}
	return s
}

// freeURL is where nobody listens, for redirects: a client that wants to may.
func freeURL(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return "http://" + socket.Addr().String()
}

// dev makes a call of /dev and reads its answer into out, which may be nil.
func (s *server) dev(path, body string, out any) error {
	res, err := http.Post(s.API+"/dev/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("/dev/%s: %s", path, res.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
