package webhooks

import (
	"context"
	"log/slog"
	"slices"
	"time"
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
	store  ShardStore
	log    *slog.Logger
	node   string
	period time.Duration // Config.Lease

	held        map[int]int64 // shards, with their epochs
	draining    map[int]bool  // of these: to be released once nothing is outstanding
	outstanding map[int]int   // deliveries that are claimed and not recorded, by shard
	ends        time.Time     // of the leases, in real time
	nextBeat    time.Time     // in real time
	isStopping  bool          // no new work is begun
}

func newOwnership(store ShardStore, log *slog.Logger, node string, period time.Duration) *ownership {
	return &ownership{
		store: store, log: log, node: node, period: period,
		held: map[int]int64{}, draining: map[int]bool{}, outstanding: map[int]int{},
	}
}

// lease returns how long the leases of the node are.
func (o *ownership) lease() time.Duration { return o.period * leaseUsed / beatsPerLease }

// isMine reports whether new work of a shard may be begun.
func (o *ownership) isMine(shard int) bool {
	_, ok := o.held[shard]
	return ok && !o.draining[shard] && !o.isStopping && time.Now().Before(o.ends)
}

// handover holds the changes in the shards of a node.
type handover struct {
	lost    []int // shards that the node held
	mayFind bool  // shards were gained, or work was passed over: look at all queues
}

// beat renews the leases when it is time, takes free shards while other nodes have their
// share, and marks shards beyond the own share to be released.
func (o *ownership) beat(ctx context.Context) handover {
	now := time.Now()
	if now.Before(o.nextBeat) {
		return handover{}
	}
	o.nextBeat = now.Add(o.period / beatsPerLease)
	fleet, err := o.store.Beat(ctx, o.node, o.lease())
	if err != nil {
		o.log.ErrorContext(ctx, "webhooks: renewing the lease failed", "err", err)
		o.nextBeat = now.Add(min(tryAgain, o.period/beatsPerLease))
		return handover{}
	}
	change := handover{mayFind: !now.Before(o.ends), lost: o.keep(o.held, fleet.Shards)}
	o.ends = now.Add(o.lease()) // which is before they end in the database
	for _, shard := range fleet.Shards {
		if shard.Holder == o.node && o.held[shard.ID] != shard.Epoch {
			o.held[shard.ID] = shard.Epoch
			change.mayFind = true
		}
	}
	if o.isStopping {
		return change
	}
	take, excess := share(o.node, fleet)
	change.mayFind = o.take(ctx, fleet, len(take)) || change.mayFind || len(excess) < len(o.draining)
	o.draining = excess
	for _, shard := range fleet.Shards { // beat again when the lease of another node ends
		ends := now.Add(shard.LeaseLeft)
		if shard.Holder != o.node && shard.Holder != "" && shard.LeaseLeft > 0 && ends.Before(o.nextBeat) {
			o.nextBeat = ends.Add(leastBeatPeriod)
		}
	}
	return change
}

// take takes n free shards, and reports whether it took one. When another node is faster
// it tries the next.
func (o *ownership) take(ctx context.Context, fleet Fleet, n int) (gained bool) {
	for _, shard := range fleet.Shards {
		if n == 0 || !shard.isFree(o.node) {
			continue
		}
		taken, err := o.store.TakeShard(ctx, o.node, shard, o.lease())
		if err != nil {
			o.log.ErrorContext(ctx, "webhooks: taking a shard failed", "shard", shard.ID, "err", err)
			break
		}
		if taken {
			n--
			o.held[shard.ID] = shard.Epoch + 1
			gained = true
		}
	}
	return gained
}

// keep compares shards that the node held before with those of the store, and returns those
// that it lost.
func (o *ownership) keep(before map[int]int64, now []Shard) (lost []int) {
	for id, epoch := range before {
		isHeld := slices.ContainsFunc(now, func(s Shard) bool { return s.ID == id && s.Epoch == epoch && s.Holder == o.node })
		if !isHeld && o.held[id] == epoch {
			delete(o.held, id)
			delete(o.draining, id)
			lost = append(lost, id)
		}
	}
	return lost
}

// release gives up the draining shards that have nothing outstanding, and returns them.
func (o *ownership) release(ctx context.Context) (released []int) {
	for shard := range o.draining {
		if o.outstanding[shard] > 0 {
			continue
		}
		if err := o.store.ReleaseShards(ctx, ShardRelease{Node: o.node, Shards: []int{shard}}); err != nil {
			o.log.ErrorContext(ctx, "webhooks: releasing a shard failed", "shard", shard, "err", err)
			continue
		}
		delete(o.held, shard)
		delete(o.draining, shard)
		released = append(released, shard)
	}
	return released
}

// isFree reports whether a shard has no holder, or one other than the node whose lease has
// ended.
func (s Shard) isFree(node string) bool {
	return s.Holder == "" || s.Holder != node && s.LeaseLeft <= 0
}

// share returns the free shards that a node should take, and the shards that it should give
// up. Each node gets an equal share, rounded down, and as many nodes as there are remaining
// shards may have one more. If too many nodes have one more, those with the greater names
// give it up. In the end all shards are held, and the numbers of two nodes differ by at
// most one.
func share(node string, fleet Fleet) (take []Shard, excess map[int]bool) {
	part, over := len(fleet.Shards)/max(fleet.Nodes, 1), len(fleet.Shards)%max(fleet.Nodes, 1)
	has := map[string]int{}
	for _, shard := range fleet.Shards {
		if !shard.isFree(node) {
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
	excess = map[int]bool{}
	held := 0
	for _, shard := range fleet.Shards {
		switch {
		case shard.Holder == node && held == keep:
			excess[shard.ID] = true
		case shard.Holder == node:
			held++
		}
	}
	for _, shard := range fleet.Shards {
		if shard.isFree(node) && held+len(take) < reach {
			take = append(take, shard)
		}
	}
	return take, excess
}
