//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
)

// soakVar names the variable with the duration of the soak, as in "2h".
const soakVar = "PARTNERKIT_SOAK"

// The most that the usage of the node that is never killed may grow between the warm-up
// and the end.
const (
	moreMemory      = 96 << 20
	moreDescriptors = 60
)

// renewEvery is how often the tokens of the load are replaced: they live for an hour.
const renewEvery = 30 * time.Minute

// TestSoakNodes runs the whole load on three nodes with PostgreSQL and Redis for a long
// time, with an endpoint that never responds, and kills one of two nodes every minute
// (every three seconds in the short form). No acknowledged operation is lost, no revoked
// token is accepted, and neither the node that survives nor the database grows without bound.
func TestSoakNodes(t *testing.T) {
	besideOthers(t)
	long, every := 6*time.Second, 3*time.Second
	if text := os.Getenv(soakVar); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		every = time.Minute
	}
	kills := proof.Begin(t, "Soak of three nodes, PostgreSQL", "kills")
	acts := proof.Begin(t, "Acknowledged acts of the soak", "acts")
	postgres, redis := newPostgres(t), newRedis(t)
	w := newFixture(t, kills, 3)
	w.addDeadEndpoint()
	w.pace = max(300*time.Millisecond, min(long/1000, 5*time.Second)) // all events are read again at the end
	w.flags = append(w.flags[:0], "-fixtures", w.writeFixtures(t), "-db", postgres.URL, "-redis", redis.URL)
	for i := range w.nodes {
		w.start(i)
	}
	w.begin()
	for _, business := range w.businesses {
		if _, ok := w.client("abandoned in "+business, nil).connect(w.abandoned, business); !ok {
			t.Fatal("the app whose endpoint is dead cannot be connected")
		}
	}

	began, renewed := time.Now(), time.Now()
	var warm servertest.Usage
	logged := began
	for round := 0; time.Since(began) < long; round++ {
		time.Sleep(every)
		w.killOnce(1 + round%2)
		if time.Since(renewed) > renewEvery {
			w.renew()
			renewed = time.Now()
		}
		if warm.RSS == 0 && time.Since(began) > long/4 {
			warm = w.heldBy(w.nodes[0])
		}
		if time.Since(logged) > long/12 {
			logged = time.Now()
			t.Logf("after %v: %v; %s", time.Since(began).Round(time.Second), w.heldBy(w.nodes[0]), w.deadRows(postgres))
		}
	}
	last := w.heldBy(w.nodes[0])
	rows := w.deadRows(postgres)
	if last.RSS > warm.RSS+moreMemory || last.Descriptors > warm.Descriptors+moreDescriptors {
		w.violation("the surviving node grew from %v to %v", warm, last)
	}
	w.end(true)
	w.report(kills, acts)
	kills.Notef("%v; the node that lived on after the warm-up: %v, at the end: %v; %s", long, warm, last, rows)
}

// addDeadEndpoint adds an app whose webhook points to a port where nothing listens.
func (w *fixture) addDeadEndpoint() {
	w.abandoned = w.newApp("abandoned", []string{"profile:read", "invoices:read"})
	w.apps = w.apps[:len(w.apps)-1] // its deliveries never arrive: no check looks for them
	w.abandoned.Webhooks = []seed.Webhook{{ID: "whk_abandoned", URL: "http://127.0.0.1:1/", Secret: hookSecret, Events: []string{"invoice.created"}}}
}

// killOnce kills the node at a place, starts it again and checks.
func (w *fixture) killOnce(at int) {
	w.Helper()
	w.kill(at)
	w.took = append(w.took, w.firstResponse(w.start(at)))
	w.check()
	w.proof.Tried(1)
	if w.Failed() {
		w.Fatal(w.logTail())
	}
}

// renew connects every app of the feeds and writers again, for tokens that do not expire
// soon.
func (w *fixture) renew() {
	w.Helper()
	w.resting.Lock()
	defer w.resting.Unlock()
	c := w.client("renew", nil)
	for _, f := range w.feeds {
		t, ok := c.connect(f.app, f.business)
		if !ok {
			w.Fatal("cannot connect again")
		}
		f.token = t.Access
		for _, one := range w.load.writers {
			if one.as == f.app && one.business == f.business {
				one.access = t.Access
			}
		}
	}
}

// heldBy returns the resources of a node.
func (w *fixture) heldBy(n *node) servertest.Usage {
	w.Helper()
	c := w.client("usage", nil)
	defer c.http.CloseIdleConnections()
	held, err := n.Usage(c.http)
	if err != nil {
		w.Fatal(err)
	}
	return held
}

// deadRows checks that autovacuum keeps up with every table, and describes the worst table.
func (w *fixture) deadRows(postgres *service) string {
	w.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, postgres.URL)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close(ctx)
	var table string
	var dead, live int64
	err = conn.QueryRow(ctx, `SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables
		ORDER BY n_dead_tup - n_live_tup DESC LIMIT 1`).Scan(&table, &dead, &live)
	if err != nil {
		w.Fatal(err)
	}
	if dead > live+100_000 {
		w.violation("%s has %d dead rows beside %d live ones", table, dead, live)
	}
	return fmt.Sprintf("most dead rows: %d in %s, beside %d live ones", dead, table, live)
}
