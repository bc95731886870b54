//go:build linux

package crash_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/seed"
)

// fixture is one run on one database: the servers, their clients and the responses that
// the clients got.
type fixture struct {
	*testing.T
	*ledger
	seed       uint64
	proof      *proof.Proof
	businesses []string
	apps       []*app
	audit      *app
	writers    []*app
	keepers    []*app
	mover      *app // is uninstalled and comes back
	devices    *app
	console    *app
	abandoned  *app // its endpoint never responds; nil in most runs
	receiver   *receiver
	feeds      []*feed
	log        string
	flags      []string // of every server

	mu      sync.Mutex
	nodes   []*node // nil: it is down
	changed chan struct{}
	life    atomic.Int64 // counts restarts

	over     chan struct{} // closed: no client starts an operation
	work     sync.WaitGroup
	resting  sync.RWMutex  // read-locked by clients, locked by checks
	pace     time.Duration // of each writer and keeper: the pause between two acts, at most
	mayFault atomic.Bool

	limited, pending, faults atomic.Int64
	took                     []time.Duration // from start to first response
	load                     load
	deadline                 time.Time // for all that is awaited at the end
}

const (
	businesses = 8
	writers    = 3 // apps, in each business
	keepers    = 6
)

// newFixture prepares a run with the given number of nodes. It does not start them.
func newFixture(t *testing.T, p *proof.Proof, nodes int) *fixture {
	t.Helper()
	w := &fixture{
		T: t, proof: p, ledger: newLedger(), seed: seedOf(t), receiver: newReceiver(t), log: filepath.Join(t.TempDir(), "log"),
		nodes: make([]*node, nodes), changed: make(chan struct{}), over: make(chan struct{}),
	}
	for i := range businesses {
		w.businesses = append(w.businesses, fmt.Sprintf("biz_%d", i))
	}
	reading := []string{"profile:read", "events:read", "invoices:read", "customers:read"}
	writing := append([]string{"invoices:write", "customers:write"}, reading...)
	w.audit = w.newApp("audit", writing, []string{"steady", "invoice.created", "invoice.paid"}, []string{flaky, "customer.created"})
	for i := range writers {
		a := w.newApp(fmt.Sprintf("writer%d", i), writing, []string{fmt.Sprintf("own%d", i), "app_data.updated"})
		a.AppDataFields = []seed.Field{{ResourceType: "invoice", Key: "note", Type: "TEXT"}}
		w.writers = append(w.writers, a)
	}
	for i := range keepers {
		w.keepers = append(w.keepers, w.newApp(fmt.Sprintf("keeper%d", i), []string{"profile:read"}))
	}
	w.mover = w.newApp("mover", reading, []string{"moves", "app.installed", "app.uninstalled"})
	w.devices = w.newApp("devices", reading)
	w.console = w.newApp("console", reading)
	w.flags = []string{"-fixtures", w.writeFixtures(t)}
	t.Cleanup(func() {
		for _, n := range w.nodes {
			if n != nil {
				n.kill()
			}
		}
	})
	return w
}

// start starts the node at a place.
func (w *fixture) start(at int) *node {
	w.Helper()
	n, err := launch(fmt.Sprint(w.log, at), w.flags...)
	if err != nil {
		w.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life.Add(1) == 1 { // the names that all of them have from now on
		w.flags = append(w.flags, "-api-url", n.API, "-app-url", n.App)
	}
	w.nodes[at] = n
	close(w.changed)
	w.changed = make(chan struct{})
	return n
}

// kill kills the node at a place and returns when it is gone.
func (w *fixture) kill(at int) {
	w.mu.Lock()
	n := w.nodes[at]
	w.nodes[at] = nil
	w.mu.Unlock()
	n.kill()
}

// pick waits for a node that should respond, and returns it. It returns nil if the run
// ends before.
func (w *fixture) pick(c *client) *node {
	for {
		w.mu.Lock()
		var up []*node
		for _, n := range w.nodes {
			if n != nil {
				up = append(up, n)
			}
		}
		changed := w.changed
		w.mu.Unlock()
		if len(up) > 0 {
			return up[c.rng.IntN(len(up))]
		}
		select {
		case <-changed:
		case <-c.until:
			return nil
		}
	}
}

// random returns a random source for each name, derived from the seed of the run.
func (w *fixture) random(name string) *rand.Rand {
	sum := w.seed
	for _, b := range []byte(name) {
		sum = sum*1099511628211 + uint64(b)
	}
	return rand.New(rand.NewPCG(w.seed, sum)) //nolint:gosec // a load, not a secret
}

// let runs act with a client of its own, repeatedly, until the run is over.
func (w *fixture) let(name string, pace time.Duration, act func(c *client)) {
	c := w.client(name, w.over)
	w.work.Go(func() {
		for !c.isOver() {
			w.resting.RLock()
			act(c)
			w.resting.RUnlock()
			c.pause(time.Duration(c.rng.Int64N(int64(pace))))
		}
	})
}

func (w *fixture) violation(format string, args ...any) {
	w.proof.Violation(format, args...)
}
