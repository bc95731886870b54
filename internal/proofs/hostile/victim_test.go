//go:build linux

package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/seed"
)

// victim is the reference server in a separate process.
type victim struct {
	testing.TB
	*servertest.Process
}

// startVictim starts the server with the given data and environment variables, and stops
// it at the end of the test. PARTNERKIT_DB is a SQLite file unless environment sets it.
func startVictim(t testing.TB, data seed.Data, environment ...string) *victim {
	t.Helper()
	folder := t.TempDir()
	p, err := servertest.Config{
		Flags:   []string{"-api", "127.0.0.1:0", "-app", "127.0.0.1:0", "-metrics", "127.0.0.1:0", "-fixtures", servertest.WriteFixtures(t, data)},
		Env:     append([]string{"PARTNERKIT_DB=" + filepath.Join(folder, "books.db")}, environment...),
		LogFile: filepath.Join(folder, "log"),
	}.Launch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("the server: %v\n%s", err, p.Log())
		}
	})
	return &victim{t, p}
}

// Log is that of the test, not that of the process.
func (v *victim) Log(args ...any) { v.Helper(); v.TB.Log(args...) }

// log returns the log of the server.
func (v *victim) log() string { return v.Process.Log() }

// usage returns the resources of the process.
func (v *victim) usage() servertest.Usage {
	v.Helper()
	client := servertest.NewClient()
	defer client.CloseIdleConnections()
	u, err := v.Usage(client)
	if err != nil {
		v.Fatalf("%v\n%s", err, v.log())
	}
	return u
}

// peakMemory is the most memory that the process has held, in bytes.
func (v *victim) peakMemory() int64 {
	v.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.PID()))
	if err != nil {
		v.Fatalf("the server is gone: %v\n%s", err, v.log())
	}
	match := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if match == nil {
		v.Fatalf("no peak in %s", text)
	}
	n, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		v.Fatal(err)
	}
	return n << 10
}

// settled waits until the usage of the process is about what it was before, and returns
// the usage.
func (v *victim) settled(before servertest.Usage) servertest.Usage {
	v.Helper()
	var now servertest.Usage
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		now = v.usage()
		if now.Goroutines <= before.Goroutines+slackGoroutines && now.Descriptors <= before.Descriptors+slackDescriptors {
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
