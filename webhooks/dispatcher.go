package webhooks

import (
	"context"
	"crypto/rand"
	"slices"
	"time"
)

const (
	// slowAfter is when an attempt that still runs leaves its place to others. It
	// goes on beside them, with the many that a machine can wait for at a time.
	slowAfter     = 500 * time.Millisecond
	ageEvery      = 100 * time.Millisecond
	slowPerPlace  = 4
	finishBatch   = 500
	stopGrace     = 5 * time.Second
	leaveGrace    = 2 * time.Second
	suspectsShare = 2 // one of so many places, at most, for endpoints that may be dead
	firstShare    = 2 // and for the first line while the last line waits
)

// A step on the database costs much less for many deliveries than for each of them. So
// under load it waits until there are enough, but not for longer than that after the
// last one.
const (
	claimEnough  = 96
	claimGather  = 5 * time.Millisecond
	recordEnough = 400
	recordGather = 25 * time.Millisecond
)

// dispatcher sends what is due in the shards that its node holds. One goroutine
// owns all of its fields; attempts and commits run beside it and report back.
//
// It remembers webhooks, not deliveries: those that have work stand in line, and
// get so many deliveries as there are places, just before they are sent. So a gate
// that has closed is noticed, and an endpoint that hangs holds up itself.
type dispatcher struct {
	*Service
	planner *planner
	node    string

	held      map[int]int64 // shards, with their epochs
	draining  map[int]bool  // of these: to be released
	leaseEnds time.Time     // in real time
	nextBeat  time.Time     // in real time

	lanes
	seen     time.Time // deliveries due until then were looked for
	searched time.Time // when all webhooks were looked at, in real time
	jumped   time.Time // when the clock was moved: who read it before may commit after
	isHinted bool      // deliveries were queued, or time has moved
	isTime   bool      // to look, whatever the hints

	running map[string]*flight // by delivery
	places  int                // taken by attempts
	slow    int                // attempts that have left theirs
	suspect int                // places taken by endpoints that may be dead

	firstPlaces int // places taken by webhooks of the first line

	claimed     time.Time   // when the last step of its kind began, in real time
	recordBegan time.Time   // likewise
	wakeAt      time.Time   // for a step that waits; zero: none does
	takenOf     map[int]int // deliveries that are taken, by shard
	finished    []Outcome   // to be recorded
	spare       []Outcome   // room for others
	results     chan Outcome
	recorded    chan recording
	recording   []Outcome // that a call of the store is recording
	recordAt    time.Time // after a fault, in real time
	stopping    bool
	stopBy      time.Time // real: what cannot be recorded by then is sent again by others
}

// flight is an attempt that runs.
type flight struct {
	lane      *lane
	started   time.Time // real
	isSlow    bool
	isSuspect bool
	isFirst   bool
}

func newDispatcher(s *Service) *dispatcher {
	return &dispatcher{
		Service: s, planner: &planner{Service: s, taken: make(chan struct{}, 1)}, node: rand.Text(),
		held: map[int]int64{}, draining: map[int]bool{}, takenOf: map[int]int{},
		lanes: lanes{byID: map[string]*lane{}, usage: newUsage()}, running: map[string]*flight{},
		results: make(chan Outcome, (1+slowPerPlace)*s.cfg.MaxInFlight), recorded: make(chan recording, 1),
	}
}

// run dispatches until ctx ends, and then until what is under way has been
// recorded.
func (d *dispatcher) run(ctx context.Context) {
	news, stop := d.cfg.Store.Watch(TopicQueued)
	defer stop()
	freed, stopFreed := d.cfg.Store.Watch(TopicShards)
	defer stopFreed()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	age := time.NewTicker(ageEvery)
	defer age.Stop()
	beat := time.NewTimer(0)
	defer beat.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { // even if the loop waits for the database
		late := time.NewTimer(AttemptTimeout + stopGrace)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-work.Done():
		}
	})()
	ended, changed := ctx.Done(), d.cfg.Clock.Changed()
	for {
		d.turn(work)
		if d.hasStopped() {
			break
		}
		beat.Reset(time.Until(d.nextBeat))
		var ages, woken <-chan time.Time
		if d.places > 0 {
			ages = age.C
		}
		if !d.wakeAt.IsZero() {
			wake.Reset(time.Until(d.wakeAt))
			woken = wake.C
		}
		select {
		case o := <-d.results:
			d.finish(work, o)
		case r := <-d.recorded:
			d.settle(work, r)
		case <-news:
			d.isHinted = true
		case <-changed:
			changed = d.cfg.Clock.Changed()
			d.isHinted, d.jumped = true, time.Now()
		case <-freed:
			d.nextBeat = time.Time{} // it may be our share
		case <-beat.C:
		case <-woken:
		case <-tick.C:
			d.isTime = true
			d.noteOldest()
		case <-ages:
			d.ageAttempts()
		case <-ended:
			d.stopping, ended = true, nil
			d.stopBy = time.Now().Add(AttemptTimeout + stopGrace)
		}
	}
	for _, o := range slices.Concat(d.recording, d.finished) { // others send them again, or this service does
		d.taken.remove(o.Due.ID)
	}
	leave, cancelLeave := context.WithTimeout(context.WithoutCancel(ctx), leaveGrace)
	defer cancelLeave()
	if err := d.store.Leave(leave, d.node); err != nil {
		d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot release the shards; others wait for the lease to end", "err", err)
	}
}

// turn does all that can be done now.
func (d *dispatcher) turn(ctx context.Context) {
	now := d.cfg.Clock.Now()
	d.wakeAt = time.Time{}
	d.collect(ctx)
	d.beat(ctx)
	if !d.stopping {
		d.look(ctx, now)
		d.claim(ctx, now)
	}
	d.planner.hold(d.isMine(PlanShard))
	d.record(ctx, now)
	d.release(ctx)
}

// isTimeFor reports whether a step is to be made now: there are enough
// deliveries for it, or nothing is under way that could bring more, or the last one was a while
// ago. Otherwise the next turn comes in time.
func (d *dispatcher) isTimeFor(last *time.Time, gather time.Duration, isEnough bool) bool { //nolint:revive // how things stand, not a switch
	now := time.Now()
	if next := last.Add(gather); !isEnough && len(d.running) > 0 && now.Before(next) {
		if d.wakeAt.IsZero() || next.Before(d.wakeAt) {
			d.wakeAt = next
		}
		return false
	}
	*last = now
	return true
}

func (d *dispatcher) hasStopped() bool {
	switch {
	case !d.stopping:
		return false
	case !time.Now().Before(d.stopBy):
		return true
	}
	return d.recording == nil && len(d.running) == 0 && len(d.finished) == 0
}
