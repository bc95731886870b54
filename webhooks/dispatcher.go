package webhooks

import (
	"context"
	"crypto/rand"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

const (
	ageEvery = 100 * time.Millisecond
	// lookEvery is how often the dispatcher looks for due deliveries that no hint told it
	// of.
	lookEvery = 2 * time.Second
	// After its context ends the dispatcher waits AttemptTimeout and stopGrace for
	// attempts and their recording, and leaveGrace to give up its shards.
	stopGrace  = 5 * time.Second
	leaveGrace = 2 * time.Second
	// While attempts are in flight, claiming waits for claimEnough deliveries, but not
	// longer than claimGather.
	claimEnough = 96
	claimGather = 5 * time.Millisecond
)

// How far back the dispatcher looks for due deliveries: a transaction may read the clock a
// little before it commits. A search finds those that are later still.
const (
	lookBack = 5 * time.Second // every lookEvery
	hintBack = time.Second     // after a hint, of which there can be many
)

// dispatcher sends the due deliveries of the shards that its node holds. One goroutine
// owns all of its fields; attempts and commits run beside it and report back. See the
// package comment.
type dispatcher struct {
	svc       *Service
	planner   *planner
	owner     *ownership
	scheduler *scheduler
	recorder  recorder

	look      look
	claimPace pace
	attempts  chan Outcome
	recorded  chan recordResult
	stopBy    time.Time // real; zero until the context ends
}

// look records how far the dispatcher has looked into the queues of the database.
type look struct {
	until    time.Time // deliveries due by then were looked for
	searched time.Time // when all queues were looked at, in real time
	jumped   time.Time // when the clock was moved, in real time
	isHinted bool      // deliveries were queued, or the clock was moved
	isTime   bool      // to look without a hint
}

// recordResult is the result of recording a batch of outcomes.
type recordResult struct {
	batch    []Outcome
	held     map[int]int64 // shards when it began
	finished Finished
	err      error
}

func newDispatcher(s *Service) *dispatcher {
	return &dispatcher{
		svc: s, planner: &planner{svc: s, taken: make(chan struct{}, 1)},
		owner:     newOwnership(s.store, s.cfg.Logger, rand.Text(), s.cfg.Lease),
		scheduler: newScheduler(s.cfg.MaxInFlight, s.cfg.PerEndpoint), recorder: newRecorder(),
		claimPace: pace{gather: claimGather},
		attempts:  make(chan Outcome, (1+slowPerSlot)*s.cfg.MaxInFlight), recorded: make(chan recordResult, 1),
	}
}

// run dispatches until ctx ends, and then until the attempts in flight are recorded or it
// is too late.
func (d *dispatcher) run(ctx context.Context) {
	queued, stopQueued := d.svc.watch(TopicQueued)
	defer stopQueued()
	freed, stopFreed := d.svc.watch(TopicShards)
	defer stopFreed()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	age := time.NewTicker(ageEvery)
	defer age.Stop()
	beat := time.NewTimer(0)
	defer beat.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	work, cancel := workContext(ctx)
	defer cancel()
	ended, changed := ctx.Done(), clock.Changed(d.svc.cfg.Clock)
	for {
		d.step(work)
		if d.hasStopped() {
			break
		}
		beat.Reset(time.Until(d.owner.nextBeat))
		if at := d.wakeAt(); !at.IsZero() {
			wake.Reset(time.Until(at))
		}
		var ages <-chan time.Time
		if d.scheduler.used > 0 {
			ages = age.C
		}
		select {
		case o := <-d.attempts:
			d.complete(work, o)
		case r := <-d.recorded:
			d.endRecording(work, r)
		case <-queued:
			d.look.isHinted = true
		case <-changed:
			changed = clock.Changed(d.svc.cfg.Clock)
			d.look.isHinted, d.look.jumped = true, time.Now()
		case <-freed:
			d.owner.nextBeat = time.Time{} // the shards may be our share
		case <-beat.C:
		case <-wake.C:
		case <-tick.C:
			d.look.isTime = true
			d.svc.telemetry.oldest.Store(max(0, d.scheduler.oldest().UnixMilli()))
		case <-ages:
			d.scheduler.age(time.Now())
		case <-ended:
			d.owner.isStopping, ended = true, nil
			d.stopBy = time.Now().Add(AttemptTimeout + stopGrace)
		}
	}
	for _, o := range d.recorder.unrecorded() { // they are sent again
		d.svc.outstanding.remove(o.Due.ID)
	}
	leave, cancelLeave := context.WithTimeout(context.WithoutCancel(ctx), leaveGrace)
	defer cancelLeave()
	if err := d.svc.store.ReleaseShards(leave, ShardRelease{Node: d.owner.node, IsLeaving: true}); err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: releasing the shards failed; other nodes wait for the lease to end", "err", err)
	}
}

// workContext returns the context of attempts and of calls to the store. It ends when the
// dispatcher must have stopped, even if the dispatcher then waits for the store.
func workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(AttemptTimeout + stopGrace)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-work.Done():
		}
	})
	return work, func() {
		stop()
		cancel()
	}
}

// step does everything that can be done now. It lets attempts that have ended report first,
// which makes fewer steps with more outcomes each: draining reached 60 % of a bare loop
// with it and 53 % without.
func (d *dispatcher) step(ctx context.Context) {
	runtime.Gosched()
	now := d.svc.cfg.Clock.Now()
	d.claimPace.wakeAt, d.recorder.pace.wakeAt = time.Time{}, time.Time{}
	d.completeAll(ctx)
	change := d.owner.beat(ctx)
	d.handOver(change.lost)
	if change.mayFind {
		d.look.searched = time.Time{}
	}
	if !d.owner.isStopping {
		d.findWork(ctx, now)
		d.claimAll(ctx, now)
	}
	d.planner.hold(d.owner.isMine(PlanShard))
	d.record(ctx, now)
	d.handOver(d.owner.release(ctx))
}

// handOver forgets the work of shards that another node has, or will have.
func (d *dispatcher) handOver(shards []int) {
	for _, shard := range shards {
		d.scheduler.forget(shard)
	}
}

// wakeAt returns when a step that was put off is due; zero if none was.
func (d *dispatcher) wakeAt() time.Time {
	at := d.claimPace.wakeAt
	if r := d.recorder.pace.wakeAt; at.IsZero() || !r.IsZero() && r.Before(at) {
		at = r
	}
	return at
}

func (d *dispatcher) hasStopped() bool {
	switch {
	case !d.owner.isStopping:
		return false
	case !time.Now().Before(d.stopBy):
		return true
	}
	return len(d.scheduler.flights) == 0 && d.recorder.isEmpty()
}

// findWork looks for webhooks that have deliveries due.
func (d *dispatcher) findWork(ctx context.Context, now time.Time) {
	var (
		due []DueWebhook
		err error
	)
	isHintOnly := false
	shards := slices.Sorted(maps.Keys(d.owner.held))
	switch real := time.Now(); {
	case real.Sub(d.look.searched) >= searchEvery, (d.look.isTime || d.look.isHinted) && real.Sub(d.look.jumped) < lookBack:
		if due, err = d.svc.store.DueWebhooks(ctx, DueQuery{All: true}); err == nil {
			d.look.searched = real
			d.scheduler.trim()
		}
	case d.look.isTime:
		due, err = d.svc.store.DueWebhooks(ctx, DueQuery{Shards: shards, After: d.look.until.Add(-lookBack), Until: now})
	case d.look.isHinted:
		isHintOnly = true
		due, err = d.svc.store.DueWebhooks(ctx, DueQuery{Shards: shards, After: d.look.until.Add(-hintBack), Until: now})
	default:
		return
	}
	d.look.isTime, d.look.isHinted = false, false
	if err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: looking for due deliveries failed", "err", err)
		return
	}
	d.look.until = now
	for _, one := range due {
		if !d.owner.isMine(ShardOf(one.WebhookID)) || one.Due.After(now) {
			continue
		}
		// After a hint most of what is found is claimed already. A delivery that was
		// committed late, behind a claimed one, is found by the next look.
		if isHintOnly && d.scheduler.isClaimedUntil(one.WebhookID, one.Latest) {
			continue
		}
		d.scheduler.add(one.WebhookID, one.Due)
	}
}

// claimAll gives the free slots to webhooks and sends their deliveries. It waits while
// outcomes come faster than they are recorded.
func (d *dispatcher) claimAll(ctx context.Context, now time.Time) {
	isEnough := d.scheduler.wanted() >= claimEnough
	if d.recorder.isFull() || !d.scheduler.isWaiting() || !d.claimPace.isTime(time.Now(), isEnough, len(d.scheduler.flights) > 0) {
		return
	}
	for d.claim(ctx, now) {
	}
}

// claim claims once, and reports whether to claim again at once.
func (d *dispatcher) claim(ctx context.Context, now time.Time) (again bool) {
	turns := d.scheduler.choose(d.owner.isMine)
	if len(turns) == 0 {
		return false
	}
	claims := make([]WebhookClaim, len(turns))
	for i, t := range turns {
		claims[i] = t.claim
	}
	due, err := d.svc.store.DueDeliveries(ctx, Claim{Webhooks: claims, Now: now, IsTaken: d.svc.outstanding.has})
	if err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: reading due deliveries failed", "err", err)
		d.scheduler.finishTurns(turns, nil)
		return false
	}
	got := map[string]int{}
	for _, one := range due {
		got[one.WebhookID]++
		d.send(ctx, one, now)
	}
	return d.scheduler.finishTurns(turns, got)
}

// send begins an attempt, or drops a delivery whose gate has closed.
func (d *dispatcher) send(ctx context.Context, due Due, now time.Time) {
	shard := ShardOf(due.WebhookID)
	epoch := d.owner.held[shard]
	d.owner.outstanding[shard]++
	d.svc.outstanding.add(due.ID)
	d.scheduler.claimed(due)
	if closed := d.svc.gate(due.Delivery, due.Standing); closed != gateOpen {
		d.svc.telemetry.drop(ctx, closed)
		d.recorder.add(Outcome{Due: due, Epoch: epoch, Status: Failed, Attempts: due.Attempts, LastError: closed.text()})
		return
	}
	d.scheduler.start(due, time.Now())
	d.svc.telemetry.begin(ctx, due, now)
	go func() { d.attempts <- d.svc.attempt(ctx, due, epoch) }()
}

// complete ends an attempt. Its outcome still has to be recorded.
func (d *dispatcher) complete(ctx context.Context, o Outcome) {
	d.scheduler.complete(o.Due.ID, o.Status == Delivered)
	d.recorder.add(o)
	d.svc.telemetry.end(ctx, o)
}

// completeAll completes the attempts that have ended by now.
func (d *dispatcher) completeAll(ctx context.Context) {
	for {
		select {
		case o := <-d.attempts:
			d.complete(ctx, o)
		default:
			return
		}
	}
}

// record begins to record a batch of outcomes, if it is time.
func (d *dispatcher) record(ctx context.Context, now time.Time) {
	batch := d.recorder.begin(time.Now(), len(d.scheduler.flights) > 0)
	if batch == nil {
		return
	}
	held := maps.Clone(d.owner.held)
	f := Finish{Node: d.owner.node, Now: now, Lease: d.owner.lease(), Outcomes: batch, DisableAfter: d.svc.cfg.DisableAfter}
	go func() {
		finished, err := d.svc.store.FinishAttempts(ctx, f)
		d.recorded <- recordResult{batch: batch, held: held, finished: finished, err: err}
	}()
}

// endRecording takes the result of recording a batch.
func (d *dispatcher) endRecording(ctx context.Context, r recordResult) {
	if r.err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: recording attempts failed, trying again", "attempts", len(r.batch), "err", r.err)
		d.recorder.end(r.err, time.Now())
		return
	}
	for _, o := range r.batch {
		d.svc.outstanding.remove(o.Due.ID)
		d.owner.outstanding[ShardOf(o.Due.WebhookID)]--
		d.scheduler.recorded(o.Due.WebhookID)
		d.svc.telemetry.count(ctx, o)
	}
	d.svc.tellHealth(ctx, r) // before end, which uses the batch again
	d.recorder.end(nil, time.Now())
	d.handOver(d.owner.keep(r.held, r.finished.Held))
}
