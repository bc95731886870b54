//go:build linux

package crash_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// seedVar names the variable with the seed of a run. The same seed repeats the choices of
// a run, but not its timing.
const seedVar = "PARTNERKIT_CRASH_SEED"

func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		seed = rand.Uint64() //nolint:gosec // a load, not a secret
	}
	t.Logf("%s=%d", seedVar, seed)
	return seed
}

// actsPerKill is how many acts are acknowledged between two kills, on average.
const actsPerKill = 110

// startBar is how long 99 of 100 servers may take from their start to their first response.
// Other proofs run on the same cores, so that single starts take longer.
const startBar = time.Second

// The only server is killed with kill -9, repeatedly, while all clients use it. DLV-05,
// IDEM-02, REF-07, CODE-01, REV-06, TX-04, EVT-02: an acknowledged operation is present
// completely and once. Any other operation is present completely and once, or not at all.
func TestKillsSQLite(t *testing.T) {
	besideOthers(t)
	kills := proof.Begin(t, "Kills under load, SQLite", "kills")
	acts := proof.Begin(t, "Acknowledged acts among kills, SQLite", "acts")
	w := newFixture(t, kills, 1)
	w.pace = 20 * time.Millisecond
	w.flags = append(w.flags, "-db", filepath.Join(t.TempDir(), "crash.db"))
	w.start(0)
	w.begin()
	w.killOften(testenv.Rounds(5, 700))
	w.end(testenv.Proving())
	w.report(kills, acts)
}

// killOften kills a node at a random moment, starts it again and checks, the given number
// of times.
func (w *fixture) killOften(times int) {
	w.Helper()
	rng := w.random("kills")
	at := 0
	for range times {
		if rng.IntN(20) == 0 { // else the same: the others live long enough to take over its work
			at = rng.IntN(len(w.nodes))
		}
		w.waitForActs(rng.IntN(2 * actsPerKill))
		time.Sleep(time.Duration(rng.Int64N(int64(5 * time.Millisecond))))
		w.kill(at)
		n := w.start(at)
		w.took = append(w.took, w.firstResponse(n))
		w.check()
		w.proof.Tried(1)
		if w.Failed() {
			w.Fatal(w.logTail())
		}
	}
}

// waitForActs waits until n more operations were acknowledged.
func (w *fixture) waitForActs(n int) {
	w.Helper()
	deadline := time.Now().Add(patience)
	for n += w.total(); w.total() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatal("the load has stopped", w.logTail())
		}
	}
}

// firstResponse waits until a node responds to a call that needs its database, and returns
// the time from its start to the response.
func (w *fixture) firstResponse(n *node) time.Duration {
	w.Helper()
	c := w.client("first", nil)
	defer c.http.CloseIdleConnections()
	f := w.feeds[0]
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if a := c.try(call{method: "GET", path: "/profile", token: f.token, to: n}); a.isOK() || a.isLimited() {
			return time.Since(n.Began)
		}
	}
	w.Fatal("it does not answer", w.logTail())
	return 0
}

// report prints a summary of the run.
func (w *fixture) report(kills, acts *proof.Proof) {
	w.Helper()
	slices.Sort(w.took)
	last := len(w.took) - 1
	median, most, worst := w.took[last/2], w.took[last*99/100], w.took[last]
	kills.Notef("start to first answer: median %v, 99 of 100 %v, worst %v; seed %d",
		median.Round(time.Millisecond), most.Round(time.Millisecond), worst.Round(time.Millisecond), w.seed)
	if testenv.Proving() && most >= startBar {
		w.violation("1 of 100 servers took %v or more to its first answer, want less than %v", most, startBar)
	}
	acts.Tried(w.total())
	acts.Notef("%d unanswered, %d deliveries for %d events", w.pending.Load(), w.receiver.posts.Load(), w.countEvents())
	kinds := make([]string, 0, len(w.acks))
	for kind, n := range w.acks {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	w.Logf("%s; %d limited, %d faults", strings.Join(kinds, ", "), w.limited.Load(), w.faults.Load())
}

func (w *fixture) countEvents() (n int) {
	for _, f := range w.feeds {
		n += len(f.events)
	}
	return n
}

// logTail returns the last errors in the logs of the servers.
func (w *fixture) logTail() string {
	tail := ""
	for i := range w.nodes {
		data, _ := os.ReadFile(fmt.Sprint(w.log, i))
		lines := slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool {
			return !strings.Contains(line, "level=ERROR") && !strings.Contains(line, "panic")
		})
		tail += "\n" + strings.Join(lines[max(0, len(lines)-10):], "\n")
	}
	return tail
}
