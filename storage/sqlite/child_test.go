package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

func goexit() { runtime.Goexit() }

// childVar makes this test binary a second process that opens the named file.
const childVar = "PARTNERKIT_TEST_CHILD"

// child opens the file, prints the outcome, and holds the file until its input ends.
func child(*testing.M) bool {
	path := os.Getenv(childVar)
	if path == "" {
		return false
	}
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		fmt.Println("refused:", err)
		return true
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := store.Close(); err != nil {
		fmt.Println(err)
	}
	return true
}

// Exactly one process can open a file. The error of any other process explains why. When
// the first process is killed, the next one starts.
func TestOneProcess(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/shared.db"
	first := startChild(t, path)
	if first.said != "open" {
		t.Fatalf("the first process said %q", first.said)
	}
	second := startChild(t, path)
	for _, want := range []string{"refused:", path, "belongs to another process", fmt.Sprintf("pid %d", first.cmd.Process.Pid), "PostgreSQL"} {
		if !strings.Contains(second.said, want) {
			t.Errorf("the second process said %q, without %q", second.said, want)
		}
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("open beside another process: %v", err)
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatalf("after the first was killed: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

type process struct {
	cmd  *exec.Cmd
	said string
}

func startChild(t *testing.T, path string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 4096)
	n, err := stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return process{cmd, strings.TrimSpace(string(line[:n]))}
}
