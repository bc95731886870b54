package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// oddStore is the store of a node that has bad luck.
type oddStore struct {
	*sqlstore.Store
	linger time.Duration                 // before a response of FinishAttempts arrives
	faster func(seen webhookstore.Shard) // what others do just before TakeShard
	isDeaf bool                          // the next response of TakeShard is lost
}

func (s *oddStore) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	done, err := s.Store.FinishAttempts(ctx, f)
	time.Sleep(s.linger)
	return done, err
}

func (s *oddStore) TakeShard(ctx context.Context, node string, seen webhookstore.Shard, lease time.Duration) (bool, error) {
	if s.faster != nil {
		s.faster(seen)
	}
	taken, err := s.Store.TakeShard(ctx, node, seen, lease)
	if s.isDeaf {
		s.isDeaf = false
		return false, errors.New("the answer was lost")
	}
	return taken, err
}

// inOddBubble runs a test on a harness whose own dispatcher, not started yet, has bad luck.
func inOddBubble(t *testing.T, test func(t *testing.T, r *harness, odd *oddStore)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{})
		odd := &oddStore{Store: r.Store}
		r.svc = r.sender(odd)
		test(t, r, odd)
	})
}

// sender makes a sender on the harness's network.
func (r *harness) sender(store webhookstore.Store) *webhooks.Service {
	r.t.Helper()
	svc, err := webhooks.New(webhooks.Config{
		Store: store, Keyring: fixture.Keyring(1), Dial: r.net.dial, Clock: r.clock, Options: webhooks.Options{AllowLoopback: true, Lease: 4 * time.Second},
	})
	r.must(err)
	return svc
}

// beside runs a second sender, with a store that is well.
func (r *harness) beside() (stop func()) {
	r.t.Helper()
	svc := r.sender(r.Store)
	ctx, stop := context.WithCancel(r.t.Context())
	r.running.Go(func() { _ = svc.Run(ctx) })
	return stop
}

// appInShard creates an app whose webhook is in a shard, and returns the webhook's address.
func (r *harness) appInShard(shard int) (a app, address string) {
	r.t.Helper()
	for i := 0; address == "" || webhookstore.ShardOf(a.webhook.ID, webhookstore.DefaultShards) != shard; i++ {
		address = fmt.Sprintf("127.0.1.%d", i)
		a = r.app(address, "invoice.created")
	}
	return a, address
}

// DLV-05: a node that has given up a shard sends nothing from it, even if the result of an
// act from the time when it held the shard arrives afterwards.
func TestShardThatWasGivenAway(t *testing.T) {
	inOddBubble(t, func(t *testing.T, r *harness, odd *oddStore) {
		odd.linger = 700 * time.Millisecond
		var apps []app
		for i := range 20 {
			apps = append(apps, r.app(fmt.Sprintf("127.0.1.%d", i), "invoice.created"))
		}
		r.start()
		time.Sleep(time.Second)
		defer r.beside()()
		const rounds = 20
		for range rounds {
			for _, a := range apps {
				r.record(a.business, "invoice.created")
			}
			time.Sleep(100 * time.Millisecond)
		}
		r.settle()
		time.Sleep(10 * time.Second)
		for i, a := range apps {
			if got := len(r.net.posts(fmt.Sprintf("127.0.1.%d", i))); got != rounds {
				t.Errorf("shard %d: %d posts, want %d", webhookstore.ShardOf(a.webhook.ID, webhookstore.DefaultShards), got, rounds)
			}
		}
	})
}

// DLV-05: nodes that find the same shards free take them all between them, at once.
func TestShardThatSomebodyElseTook(t *testing.T) {
	inOddBubble(t, func(t *testing.T, r *harness, odd *oddStore) {
		_, err := r.Beat(t.Context(), "other", time.Hour)
		r.must(err)
		odd.faster = func(seen webhookstore.Shard) {
			if seen.Number < webhookstore.DefaultShards/2 && seen.Kind == webhookstore.SendShard {
				_, err := r.TakeShard(t.Context(), "other", seen, time.Hour)
				r.must(err)
			}
		}
		a, address := r.appInShard(webhookstore.DefaultShards - 1)
		_, err = r.svc.SendTest(t.Context(), a.ID, a.webhook.ID, "")
		r.must(err)
		r.start()
		time.Sleep(500 * time.Millisecond) // the next beat is later
		if got := len(r.net.posts(address)); got != 1 {
			t.Errorf("%d posts, want 1", got)
		}
	})
}

// DLV-05: the work of a shard is found, even if the node got no reply when it took the
// shard.
func TestShardThatWasTakenUnheard(t *testing.T) {
	inOddBubble(t, func(t *testing.T, r *harness, odd *oddStore) {
		a, address := r.appInShard(0)
		r.net.handle(address, response(http.StatusBadGateway))
		r.record(a.business, "invoice.created")
		stop := r.beside()
		r.settle()
		stop()
		r.running.Wait()

		fleet, err := r.Beat(t.Context(), "other", time.Hour)
		r.must(err)
		for _, shard := range fleet.Shards {
			if shard.ShardID == (webhookstore.ShardID{Kind: webhookstore.SendShard}) {
				continue
			}
			_, err := r.TakeShard(t.Context(), "other", shard, time.Hour)
			r.must(err)
		}
		r.must(r.clock.Advance(time.Hour)) // so that it was due long ago
		odd.isDeaf = true
		r.start()
		time.Sleep(10 * time.Second)
		if got := len(r.net.posts(address)); got != 2 {
			t.Errorf("%d posts, want one of each node", got)
		}
	})
}

// Events that waited for a planner are sent in the order in which they were recorded.
func TestOrderOfWhatHasWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{PerEndpoint: 1}})
		a := r.app(endpoint, "invoice.created")
		var want, got []string
		for range 20 {
			want = append(want, r.record(a.business, "invoice.created").ID)
			time.Sleep(time.Millisecond)
		}
		r.start()
		r.settle()
		for _, post := range r.net.posts(endpoint) {
			got = append(got, post.header.Get("X-Webhook-Event-Id"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// DLV-05: a node that stops in the middle of an act, like a machine without a network,
// keeps its locks. The other nodes still continue.
func TestNodeThatStandsStill(t *testing.T) {
	t.Parallel()
	url, schema := testenv.Postgres(t)
	store, err := postgres.Open(t.Context(), url, postgres.Config{Schema: schema, MaxConns: 4})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	defer store.Close()
	const short = 200 * time.Millisecond
	fleet, err := store.Beat(t.Context(), "still", short)
	must(err)
	_, err = store.TakeShard(t.Context(), "still", fleet.Shards[0], short)
	must(err)
	tx, err := store.BeginTx(t.Context())
	must(err)
	defer tx.Rollback()
	fleet, err = store.WithTx(tx).Beat(t.Context(), "still", short)
	must(err)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // to fail instead of hang
	defer cancel()
	time.Sleep(2 * short)
	others, err := store.Beat(ctx, "other", time.Minute)
	must(err)
	if others.Nodes != 1 {
		t.Errorf("%d nodes, want 1: the lease of the other has ended", others.Nodes)
	}
	take := func(shard webhookstore.Shard) bool {
		t.Helper()
		taken, err := store.TakeShard(ctx, "other", shard, time.Minute)
		must(err)
		return taken
	}
	if take(fleet.Shards[0]) || !take(fleet.Shards[1]) {
		t.Error("want only the unlocked shard")
	}
	must(tx.Rollback())
	if !take(fleet.Shards[0]) {
		t.Error("the shard is free now")
	}
}
