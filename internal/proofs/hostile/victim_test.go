//go:build linux

package hostile_test

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
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// victim is the reference server in a separate process.
type victim struct {
	testing.TB
	API, App string // the two hosts
	Metrics  string
	process  *os.Process
	logFile  string
}

// startVictim starts the server with the given data and environment variables, and stops
// it at the end of the test. PARTNERKIT_DB is a SQLite file unless environment sets it.
func startVictim(t testing.TB, data fixtures.Data, environment ...string) *victim {
	t.Helper()
	program, err := servertest.Program()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "fixtures.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	v := &victim{TB: t, logFile: filepath.Join(folder, "log")}
	log, err := os.Create(v.logFile)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program,
		"-api", "127.0.0.1:0", "-app", "127.0.0.1:0", "-metrics", "127.0.0.1:0", "-fixtures", filepath.Join(folder, "fixtures.json"))
	command.Env = append(append(os.Environ(), "PARTNERKIT_DB="+filepath.Join(folder, "books.db")), environment...)
	command.Stderr = log
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	v.process = command.Process
	t.Cleanup(func() {
		_ = v.process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("the server: %v\n%s", err, v.log())
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, v) != nil {
		t.Fatalf("ready line %q: %v\n%s", line, err, v.log())
	}
	return v
}

// log returns the log of the server.
func (v *victim) log() string {
	text, err := os.ReadFile(v.logFile)
	if err != nil {
		v.Fatal(err)
	}
	return string(text)
}

// usage is the resources of the process.
type usage struct {
	rss, heap       int64 // bytes
	goroutines, fds int64
}

func (u usage) String() string {
	return fmt.Sprintf("RSS %d MiB, heap %d MiB, %d goroutines, %d descriptors", u.rss>>20, u.heap>>20, u.goroutines, u.fds)
}

// usage reads /proc and the metrics.
func (v *victim) usage() usage {
	v.Helper()
	client := newClient()
	defer client.CloseIdleConnections()
	res, err := client.Get(v.Metrics)
	if err != nil {
		v.Fatal(err)
	}
	defer res.Body.Close()
	u := usage{rss: v.status("VmRSS")}
	named := map[string]*int64{"go_memstats_heap_inuse_bytes": &u.heap, "go_goroutines": &u.goroutines, "process_open_fds": &u.fds}
	for in := bufio.NewScanner(res.Body); in.Scan(); {
		name, value, _ := strings.Cut(in.Text(), " ")
		if into := named[name]; into != nil {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				v.Fatal(err)
			}
			*into = int64(n)
		}
	}
	return u
}

// status is a size of /proc/PID/status, in bytes.
func (v *victim) status(name string) int64 {
	v.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.process.Pid))
	if err != nil {
		v.Fatalf("the server is gone: %v\n%s", err, v.log())
	}
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if match == nil {
		v.Fatalf("no %s", name)
	}
	n, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		v.Fatal(err)
	}
	return n << 10
}

// settled waits until the usage of the process is about what it was before, and returns
// the usage.
func (v *victim) settled(before usage) usage {
	v.Helper()
	var now usage
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		now = v.usage()
		if now.goroutines <= before.goroutines+slackGoroutines && now.fds <= before.fds+slackDescriptors {
			return now
		}
		if time.Now().After(end) {
			v.Errorf("it does not let go: before %v, now %v", before, now)
			return now
		}
	}
}

// The variation in normal operation: database connections, idle connections to receivers.
const slackGoroutines, slackDescriptors = 40, 30

// addresses counts the loopback addresses that clients come from: limits are counted by
// address.
var addresses atomic.Uint32

func newDialer() *net.Dialer {
	n := addresses.Add(1)
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 2+byte(n>>16), byte(n>>8), byte(n))}, Timeout: 20 * time.Second}
}

// newClient returns a client with its own address.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       60 * time.Second,
		Transport:     &http.Transport{DialContext: newDialer().DialContext, MaxIdleConnsPerHost: 4},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
