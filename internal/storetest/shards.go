package storetest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

var shardCases = []testCase[partnerkit.Store]{
	{"A free shard is taken by one", func(t *testing.T, e partnerkit.Store) {
		fleet := get[webhookstore.Fleet](t)(e.Beat(t.Context(), "first", time.Minute))
		if fleet.Nodes != 1 || len(fleet.Shards) != 2*webhookstore.DefaultShards {
			t.Fatalf("a new fleet: %+v", fleet)
		}
		for _, shard := range fleet.Shards {
			var won atomic.Int64
			testdb.Race(16, func(i int) {
				taken, err := e.TakeShard(t.Context(), string(rune('a'+i)), shard, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if taken {
					won.Add(1)
				}
			})
			if won.Load() != 1 {
				t.Errorf("shard %v was taken by %d", shard.ShardID, won.Load())
			}
		}
		fleet = get[webhookstore.Fleet](t)(e.Beat(t.Context(), "second", time.Minute))
		if fleet.Nodes != 2 || fleet.Shards[0].Holder == "" || fleet.Shards[0].Epoch != 1 {
			t.Errorf("the fleet afterwards: %+v", fleet)
		}
	}},
	// DLV-05: a node that lost its shard records nothing in it.
	{"A lost shard fences its holder", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.queued(t, 1)
		stale := f.outcome(f.due(t, noon)[0], partner.DeliveryDelivered, 200)
		must(t, e.LeaveShards(t.Context(), f.node))
		second := &senderFixture{oauthFixture: f.oauthFixture, webhook: f.webhook, node: "node_2"}
		second.takeAll(t)
		for name, finish := range map[string]webhookstore.Finish{
			"the old holder":                 f.finish(stale),
			"the new one with an old epoch":  second.finish(stale),
			"the old holder, when back late": {Node: f.node, Now: noon, Outcomes: []webhookstore.Outcome{stale}},
		} {
			get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), finish))
			if left := f.due(t, noon); len(left) != 1 {
				t.Fatalf("%s has recorded", name)
			}
		}
		done := get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), second.finish(second.outcome(f.due(t, noon)[0], partner.DeliveryDelivered, 200))))
		if left := f.due(t, noon); len(left) != 0 || len(done.Held) != webhookstore.DefaultShards {
			t.Errorf("the new holder: %d left, holds %d", len(left), len(done.Held))
		}
	}},
	// DLV-04: a node that lost the shard of a business plans nothing of it.
	{"A lost shard fences its planner", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.recorded(t, 1)
		got, _ := f.unplanned(t)
		stale := f.plan(got, 1)
		must(t, e.LeaveShards(t.Context(), f.node))
		f.takeAll(t)
		if f.savePlan(t, stale) {
			t.Error("saved under an epoch that has ended")
		}
		if !f.savePlan(t, f.plan(got, 1)) {
			t.Error("the holder cannot plan")
		}
	}},
	{"Shards are released and left", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		must(t, e.ReleaseShards(t.Context(), "another", []webhookstore.ShardID{{Kind: webhookstore.PlanShard, Number: 3}}))
		must(t, e.ReleaseShards(t.Context(), f.node, []webhookstore.ShardID{{Kind: webhookstore.PlanShard, Number: 4}, {Kind: webhookstore.PlanShard, Number: 5}}))
		must(t, e.ReleaseShards(t.Context(), f.node, nil))
		fleet := get[webhookstore.Fleet](t)(e.Beat(t.Context(), f.node, time.Minute))
		if fleet.Shards[3].Holder != f.node || fleet.Shards[4].Holder != "" || fleet.Shards[5].Holder != "" || fleet.Shards[6].Holder != f.node {
			t.Errorf("released: %+v", fleet.Shards[3:7])
		}
		must(t, e.LeaveShards(t.Context(), f.node))
		fleet = get[webhookstore.Fleet](t)(e.Beat(t.Context(), "next", time.Minute))
		for _, shard := range fleet.Shards {
			if shard.Holder != "" {
				t.Errorf("left, and still held: %+v", shard)
			}
		}
		if fleet.Nodes != 1 {
			t.Errorf("%d nodes, want 1", fleet.Nodes)
		}
	}},
}
