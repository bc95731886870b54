//go:build unix

package webhooks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// crashChildVar makes this test binary a process that is there to be killed.
const crashChildVar = "PARTNERKIT_TEST_CRASH_CHILD"

type crashChild struct {
	crashHost
	clock   *clock.Offset
	store   *sqlstore.Store
	resting sync.RWMutex // writers hold it while they are in a transaction
}

// TestCrashChild is a host: it records events, plans and sends them, and says so,
// until it is killed or its input ends.
func TestCrashChild(t *testing.T) {
	told := os.Getenv(crashChildVar)
	if told == "" {
		return // it is a part of TestKilledProcesses
	}
	c := new(crashChild)
	if err := json.Unmarshal([]byte(told), &c.crashHost); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	if c.store, err = c.open(ctx); err != nil {
		t.Fatal(err)
	}
	if c.clock, err = clock.NewOffset(c.Ahead); err != nil {
		t.Fatal(err)
	}
	svc, err := webhooks.New(webhooks.Config{
		Store: &sayingStore{Store: c.store, leases: map[int]shardLease{}}, Keyring: fixture.Keyring(1), Dial: c.dial, Clock: c.clock, Logger: c.log(), Options: webhooks.Options{AllowLoopback: true, MaxInFlight: 32, PerEndpoint: 8, Lease: crashLease()},
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.New(events.Config{Store: c.store, Clock: c.clock})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = svc.Run(ctx) })
	running.Go(func() { _ = c.store.Run(ctx) })
	for range 3 {
		running.Go(func() { c.write(ctx, log) })
	}
	wake := c.obey(ctx, svc)
	cancel()
	wake()
	running.Wait()
	if err := c.store.Close(); err != nil {
		t.Error(err)
	}
}

// dial connects to the door of this process, so that the receiver can identify the sender.
func (c *crashChild) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, c.Door)
}

// obey does what the parent says, and says when it is done. It returns at the end of
// its input, with what wakes writers that still rest.
func (c *crashChild) obey(ctx context.Context, svc *webhooks.Service) (wake func()) {
	wake = func() {}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "ahead":
			ahead, err := time.ParseDuration(rest)
			if err != nil {
				panic(err)
			}
			c.clock.Raise(ahead)
		case "settle":
			if err := svc.Settle(ctx); err != nil {
				panic(err)
			}
		case "rest":
			c.resting.Lock()
			wake = c.resting.Unlock
		case "write":
			wake()
			wake = func() {}
		}
		say("did", word)
	}
	return wake
}

// say tells the parent, in one write: a kill leaves whole lines only.
func say(words ...any) { fmt.Println(words...) }

// write records events.
func (c *crashChild) write(ctx context.Context, log *events.Log) {
	for ctx.Err() == nil {
		time.Sleep(rand.N(c.Pause))
		c.resting.RLock()
		if ctx.Err() == nil { // else it has rested to the end
			if err := c.writeOne(ctx, log); err != nil && ctx.Err() == nil {
				say("fault", err)
			}
		}
		c.resting.RUnlock()
	}
}

// writeOne records one in a transaction with a row of the host's own. Some are
// rolled back.
func (c *crashChild) writeOne(ctx context.Context, log *events.Log) error {
	tx, err := c.store.BeginTx(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	name := crashEvents[0]
	if rand.N(8) == 0 {
		name = crashEvents[1]
	}
	recorded, err := log.Record(ctx, c.store.WithTx(tx), events.Draft{Type: name, BusinessID: crashBusiness, Data: map[string]any{"id": "inv_1"}})
	if err != nil {
		return err
	}
	id := recorded[0].ID
	if _, err := tx.Exec(ctx, "INSERT INTO "+c.table("crash_record")+" (event_id) VALUES ($1)", id); err != nil {
		return err
	}
	say("begin", id, name)
	if rand.N(10) == 0 {
		err = tx.Rollback()
		say("rollback", id, name)
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	say("commit", id, name)
	return nil
}
