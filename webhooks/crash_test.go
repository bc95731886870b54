//go:build unix

package webhooks_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testenv"
)

// patience is how long to wait before something counts as hung. It is shorter than the
// minute between the searches of each loop, which would find any work that the loop missed.
const patience = 45 * time.Second

// crashLease returns the lease of the processes. The database must respond within a part of
// it, which takes longer where many tests share the machine.
func crashLease() time.Duration {
	if testenv.Proving() {
		return 3 * time.Second
	}
	return 6 * time.Second
}

// DLV-04, DLV-05: processes that record, plan and send under load are killed with kill -9
// at any moment: on SQLite the only one, on PostgreSQL one of two, at random. Each is
// replaced at once, and sometimes the next is killed while the work is still being taken
// over. This process receives the webhooks. It checks what arrived, what the others
// reported before their end, and finally the database:
//
//   - Every event that was committed has reached every endpoint that subscribes to
//     it, with a 2xx, and none that was rolled back has reached any.
//   - No retry was sent before its time by the platform's clock.
//   - There are at most as many duplicates as deliveries were in flight at a kill. A
//     duplicate is a post beyond those in the log of attempts. In flight at a kill is
//     what the killed process had posted without having said that the outcome is
//     recorded, which it says as soon as the commit has answered. Each delivery is
//     counted by itself: what was in flight of one excuses no other.
//   - Recovery is printed: how long until every endpoint that was owed something at
//     a kill has got the first of it.
//
// On PostgreSQL a process is also stopped for longer than its lease, and continues.
// The outcomes of what it sent without the lease are rejected, and count as if the
// process had been killed.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		c := newCrash(t, crashHost{File: filepath.Join(t.TempDir(), "host.db"), Pause: 20 * time.Millisecond})
		// No process can deliver before the next process is started.
		c.from = func(_ time.Time, next *crashNode) time.Time { return next.started }
		c.bar, c.between = 2*time.Second, 150*time.Millisecond
		c.run(1, testenv.Rounds(10, 300), 0)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		_, schema := testenv.Postgres(t)
		c := newCrash(t, crashHost{Schema: schema, Pause: 80 * time.Millisecond})
		c.from = func(killed time.Time, _ *crashNode) time.Time { return killed }
		c.bar, c.between = crashLease()+time.Second, crashLease() // a second for the rest of the machine's work
		c.run(2, testenv.Rounds(10, 300), testenv.Rounds(1, 20))
	})
}

// crash is one run on one database.
type crash struct {
	*testing.T
	host    crashHost
	ledger  *ledger
	address map[string]string // by webhook
	nodes   []*crashNode      // that live

	from    func(killed time.Time, next *crashNode) time.Time // when recovery begins
	bar     time.Duration                                     // for the recovery
	between time.Duration                                     // at most, from one kill to another without recovery
	kills   int
	took    []time.Duration
}

// run kills processes until there were enough kills, and then checks the result.
func (c *crash) run(nodes, kills, stalls int) {
	for range nodes {
		c.nodes = append(c.nodes, startNode(c.T, c.ledger, c.host))
	}
	for stalled := 1; c.kills < kills; {
		if rand.N(2) == 0 {
			c.tell("rest")
			c.moveClock([]time.Duration{20 * time.Second, time.Minute, 5 * time.Minute}[rand.N(3)])
			c.tell("write")
		}
		if c.kills*(stalls+1) >= kills*stalled {
			c.stall()
			stalled++
		}
		time.Sleep(rand.N(400 * time.Millisecond))
		r, since := c.killOne()
		if c.kills < kills && rand.N(3) == 0 {
			time.Sleep(rand.N(c.between))
			r, since = c.killOne()
		}
		c.await("recovery", func() bool { _, ok := c.ledger.recovered(r); return ok })
		if last, _ := c.ledger.recovered(r); !last.IsZero() {
			c.took = append(c.took, last.Sub(since))
		}
	}
	c.tell("rest")
	for _, delay := range retryDelays {
		c.moveClock(delay)
	}
	c.settle()
	for _, n := range c.nodes {
		n.stop()
	}
	c.check()
	c.report()
}

// report prints the recoveries.
func (c *crash) report() {
	slices.Sort(c.took)
	if len(c.took) == 0 {
		c.Fatal("nothing was owed at any kill")
	}
	most := c.took[(len(c.took)-1)*99/100]
	c.Logf("%d kills; recovery took %v in the middle, %v for 99 of 100, and %v at most; bar %v for 99 of 100",
		c.kills, c.took[len(c.took)/2], most, c.took[len(c.took)-1], c.bar)
	// Outside a proof the machine is busy with many tests, which says nothing about us.
	// In a proof two packages share it, and a stall of the disk may hit one recovery.
	if testenv.Proving() && most > c.bar {
		c.Errorf("recovery took %v, longer than %v", most, c.bar)
	}
}

// killOne kills one of the processes and starts another.
func (c *crash) killOne() (r *recovery, since time.Time) {
	c.Helper()
	at := rand.N(len(c.nodes))
	killed := c.nodes[at].kill()
	r = c.ledger.died(c.nodes[at])
	c.nodes[at] = startNode(c.T, c.ledger, c.host)
	c.kills++
	return r, c.from(killed, c.nodes[at])
}

// stall stops one of the processes for longer than its lease.
func (c *crash) stall() {
	c.Helper()
	n := c.nodes[rand.N(len(c.nodes))]
	c.ledger.stalls(n)
	err := n.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(crashLease() + rand.N(time.Second))
	if err := errors.Join(err, n.cmd.Process.Signal(syscall.SIGCONT)); err != nil {
		c.Fatal(err)
	}
}

// tell tells all processes to do something.
func (c *crash) tell(words ...any) {
	c.Helper()
	for _, n := range c.nodes {
		n.tell(words...)
	}
}

// settle waits until all that is due has been sent and recorded.
func (c *crash) settle() {
	c.Helper()
	c.tell("settle")
	c.await("the outcomes of all that is due", c.ledger.isQuiet)
}

// moveClock moves the platform's clock, while the writers rest and everything has
// settled: what a move does to that which is just being written is not the question
// here.
func (c *crash) moveClock(by time.Duration) {
	c.Helper()
	c.settle()
	c.host.Ahead += by
	c.tell("ahead", c.host.Ahead)
}

func (c *crash) await(what string, happened func() bool) {
	c.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("waited for %s, in vain: %s", what, c.ledger.missing())
		}
	}
}
