//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// service is PostgreSQL or Redis, for one test alone, on a socket in a folder of its
// own.
type service struct {
	t   *testing.T
	URL string
	cmd *exec.Cmd
	run func() *exec.Cmd
	up  func() bool // it responds
}

func (s *service) start() {
	s.t.Helper()
	s.cmd = s.run()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience / 4); !s.up(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s does not answer", s.cmd.Path)
		}
	}
}

// stop sends a signal to the service and returns when it has exited.
func (s *service) stop(signal syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Error(err)
	}
	_ = s.cmd.Wait()
}

// newRedis starts a Redis without persistence.
func newRedis(t *testing.T) *service {
	t.Helper()
	testenv.Programs(t, "redis-server", "redis-cli")
	socket := filepath.Join(shortDir(t), "redis")
	s := &service{t: t, URL: "unix://" + socket}
	s.run = func() *exec.Cmd {
		return command(nil, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", filepath.Dir(socket))
	}
	s.up = func() bool { return command(nil, "redis-cli", "-s", socket, "ping").Run() == nil }
	s.start()
	t.Cleanup(func() { s.stop(syscall.SIGKILL) })
	return s
}

// newPostgres starts a PostgreSQL with an empty database.
func newPostgres(t *testing.T) *service {
	t.Helper()
	programs := postgresPrograms(t)
	dir := shortDir(t)
	as := owner(t, dir)
	data := filepath.Join(dir, "data")
	if out, err := command(as, filepath.Join(programs, "initdb"), "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s := &service{t: t, URL: "postgres:///postgres?user=postgres&host=" + dir}
	s.run = func() *exec.Cmd {
		return command(as, filepath.Join(programs, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=")
	}
	s.up = func() bool {
		return command(as, filepath.Join(programs, "pg_isready"), "-q", "-h", dir).Run() == nil
	}
	s.start()
	t.Cleanup(func() { s.stop(syscall.SIGQUIT) })
	return s
}

// command returns a command that runs as a user; nil is the current user.
func command(as *syscall.Credential, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // no foreign words
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// shortDir returns a folder whose path is short enough for the path of a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// owner returns the user that PostgreSQL runs as, because it refuses to run as root, and
// gives the folder to that user.
func owner(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		t.Skipf("PostgreSQL does not run as root, and there is no user for it: %v", err)
	}
	uid, _ := strconv.ParseUint(who.Uid, 10, 32)
	gid, _ := strconv.ParseUint(who.Gid, 10, 32)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the servers run as another user
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// postgresPrograms is the folder of the newest PostgreSQL.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	newest, found := 0, ""
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	for _, path := range dirs {
		version, _ := strconv.Atoi(strings.Split(path, "/")[4])
		if version >= newest {
			newest, found = version, filepath.Dir(path)
		}
	}
	if found == "" {
		testenv.Programs(t, "initdb") // it reports the missing program
	}
	return found
}

// restartOften stops a service with each signal in turn while the clients continue, and
// starts it again after a pause.
func (w *fixture) restartOften(s *service, rounds int, away time.Duration, signals ...syscall.Signal) {
	w.Helper()
	for i := range rounds {
		time.Sleep(300 * time.Millisecond)
		s.stop(signals[i%len(signals)])
		time.Sleep(away)
		s.start()
		w.recover()
		w.check()
		w.proof.Tried(1)
		if w.Failed() {
			w.Fatal(w.logTail())
		}
	}
}

// recover waits until every node accepts writes again without having been restarted.
func (w *fixture) recover() {
	w.Helper()
	c := w.client("recover", nil)
	for _, n := range w.nodes {
		for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			if a := c.try(call{method: "POST", path: "/dev/sessions", to: n, json: map[string]string{"userId": theUser, "businessId": w.businesses[0]}}); a.isOK() {
				break
			}
			if time.Now().After(deadline) {
				w.Fatal(fmt.Sprint(n.API, " does not recover", w.logTail()))
			}
		}
	}
}
