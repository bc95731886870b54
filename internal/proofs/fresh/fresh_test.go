//go:build linux

package fresh_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// patience is how long a build without a cache may take.
const patience = 15 * time.Minute

func onlyInProofs(t *testing.T) {
	t.Helper()
	if !testenv.Proving() {
		t.Skip("builds everything without a cache: set " + testenv.ProveVar + " to run it")
	}
}

// machine is an environment with a few programs, an empty home and empty caches.
type machine struct {
	*testing.T
	home string
	env  []string
}

func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	m := &machine{T: t, home: t.TempDir()}
	bin := filepath.Join(m.home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil { //nolint:gosec // a folder of programs
		t.Fatal(err)
	}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.env = []string{"HOME=" + m.home, "PATH=" + bin, "GOFLAGS=-modcacherw"}
	for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB"} { // how modules are reached from here
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		m.env = append(m.env, name+"="+strings.TrimSpace(string(value)))
	}
	return m
}

// command prepares a command of the machine.
func (m *machine) command(dir, name string, args ...string) *exec.Cmd {
	m.Helper()
	cmd := exec.CommandContext(m.Context(), filepath.Join(m.home, "bin", name), args...) //nolint:gosec // our own words
	cmd.Dir, cmd.Env = dir, m.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// do runs a command and returns what it prints.
func (m *machine) do(dir, name string, args ...string) string {
	m.Helper()
	cmd := m.command(dir, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// clone clones the repository into a folder of this name.
func (m *machine) clone(name string) string {
	m.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		m.Fatal(err)
	}
	to := filepath.Join(m.home, name)
	m.do(m.home, "git", "-c", "safe.directory=*", "clone", "-q", root, to)
	return to
}

var block = regexp.MustCompile("(?s)```(sh|text)\n(.*?)```")

// The README's first commands, run as they stand there, print what it says.
func TestReadme(t *testing.T) {
	onlyInProofs(t)
	m := newMachine(t, "go", "git", "curl")
	p := proof.Begin(t, "README's commands on a fresh machine", "commands")
	dir := m.clone("partnerkit")
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := block.FindAllStringSubmatch(string(readme), 3)
	if len(blocks) != 3 || blocks[0][1] != "sh" || blocks[1][1] != "sh" || blocks[2][1] != "text" {
		t.Fatalf("the README does not begin with a server, its clients and what they print: %q", blocks)
	}
	began := time.Now()
	m.serve(dir, strings.Fields(blocks[0][2]))
	p.Tried(1)
	p.Notef("the server answers %v after it was started, with everything downloaded and built", time.Since(began).Round(time.Second))
	wants := strings.Split(strings.TrimSpace(blocks[2][2]), "\n")
	for i, line := range strings.Split(strings.TrimSpace(blocks[1][2]), "\n") {
		words := strings.Fields(line)
		got := m.do(dir, words[0], words[1:]...)
		p.Tried(1)
		want := "^" + strings.ReplaceAll(regexp.QuoteMeta(wants[i]), "…", ".*") + `\s*$`
		if !regexp.MustCompile(want).MatchString(got) {
			p.Violation("%s prints %s, and the README says %s", line, got, wants[i])
		}
	}
}

// serve starts the server and waits until it listens.
func (m *machine) serve(dir string, command []string) {
	m.Helper()
	const address = "localhost:8080"
	if responses(m.Context(), address) {
		m.Fatal("something else listens on " + address)
	}
	cmd := m.command(dir, command[0], command[1:]...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // go run and the server
		<-ended
	})
	for deadline := time.Now().Add(patience); !responses(m.Context(), address); time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			m.Fatalf("the server ended: %v\n%s", err, log.Bytes())
		default:
		}
		if time.Now().After(deadline) {
			m.Fatal("the server does not listen on " + address)
		}
	}
}

func responses(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// The same commit gives the same files of a release, byte for byte, wherever they are built.
func TestReproducible(t *testing.T) {
	onlyInProofs(t)
	p := proof.Begin(t, "Builds of a release", "builds")
	var sums []string
	for _, name := range []string{"one", "another/place"} {
		m := newMachine(t, "go", "git")
		dir := m.clone(name)
		sums = append(sums, m.do(dir, "go", "run", "./internal/release", "build", "v0.1.0", "built", "linux/amd64"))
		p.Tried(1)
	}
	if sums[0] != sums[1] {
		p.Violation("two builds differ:\n%s\n%s", sums[0], sums[1])
	}
	p.Notef("%s", strings.Join(strings.Fields(sums[0]), " "))
}
