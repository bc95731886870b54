package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks"
)

var shardCases = []testCase[*Env]{
	{"A free shard is taken by one", func(t *testing.T, e *Env) {
		fleet := get[webhooks.Fleet](t)(e.Beat(t.Context(), "first", time.Minute))
		if fleet.Nodes != 1 || len(fleet.Shards) != webhooks.Shards+1 {
			t.Fatalf("a new fleet: %+v", fleet)
		}
		for _, shard := range fleet.Shards {
			var won atomic.Int64
			Race(16, func(i int) {
				taken, err := e.TakeShard(t.Context(), string(rune('a'+i)), shard, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if taken {
					won.Add(1)
				}
			})
			if won.Load() != 1 {
				t.Errorf("shard %d was taken by %d", shard.ID, won.Load())
			}
		}
		fleet = get[webhooks.Fleet](t)(e.Beat(t.Context(), "second", time.Minute))
		if fleet.Nodes != 2 || fleet.Shards[0].Holder == "" || fleet.Shards[0].Epoch != 1 {
			t.Errorf("the fleet afterwards: %+v", fleet)
		}
	}},
	// Others take them at once, and not at their next beat.
	{"Shards that are given up are news", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		news, stop := e.Watch(webhooks.TopicShards)
		defer stop()
		isNews := func() bool {
			select {
			case <-news:
				return true
			default:
				return false
			}
		}
		must(t, e.ReleaseShard(t.Context(), f.node, 3))
		if !isNews() {
			t.Error("a shard was given up, and nobody hears of it")
		}
		must(t, e.ReleaseShard(t.Context(), f.node, 3))
		if isNews() {
			t.Error("a shard that was lost before is news")
		}
		must(t, e.Leave(t.Context(), f.node))
		if !isNews() {
			t.Error("a dispatcher left, and nobody hears of it")
		}
	}},
	// DLV-05: who lost its shard records nothing in it.
	{"A lost shard fences its holder", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		f.queued(t, 1)
		stale := f.outcome(f.due(t, noon)[0], webhooks.Delivered, 200)
		must(t, e.Leave(t.Context(), f.node))
		second := &senderFixture{oauthFixture: f.oauthFixture, webhook: f.webhook, node: "node_2", epochs: map[int]int64{}}
		second.takeAll(t)
		for name, finish := range map[string]webhooks.Finish{
			"the old holder":                 f.finish(stale),
			"the new one with an old epoch":  second.finish(stale),
			"the old holder, when back late": {Node: f.node, Now: noon, Lease: time.Hour, Outcomes: []webhooks.Outcome{stale}},
		} {
			get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), finish))
			if left := f.due(t, noon); len(left) != 1 {
				t.Fatalf("%s has recorded", name)
			}
		}
		done := get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), second.finish(second.outcome(f.due(t, noon)[0], webhooks.Delivered, 200))))
		if left := f.due(t, noon); len(left) != 0 || len(done.Held) != webhooks.Shards+1 {
			t.Errorf("the new holder: %d left, holds %d", len(left), len(done.Held))
		}
	}},
	// DLV-05: the work of a dispatcher that died goes on when its lease has ended.
	{"A lease ends, and recording renews it", func(t *testing.T, e *Env) {
		if e.Tap.Dialect().IsOneProcess {
			t.Skip("nobody else can be here: leases do not end")
		}
		f := newSender(t, e)
		take := func() bool {
			fleet := get[webhooks.Fleet](t)(e.Beat(t.Context(), "other", time.Minute))
			return get[bool](t)(e.TakeShard(t.Context(), "other", fleet.Shards[3], time.Minute))
		}
		const short = 200 * time.Millisecond
		finish := f.finish()
		finish.Lease = short
		get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), finish))
		get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), f.finish()))
		time.Sleep(short)
		if take() {
			t.Error("recording did not renew the lease")
		}
		get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), finish))
		get[webhooks.Fleet](t)(e.Beat(t.Context(), f.node, short))
		time.Sleep(short)
		if !take() {
			t.Error("not taken when the lease had ended")
		}
		held := get[webhooks.Finished](t)(e.FinishAttempts(t.Context(), f.finish())).Held
		if len(held) != webhooks.Shards {
			t.Errorf("the first holds %d shards, want all but one", len(held))
		}
		if fleet := get[webhooks.Fleet](t)(e.Beat(t.Context(), "other", time.Minute)); fleet.Nodes != 1 {
			t.Errorf("%d nodes live, want 1", fleet.Nodes)
		}
	}},
	{"Shards are released and left", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		must(t, e.ReleaseShard(t.Context(), "another", 3))
		must(t, e.ReleaseShard(t.Context(), f.node, 4))
		fleet := get[webhooks.Fleet](t)(e.Beat(t.Context(), f.node, time.Minute))
		if fleet.Shards[3].Holder != f.node || fleet.Shards[4].Holder != "" {
			t.Errorf("released: %+v", fleet.Shards[3:5])
		}
		must(t, e.Leave(t.Context(), f.node))
		fleet = get[webhooks.Fleet](t)(e.Beat(t.Context(), "next", time.Minute))
		for _, shard := range fleet.Shards {
			if shard.Holder != "" {
				t.Errorf("left, and still held: %+v", shard)
			}
		}
		if fleet.Nodes != 1 {
			t.Errorf("%d nodes, want 1", fleet.Nodes)
		}
	}},
	{"A beat fails wholly or not at all", func(t *testing.T, e *Env) {
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { must(t, e.Leave(t.Context(), "n")) },
			Act: func(ctx context.Context) error {
				_, err := e.Beat(ctx, "n", time.Minute)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				// The fleet as another node that comes and goes sees it.
				fleet := get[webhooks.Fleet](t)(e.Beat(t.Context(), "observer", time.Minute))
				must(t, e.Leave(t.Context(), "observer"))
				if happened != (fleet.Nodes == 2) {
					t.Errorf("happened %v: %d nodes", happened, fleet.Nodes)
				}
			},
		})
	}},
}
