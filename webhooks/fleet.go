package webhooks

import (
	"context"
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

// lease is how long the leases of the dispatcher are.
func (d *dispatcher) lease() time.Duration { return d.cfg.Lease * leaseUsed / beatsPerLease }

// beat renews the leases, takes shards that are free when others have not their
// share already, and gives up what is more than its own share.
func (d *dispatcher) beat(ctx context.Context) {
	now := time.Now()
	if now.Before(d.nextBeat) {
		return
	}
	d.nextBeat = now.Add(d.cfg.Lease / beatsPerLease)
	fleet, err := d.store.Beat(ctx, d.node, d.lease())
	if err != nil {
		d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot renew the lease", "err", err)
		d.nextBeat = now.Add(min(tryAgain, d.cfg.Lease/beatsPerLease))
		return
	}
	if !now.Before(d.leaseEnds) {
		d.searched = time.Time{} // work was passed over since the lease ended
	}
	d.leaseEnds = now.Add(d.lease()) // which is before it ends in the database
	d.hold(fleet.Shards)
	if d.stopping {
		return
	}
	take, excess := share(d.node, fleet)
	lacking := len(take)
	for _, shard := range fleet.Shards { // when somebody is faster, the next one that is free
		if lacking == 0 || !shard.isFree(d.node) {
			continue
		}
		taken, err := d.store.TakeShard(ctx, d.node, shard, d.lease())
		if err != nil {
			d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot take a shard", "shard", shard.ID, "err", err)
			break
		}
		if taken {
			lacking--
			d.held[shard.ID] = shard.Epoch + 1
			d.searched = time.Time{} // there may be work in it
		}
	}
	if len(excess) < len(d.draining) {
		d.searched = time.Time{} // it stays here after all
	}
	d.draining = excess
	for _, shard := range fleet.Shards { // wake when a lease of somebody else ends
		ends := now.Add(shard.LeaseLeft)
		if shard.Holder != d.node && shard.Holder != "" && shard.LeaseLeft > 0 && ends.Before(d.nextBeat) {
			d.nextBeat = ends.Add(leastBeatPeriod)
		}
	}
}

// hold takes notice of which shards are the node's.
func (d *dispatcher) hold(shards []Shard) {
	d.lose(d.held, shards)
	for _, shard := range shards {
		if shard.Holder == d.node && d.held[shard.ID] != shard.Epoch {
			d.held[shard.ID] = shard.Epoch
			d.searched = time.Time{} // there may be work in it
		}
	}
}

// lose forgets shards that were the node's and are no longer. What was begun in
// them is somebody else's now.
func (d *dispatcher) lose(before map[int]int64, now []Shard) {
	for id, epoch := range before {
		isHeld := slices.ContainsFunc(now, func(s Shard) bool { return s.ID == id && s.Epoch == epoch && s.Holder == d.node })
		if !isHeld && d.held[id] == epoch {
			d.forget(id)
			delete(d.held, id)
			delete(d.draining, id)
		}
	}
}

// isMine reports whether new work of a shard may be begun.
func (d *dispatcher) isMine(shard int) bool {
	_, ok := d.held[shard]
	return ok && !d.draining[shard] && !d.stopping && time.Now().Before(d.leaseEnds)
}

// release gives up shards that are somebody else's share, once nothing of them is
// under way.
func (d *dispatcher) release(ctx context.Context) {
	for shard := range d.draining {
		if d.takenOf[shard] > 0 {
			continue
		}
		if err := d.store.ReleaseShard(ctx, d.node, shard); err != nil {
			d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot release a shard", "shard", shard, "err", err)
			continue
		}
		d.forget(shard)
		delete(d.held, shard)
		delete(d.draining, shard)
	}
}

// isFree reports a shard that nobody holds, or whose lease has ended, for a node.
func (s Shard) isFree(node string) bool {
	return s.Holder == "" || s.Holder != node && s.LeaseLeft <= 0
}

// share is what a node should take, of what is free, and what it has too much of.
// Each node gets its part, rounded down, and as many nodes as there are shards left
// over may have one more. When too many have, those with the greater names give it
// up; so all shards are held in the end, and nobody has two more than another.
func share(node string, fleet Fleet) (take []Shard, excess map[int]bool) {
	part, over := len(fleet.Shards)/max(fleet.Nodes, 1), len(fleet.Shards)%max(fleet.Nodes, 1)
	has := map[string]int{}
	for _, shard := range fleet.Shards {
		if !shard.isFree(node) {
			has[shard.Holder]++
		}
	}
	more, before := 0, 0 // others that have one more, and those of them that may keep it first
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
