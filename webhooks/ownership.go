package webhooks

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// A lease is renewed four times before it ends, and ends a little before Config.Lease
// is over, so that the work of a node that died goes on within it.
const (
	beatsPerLease   = 4
	leaseUsed       = 3 // of beatsPerLease
	leastBeatPeriod = 50 * time.Millisecond
)

// ownership is the shards that a node holds. It is not safe for concurrent use.
type ownership struct {
	store  webhookstore.Store
	log    *slog.Logger
	node   string
	period time.Duration // Config.Lease

	shards      int                            // of each kind; 0: not known yet
	held        map[webhookstore.ShardID]int64 // with their epochs
	draining    map[webhookstore.ShardID]bool  // of these: to be released once nothing is outstanding
	outstanding map[webhookstore.ShardID]int   // deliveries that are claimed and not recorded
	ends        time.Time                      // of the leases, in real time
	nextBeat    time.Time                      // in real time
	isStopping  bool                           // no new work is begun
	isChanged   bool                           // planning may return something else than before
}

func newOwnership(store webhookstore.Store, log *slog.Logger, node string, period time.Duration) *ownership {
	return &ownership{
		store: store, log: log, node: node, period: period,
		held: map[webhookstore.ShardID]int64{}, draining: map[webhookstore.ShardID]bool{}, outstanding: map[webhookstore.ShardID]int{},
	}
}

// lease returns how long the leases of the node are.
func (o *ownership) lease() time.Duration { return o.period * leaseUsed / beatsPerLease }

// isMine reports whether new work of a shard may be begun.
func (o *ownership) isMine(shard webhookstore.ShardID) bool {
	_, ok := o.held[shard]
	return ok && !o.draining[shard] && !o.isStopping && time.Now().Before(o.ends)
}

// shardOf returns the shard of a webhook's deliveries.
func (o *ownership) shardOf(webhookID string) webhookstore.ShardID {
	return webhookstore.ShardID{Kind: webhookstore.SendShard, Number: webhookstore.ShardOf(webhookID, max(o.shards, 1))}
}

// sending returns the send shards that the node holds.
func (o *ownership) sending() []int {
	var shards []int
	for shard := range o.held {
		if shard.Kind == webhookstore.SendShard {
			shards = append(shards, shard.Number)
		}
	}
	return shards
}

// planning returns the plan shards whose businesses the node plans, with their epochs.
func (o *ownership) planning() map[int]int64 {
	shards := map[int]int64{}
	for shard, epoch := range o.held {
		if shard.Kind == webhookstore.PlanShard && o.isMine(shard) {
			shards[shard.Number] = epoch
		}
	}
	return shards
}

// handover holds the changes in the shards of a node.
type handover struct {
	lost    []webhookstore.ShardID // that the node held
	unknown []int                  // send shards that were gained, or whose work was passed over
}

// beat renews the leases when it is time, takes free shards while other nodes have their
// share, and marks shards beyond the own share to be released.
func (o *ownership) beat(ctx context.Context) handover {
	now := time.Now()
	if now.Before(o.nextBeat) {
		return handover{}
	}
	o.nextBeat, o.isChanged = now.Add(o.period/beatsPerLease), true
	fleet, err := o.store.Beat(ctx, o.node, o.lease())
	if err != nil {
		o.log.ErrorContext(ctx, "webhooks: renewing the lease failed", "err", err)
		o.nextBeat = now.Add(min(tryAgain, o.period/beatsPerLease))
		return handover{}
	}
	change := handover{lost: o.keep(o.held, fleet.Shards)}
	if !now.Before(o.ends) { // nothing was begun since the leases ended
		change.unknown = o.sending()
	}
	o.ends = now.Add(o.lease()) // which is before they end in the database
	o.shards = len(fleet.Shards) / 2
	had := maps.Clone(o.held)
	for _, shard := range fleet.Shards {
		if shard.Holder == o.node {
			o.held[shard.ShardID] = shard.Epoch
		}
	}
	if !o.isStopping {
		was := o.draining
		o.draining = map[webhookstore.ShardID]bool{}
		for _, kind := range []webhookstore.ShardKind{webhookstore.PlanShard, webhookstore.SendShard} {
			of := fleet
			of.Shards = slices.DeleteFunc(slices.Clone(fleet.Shards), func(s webhookstore.Shard) bool { return s.Kind != kind })
			take, excess := share(o.node, of)
			o.take(ctx, of, len(take))
			maps.Copy(o.draining, excess)
		}
		for shard := range was {
			if !o.draining[shard] {
				delete(had, shard) // its work was passed over
			}
		}
	}
	for shard, epoch := range o.held {
		if before, ok := had[shard]; shard.Kind == webhookstore.SendShard && (!ok || before != epoch) {
			change.unknown = append(change.unknown, shard.Number)
		}
	}
	if o.isStopping {
		return change
	}
	for _, shard := range fleet.Shards { // beat again when the lease of another node ends
		ends := now.Add(shard.LeaseLeft)
		if shard.Holder != o.node && shard.Holder != "" && shard.LeaseLeft > 0 && ends.Before(o.nextBeat) {
			o.nextBeat = ends.Add(leastBeatPeriod)
		}
	}
	return change
}

// take takes n free shards. When another node is faster it tries the next.
func (o *ownership) take(ctx context.Context, fleet webhookstore.Fleet, n int) {
	for _, shard := range fleet.Shards {
		if n == 0 || !isFree(shard, o.node) {
			continue
		}
		taken, err := o.store.TakeShard(ctx, o.node, shard, o.lease())
		if err != nil {
			o.log.ErrorContext(ctx, "webhooks: taking a shard failed", "kind", shard.Kind, "shard", shard.Number, "err", err)
			return
		}
		if taken {
			n--
			o.held[shard.ShardID] = shard.Epoch + 1
		}
	}
}

// keep compares shards that the node held before with those of the store, and returns those
// that it lost.
func (o *ownership) keep(before map[webhookstore.ShardID]int64, now []webhookstore.Shard) (lost []webhookstore.ShardID) {
	holds := map[webhookstore.ShardID]int64{}
	for _, shard := range now {
		if shard.Holder == o.node {
			holds[shard.ShardID] = shard.Epoch
		}
	}
	return o.lose(before, holds)
}

// keepSending is keep for the send shards alone.
func (o *ownership) keepSending(before map[webhookstore.ShardID]int64, now map[int]int64) (lost []webhookstore.ShardID) {
	sent, holds := map[webhookstore.ShardID]int64{}, map[webhookstore.ShardID]int64{}
	for shard, epoch := range before {
		if shard.Kind == webhookstore.SendShard {
			sent[shard] = epoch
		}
	}
	for shard, epoch := range now {
		holds[webhookstore.ShardID{Kind: webhookstore.SendShard, Number: shard}] = epoch
	}
	return o.lose(sent, holds)
}

func (o *ownership) lose(before, now map[webhookstore.ShardID]int64) (lost []webhookstore.ShardID) {
	for shard, epoch := range before {
		if e, ok := now[shard]; (!ok || e != epoch) && o.held[shard] == epoch {
			o.drop(shard)
			lost = append(lost, shard)
		}
	}
	return lost
}

// release gives up the draining shards that have nothing outstanding, and returns them.
func (o *ownership) release(ctx context.Context) (released []webhookstore.ShardID) {
	for shard := range o.draining {
		if o.outstanding[shard] > 0 {
			continue
		}
		if err := o.store.ReleaseShards(ctx, o.node, []webhookstore.ShardID{shard}); err != nil {
			o.log.ErrorContext(ctx, "webhooks: releasing a shard failed", "kind", shard.Kind, "shard", shard.Number, "err", err)
			continue
		}
		o.drop(shard)
		released = append(released, shard)
	}
	return released
}

func (o *ownership) drop(shard webhookstore.ShardID) {
	delete(o.held, shard)
	delete(o.draining, shard)
	o.isChanged = true
}

// isFree reports whether a shard has no holder, or one other than the node whose lease has
// ended.
func isFree(s webhookstore.Shard, node string) bool {
	return s.Holder == "" || s.Holder != node && s.LeaseLeft <= 0
}

// share returns the free shards that a node should take, and the shards that it should give
// up. Each node gets an equal share, rounded down, and as many nodes as there are remaining
// shards may have one more. If too many nodes have one more, those with the greater names
// give it up. In the end all shards are held, and the numbers of two nodes differ by at
// most one.
func share(node string, fleet webhookstore.Fleet) (take []webhookstore.Shard, excess map[webhookstore.ShardID]bool) {
	part, over := len(fleet.Shards)/max(fleet.Nodes, 1), len(fleet.Shards)%max(fleet.Nodes, 1)
	has := map[string]int{}
	for _, shard := range fleet.Shards {
		if !isFree(shard, node) {
			has[shard.Holder]++
		}
	}
	more, before := 0, 0 // other nodes with more than part, and how many of them precede node and keep theirs first
	for other, n := range has {
		if other != node && n > part {
			more++
			if other < node {
				before++
			}
		}
	}
	keep, reach := part, part
	if before < over {
		keep++
	}
	if more < over {
		reach++
	}
	excess = map[webhookstore.ShardID]bool{}
	held := 0
	for _, shard := range fleet.Shards {
		switch {
		case shard.Holder == node && held == keep:
			excess[shard.ShardID] = true
		case shard.Holder == node:
			held++
		}
	}
	for _, shard := range fleet.Shards {
		if isFree(shard, node) && held+len(take) < reach {
			take = append(take, shard)
		}
	}
	return take, excess
}
