package idle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is the reference server, built.
type program struct {
	path, key string
}

func build(dir string) (program, error) {
	p := program{path: filepath.Join(dir, "server"), key: newKey()}
	found, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/partnerkit/partnerkit").Output()
	if err != nil {
		return p, fmt.Errorf("find the module: %w", err)
	}
	compile := exec.Command("go", "build", "-buildvcs=false", "-o", p.path, "./examples/server")
	compile.Dir = strings.TrimSpace(string(found)) // with the versions that it has there
	if out, err := compile.CombinedOutput(); err != nil {
		return p, fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return p, nil
}

// server is a process.
type server struct {
	command   *exec.Cmd
	log       *bytes.Buffer
	responded time.Duration // after its start
}

// patience is how long a start may take at all.
const patience = 30 * time.Second

// start starts a server and polls it until it reports that its database is available. The
// server does not run in development mode: no request can move its clock.
func (p program) start(db string) (*server, error) {
	api, err := free()
	if err != nil {
		return nil, err
	}
	app, err := free()
	if err != nil {
		return nil, err
	}
	s := &server{log: &bytes.Buffer{}}
	s.command = exec.Command(p.path, "-api", api, "-app", app, "-db", db, "-key", p.key, "-dev=false",
		"-api-url", "https://api.example.com", "-app-url", "https://app.example.com")
	s.command.Stderr = s.log
	begun := time.Now()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for time.Since(begun) < patience {
		if err = ready(client, "http://"+api+"/readyz"); err == nil {
			s.responded = time.Since(begun)
			return s, nil
		}
		time.Sleep(500 * time.Microsecond)
	}
	stopped := s.stop()
	return nil, fmt.Errorf("the server does not answer: %w\n%s", errors.Join(err, stopped), s.log)
}

// free returns an address without a listener.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func ready(client *http.Client, address string) error {
	got, err := client.Get(address)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", got.StatusCode, body)
	}
	return err
}

// stop asks the process to end, and waits until it has.
func (s *server) stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, s.log)
	}
	return nil
}

// used is what a process took.
type used struct {
	memory int64   // resident, in bytes, at the end
	cpu    float64 // cores
}

// over watches the process for a while, after another.
func (s *server) over(after, span time.Duration) (used, error) {
	time.Sleep(after)
	begun := time.Now()
	before, err := s.ticks()
	if err != nil {
		return used{}, err
	}
	time.Sleep(span)
	now, err := s.ticks()
	if err != nil {
		return used{}, err
	}
	memory, err := s.resident()
	return used{memory, float64(now-before) / ticksPerSecond / time.Since(begun).Seconds()}, err
}

// ticksPerSecond is what Linux counts processor time in.
const ticksPerSecond = 100

// ticks returns the processor time of the process so far.
func (s *server) ticks() (int64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat %q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return user + system, err
}

func (s *server) resident() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kB, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return kB << 10, err
		}
	}
	return 0, errors.New("the system does not say how much memory the process has")
}
