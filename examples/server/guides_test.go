package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// repository is where the commands of the guides are pasted.
const repository = "../.."

// startCommand is the one command that a reader gives in another terminal.
const startCommand = "go run ./examples/server"

// SBX-01: every command that the guides show does what they say when it is
// pasted, one after the other, with the server started by the command that they show.
func TestGuides(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "bash", "curl", "openssl", "sed")
	for _, file := range []string{"README.md", "docs/partners.md"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			g := readGuide(t, filepath.Join(repository, file))
			if !g.starts {
				t.Fatalf("it does not show %q", startCommand)
			}
			ports := strings.NewReplacer(startGuideServer(t)...)
			for i, output := range g.run(t, ports) {
				c := g.commands[i]
				if c.output != "" && !matches(ports.Replace(c.output), output) {
					t.Errorf("%s:%d: it prints\n%s\nand should print\n%s", file, c.line, output, ports.Replace(c.output))
				}
			}
		})
	}
}

// run pastes all commands into one shell and returns what each of them printed.
func (g guide) run(t *testing.T, ports *strings.Replacer) []string {
	t.Helper()
	const mark = "\x1e"
	var script strings.Builder
	for i, c := range g.commands {
		fmt.Fprintf(&script, "printf '%s%d\\n'\n%s\n", mark, i, ports.Replace(c.text))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // some commands wait for others
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail")
	shell.Dir, shell.Stdin = repository, strings.NewReader(script.String())
	shell.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var stdout, stderr strings.Builder
	shell.Stdout, shell.Stderr = &stdout, &stderr
	shell.WaitDelay = time.Second // should it leave anything running
	failed := shell.Run()
	outputs := strings.Split(stdout.String(), mark)[1:]
	for i, output := range outputs {
		_, outputs[i], _ = strings.Cut(output, "\n")
	}
	if failed != nil {
		last := len(outputs) - 1
		t.Fatalf("line %d: %v\n%s\n%s%s", g.commands[last].line, failed, g.commands[last].text, outputs[last], &stderr)
	}
	return outputs
}

// startGuideServer gives the command of the guides, on ports of its own, and returns
// what to put in the place of those of the guides. At the end it presses Ctrl-C.
func startGuideServer(t *testing.T) (replacements []string) {
	t.Helper()
	start := exec.Command("bash", "-c", "exec "+startCommand)
	start.Dir = repository
	start.Env = append(os.Environ(), "PARTNERKIT_API=localhost:0", "PARTNERKIT_APP=localhost:0",
		"PARTNERKIT_DB="+filepath.Join(t.TempDir(), "partnerkit.db"))
	start.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a terminal does: Ctrl-C is for all of them
	var stderr logtest.Buffer
	start.Stderr = &stderr
	out, err := start.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := start.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Kill(-start.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
		_ = start.Wait() // an interrupted go run exits with 1, regardless of the server's exit code
		if !strings.HasSuffix(stderr.String(), "msg=stopped\n") {
			t.Errorf("after Ctrl-C:\n%s", &stderr)
		}
	})
	var ready struct{ API, App string }
	line, _ := bufio.NewReader(out).ReadBytes('\n')
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("no ready line: %s", &stderr)
	}
	for port, host := range map[int]string{8080: ready.API, 8081: ready.App} {
		replacements = append(replacements, "localhost:"+strconv.Itoa(port), strings.TrimPrefix(host, "http://"))
	}
	return append(replacements, "9443", freePort(t))
}

// freePort is for what the guides serve themselves. It lies below the ports from which connections
// are opened: one of those could be taken by the time that the guide listens.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}
