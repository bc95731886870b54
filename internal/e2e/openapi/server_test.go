package openapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// workshop is where the reference server is built.
var workshop string

func TestMain(m *testing.M) {
	var err error
	if workshop, err = os.MkdirTemp("", "partnerkit-openapi-*"); err != nil {
		panic(err)
	}
	registerDecoders()
	code := m.Run()
	_ = os.RemoveAll(workshop)
	os.Exit(code)
}

// program is the reference server, built once.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(workshop, "server")
	build := exec.Command("go", "build", "-o", file, "./examples/server")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

// service is a reference server in a process of its own, with clients that hold all
// that is said against the description.
type service struct {
	t        *testing.T
	API, App string
	checker  *checker
	log      *strings.Builder
}

// serve starts one with the demo, on free ports.
func serve(t *testing.T, database string) *service {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	run := exec.CommandContext(ctx, file, "-api", "localhost:0", "-app", "localhost:0", "-db", database)
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	s := &service{t: t, log: &strings.Builder{}}
	run.Stderr = s.log
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, out)
		_ = run.Wait()
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", err, s.log)
	}
	var ready struct{ API, App string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatal(err)
	}
	s.API, s.App = ready.API, ready.App
	s.checker = newChecker(t, s.API)
	return s
}
