//go:build linux

package crash_test

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// The same with two nodes on PostgreSQL and Redis, where one node is killed at a time.
// Then PostgreSQL is restarted under load, by a clean shutdown and by a crash, and then
// Redis. The nodes keep running.
func TestKillsPostgres(t *testing.T) {
	besideOthers(t)
	kills := proof.Begin(t, "Kills under load, PostgreSQL, one of two nodes", "kills")
	acts := proof.Begin(t, "Acknowledged acts among kills, PostgreSQL", "acts")
	databases := proof.Begin(t, "PostgreSQL restarts under load", "restarts")
	limits := proof.Begin(t, "Redis restarts under load", "restarts")
	postgres, redis := newPostgres(t), newRedis(t)
	w := newFixture(t, kills, 2)
	w.pace = 300 * time.Millisecond // 300 calls a minute for each app and business, whichever node
	w.flags = append(w.flags, "-db", postgres.URL, "-redis", redis.URL)
	w.start(0)
	w.start(1)
	w.begin()
	w.killOften(testenv.Rounds(5, 300))

	w.proof = databases
	w.mayFault.Store(true)
	before := w.faults.Load()
	w.restartOften(postgres, testenv.Rounds(2, 20), 200*time.Millisecond, syscall.SIGINT, syscall.SIGQUIT) // fast, immediate
	w.mayFault.Store(false)
	databases.Notef("half of them crashes; %d answers were 5xx, all in shape", w.faults.Load()-before)

	w.proof = limits
	w.restartOften(redis, testenv.Rounds(1, 10), 500*time.Millisecond, syscall.SIGKILL)
	redis.stop(syscall.SIGKILL)
	w.countAlone()
	redis.start()
	w.countTogether()
	limits.Notef("no answer was a 5xx")

	w.proof = kills
	w.end(testenv.Proving())
	w.report(kills, acts)
}

// OPER-01: the same through a PgBouncer in transaction mode. It keeps running while nodes are
// killed and PostgreSQL is restarted behind it. Notifications go past it. Deliveries are in a
// table for each day (OPER-05).
func TestKillsPgBouncer(t *testing.T) {
	besideOthers(t)
	kills := proof.Begin(t, "Kills under load, PgBouncer, one of two nodes", "kills")
	acts := proof.Begin(t, "Acknowledged acts among kills, PgBouncer", "acts")
	databases := proof.Begin(t, "PostgreSQL restarts behind PgBouncer", "restarts")
	postgres, redis := newPostgres(t), newRedis(t)
	pooler := testenv.StartPgBouncer(t, postgres.URL, "server_login_retry = 1")
	w := newFixture(t, kills, 2)
	w.pace = 300 * time.Millisecond
	w.flags = append(w.flags, "-db", pooler.URL, "-db-direct", postgres.URL, "-partitions", "-redis", redis.URL)
	w.start(0)
	w.start(1)
	w.begin()
	w.killOften(testenv.Rounds(2, 60))

	w.proof = databases
	w.mayFault.Store(true)
	w.restartOften(postgres, testenv.Rounds(1, 6), 200*time.Millisecond, syscall.SIGQUIT, syscall.SIGINT) // immediate, fast
	w.mayFault.Store(false)

	w.proof = kills
	w.end(testenv.Proving())
	w.report(kills, acts)
}

// countAlone checks that each node counts on its own while Redis is down: calls are
// allowed up to the limit and not above it (LIM-01).
func (w *fixture) countAlone() {
	w.Helper()
	c := w.client("alone", nil)
	for _, n := range w.nodes {
		t, ok := c.connect(w.devices, w.businesses[2])
		if !ok {
			w.Fatal("cannot connect")
		}
		passed := 0
		for range 610 { // a window may end meanwhile
			a := c.try(call{method: "GET", path: "/profile", token: t.Access, to: n})
			if a.isLimited() {
				break
			}
			if !a.isOK() {
				w.violation("without Redis: %v", a)
			}
			passed++
		}
		if passed < 300 || passed > 600 {
			w.violation("without Redis a node lets %d calls pass, want 300 a minute", passed)
		}
		if text, err := n.ReadMetrics(c.http); err != nil || !strings.Contains(text, "partnerkit_ratelimit_redis_unavailable_total") {
			w.violation("the metrics do not tell that Redis was away: %v, %.300s", err, text)
		}
	}
}

// countTogether checks that the nodes share their counts again.
func (w *fixture) countTogether() {
	w.Helper()
	c := w.client("together", nil)
	t, ok := c.connect(w.devices, w.businesses[3])
	if !ok {
		w.Fatal("cannot connect")
	}
	left := func(n *node) int {
		a := c.try(call{method: "GET", path: "/profile", token: t.Access, to: n})
		remaining, err := strconv.Atoi(a.Header.Get("RateLimit-Remaining"))
		if err != nil || a.Status != http.StatusOK {
			w.Fatalf("with Redis again: %v %v", a, a.Header)
		}
		return remaining
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		first := left(w.nodes[0])
		if second := left(w.nodes[1]); second == first-1 {
			return
		}
		if time.Now().After(deadline) {
			w.violation("with Redis again the nodes do not count together")
			return
		}
	}
}
