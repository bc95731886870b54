package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// sqlShardCases need what only sqlstore has.
var sqlShardCases = []testCase[*Env]{
	// Others take them at once, and not at their next beat.
	{"Shards that are given up are news", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		hints := e.Watch(webhookstore.TopicShards)
		defer hints.Stop()
		isNews := func() bool {
			select {
			case <-hints.C:
				return true
			default:
				return false
			}
		}
		must(t, e.ReleaseShards(t.Context(), f.node, []webhookstore.ShardID{{Kind: webhookstore.SendShard, Number: 3}}))
		if !isNews() {
			t.Error("a shard was given up, and nobody hears of it")
		}
		must(t, e.ReleaseShards(t.Context(), f.node, []webhookstore.ShardID{{Kind: webhookstore.SendShard, Number: 3}}))
		if isNews() {
			t.Error("a shard that was lost before is news")
		}
		must(t, e.LeaveShards(t.Context(), f.node))
		if !isNews() {
			t.Error("a dispatcher left, and nobody hears of it")
		}
	}},
	// DLV-05: the work of a dispatcher that died goes on when its lease has ended.
	{"A lease ends", func(t *testing.T, e *Env) {
		if e.Tap.Dialect().IsOneProcess {
			t.Skip("nobody else can be here: leases do not end")
		}
		f := newSender(t, e)
		of := slices.IndexFunc(f.shards, func(s webhookstore.Shard) bool { return s.Kind == webhookstore.SendShard })
		take := func() bool {
			fleet := get[webhookstore.Fleet](t)(e.Beat(t.Context(), "other", time.Minute))
			return get[bool](t)(e.TakeShard(t.Context(), "other", fleet.Shards[of], time.Minute))
		}
		const short = 200 * time.Millisecond
		get[webhookstore.Fleet](t)(e.Beat(t.Context(), f.node, short))
		get[webhookstore.Fleet](t)(e.Beat(t.Context(), f.node, time.Minute))
		time.Sleep(short)
		if take() {
			t.Error("a beat did not renew the lease")
		}
		get[webhookstore.Fleet](t)(e.Beat(t.Context(), f.node, short))
		time.Sleep(short)
		if !take() {
			t.Error("not taken when the lease had ended")
		}
		held := get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish())).Held
		if len(held) != webhookstore.DefaultShards-1 {
			t.Errorf("the first holds %d shards, want all but one", len(held))
		}
		if fleet := get[webhookstore.Fleet](t)(e.Beat(t.Context(), "other", time.Minute)); fleet.Nodes != 1 {
			t.Errorf("%d nodes live, want 1", fleet.Nodes)
		}
	}},
	{"A beat fails wholly or not at all", func(t *testing.T, e *Env) {
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				must(t, e.LeaveShards(t.Context(), "n"))
			},
			Act: func(ctx context.Context) error {
				_, err := e.Beat(ctx, "n", time.Minute)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				// The fleet as another node that comes and goes sees it.
				fleet := get[webhookstore.Fleet](t)(e.Beat(t.Context(), "observer", time.Minute))
				must(t, e.LeaveShards(t.Context(), "observer"))
				if happened != (fleet.Nodes == 2) {
					t.Errorf("happened %v: %d nodes", happened, fleet.Nodes)
				}
			},
		})
	}},
}
