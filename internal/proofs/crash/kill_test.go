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

// seedVar repeats the choices of a run, though not its timing.
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

// startBar is how long a server may take from its start to its first answer.
const startBar = time.Second

// The only server is killed with kill -9, again and again, while everybody uses it.
// DLV-05, IDEM-02, REF-07, CODE-01, REV-06, TX-04, EVT-02: what was acknowledged is
// there, whole and once; what was not is there as a whole, once, or not at all.
func TestKillsSQLite(t *testing.T) {
	besideOthers(t)
	kills := proof.Begin(t, "Kills under load, SQLite", "kills")
	acts := proof.Begin(t, "Acknowledged acts among kills, SQLite", "acts")
	w := newWorld(t, kills, 1)
	w.pace = 20 * time.Millisecond
	w.flags = append(w.flags, "-db", filepath.Join(t.TempDir(), "crash.db"))
	w.start(0)
	w.begin()
	w.killOften(testenv.Rounds(5, 700))
	w.end(testenv.Proving())
	w.report(kills, acts)
}

// killOften kills a node at a random moment, starts it again and judges, so many
// times.
func (w *world) killOften(times int) {
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
		w.took = append(w.took, w.firstAnswer(n))
		w.judge()
		w.proof.Tried(1)
		if w.Failed() {
			w.Fatal(w.logTail())
		}
	}
}

// waitForActs waits until so many more were acknowledged.
func (w *world) waitForActs(n int) {
	w.Helper()
	deadline := time.Now().Add(patience)
	for n += w.total(); w.total() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatal("nobody acts any more", w.logTail())
		}
	}
}

// firstAnswer waits until a node answers a call that needs its database, and returns
// how long that took from its start.
func (w *world) firstAnswer(n *node) time.Duration {
	w.Helper()
	c := w.client("first", nil)
	defer c.http.CloseIdleConnections()
	f := w.feeds[0]
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if a := c.try(call{method: "GET", path: "/profile", token: f.token, to: n}); a.isOK() || a.isLimited() {
			return time.Since(n.began)
		}
	}
	w.Fatal("it does not answer", w.logTail())
	return 0
}

// report prints what there was.
func (w *world) report(kills, acts *proof.Proof) {
	w.Helper()
	slices.Sort(w.took)
	worst := w.took[len(w.took)-1]
	kills.Notef("start to first answer: median %v, worst %v; seed %d", w.took[len(w.took)/2].Round(time.Millisecond), worst.Round(time.Millisecond), w.seed)
	if testenv.Proving() && worst >= startBar {
		w.violation("a server took %v to its first answer, want less than %v", worst, startBar)
	}
	acts.Tried(w.total())
	acts.Notef("%d unanswered, %d deliveries for %d events", w.unanswered.Load(), w.receiver.posts.Load(), w.countEvents())
	kinds := make([]string, 0, len(w.acks))
	for kind, n := range w.acks {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	w.Logf("%s; %d limited, %d faults", strings.Join(kinds, ", "), w.limited.Load(), w.faults.Load())
}

func (w *world) countEvents() (n int) {
	for _, f := range w.feeds {
		n += len(f.events)
	}
	return n
}

// logTail is what the servers complained about last.
func (w *world) logTail() string {
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
