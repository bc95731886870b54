//go:build unix

package webhooks_test

import (
	"context"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// sayingStore is the store, and tells the parent what it has recorded.
type sayingStore struct {
	*sqlstore.Store

	mu     sync.Mutex
	leases map[int]shardLease // by shard, as this process knows them
}

type shardLease struct {
	epoch int64
	until time.Time
}

func (s *sayingStore) note(node string, shards []webhooks.Shard, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shard := range shards {
		if shard.Holder == node {
			s.leases[shard.ID] = shardLease{shard.Epoch, until}
		}
	}
}

func (s *sayingStore) Beat(ctx context.Context, node string, lease time.Duration) (webhooks.Fleet, error) {
	until := time.Now().Add(lease)
	fleet, err := s.Store.Beat(ctx, node, lease)
	s.note(node, fleet.Shards, until)
	return fleet, err
}

// FinishAttempts says of every outcome whether it was recorded; or refused, because
// the shard is not the process's any more; or foreign, when that is so although the
// process has not lost it by letting its lease end.
func (s *sayingStore) FinishAttempts(ctx context.Context, f webhooks.Finish) (webhooks.Finished, error) {
	until := time.Now().Add(f.Lease)
	done, err := s.Store.FinishAttempts(ctx, f)
	if err != nil {
		return done, err
	}
	s.note(f.Node, done.Held, until)
	held := map[int]int64{}
	for _, shard := range done.Held {
		held[shard.ID] = shard.Epoch
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range f.Outcomes {
		shard := webhooks.ShardOf(o.Due.WebhookID)
		last := s.leases[shard]
		switch {
		case held[shard] == o.Epoch:
			say("recorded", o.Due.ID)
		case last.epoch == o.Epoch && time.Now().Before(last.until):
			say("foreign", o.Due.ID)
		default:
			say("refused", o.Due.ID)
		}
	}
	return done, nil
}
