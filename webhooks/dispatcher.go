package webhooks

import (
	"context"
	"crypto/rand"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const (
	ageEvery = 100 * time.Millisecond
	// searchEvery is how often the dispatcher looks at every webhook that has deliveries
	// queued, in case that anything was overlooked.
	searchEvery = 10 * time.Minute
	// After its context ends the dispatcher waits AttemptTimeout and stopGrace for
	// attempts and their recording, and leaveGrace to give up its shards.
	stopGrace  = 5 * time.Second
	leaveGrace = 2 * time.Second
	// While attempts are in flight, claiming waits for claimEnough deliveries, but not
	// longer than claimGather.
	claimEnough = 96
	claimGather = 5 * time.Millisecond
)

const (
	// lookBack is how far back the dispatcher looks for attempts to repeat: the transaction
	// that records them commits a little later than it reads the clock.
	lookBack = 5 * time.Second
	// mostSkew is how far the clocks of nodes may differ.
	mostSkew = 5 * time.Minute
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

	waiting   waitingRoom
	look      look
	claimPace pace
	attempts  chan webhookstore.Outcome
	recorded  chan recordResult
	searched  chan searchResult
	stopBy    time.Time // real; zero until the context ends
}

// look records how far the dispatcher has looked into the database.
type look struct {
	news       webhookstore.NewsPlace // nil: not yet
	until      time.Time              // attempts to repeat that are due by then were looked for
	isHinted   bool                   // deliveries were queued
	isTime     bool                   // to look without a hint
	unsearched map[int]bool           // send shards whose webhooks were not all looked at
	isAtIt     bool                   // a search is under way
	searchAt   time.Time              // when the next search may begin, in real time
	searchAll  time.Time              // when every shard is to be searched again, in real time
}

// searchResult is the webhooks of some send shards that have deliveries queued.
type searchResult struct {
	shards []int
	due    []webhookstore.DueWebhook
	err    error
}

// recordResult is the result of recording a batch of outcomes.
type recordResult struct {
	batch    []webhookstore.Outcome
	held     map[webhookstore.ShardID]int64 // when it began
	finished webhookstore.Finished
	err      error
}

func newDispatcher(s *Service) *dispatcher {
	node := rand.Text()
	return &dispatcher{
		svc: s, planner: newPlanner(s, node),
		owner:     newOwnership(s.store, s.cfg.Logger, node, s.cfg.Lease),
		scheduler: newScheduler(s.cfg.MaxInFlight, s.cfg.PerEndpoint), recorder: newRecorder(),
		claimPace: pace{gather: claimGather}, waiting: waitingRoom{},
		attempts: make(chan webhookstore.Outcome, (1+slowPerSlot)*s.cfg.MaxInFlight), recorded: make(chan recordResult, 1), searched: make(chan searchResult, 1),
		look: look{unsearched: map[int]bool{}},
	}
}

// run dispatches until ctx ends, and then until the attempts in flight are recorded or it
// is too late.
func (d *dispatcher) run(ctx context.Context) {
	queued, freed := d.svc.watch(webhookstore.TopicQueued), d.svc.watch(webhookstore.TopicShards)
	defer queued.Stop()
	defer freed.Stop()
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
	d.look.until = d.svc.cfg.Clock.Now()
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
		case r := <-d.searched:
			d.endSearch(ctx, r)
		case <-queued.C:
			d.look.isHinted = true
		case <-changed:
			changed = clock.Changed(d.svc.cfg.Clock)
			d.look.isTime = true
		case <-freed.C:
			d.owner.nextBeat = time.Time{} // the shards may be our share
		case <-beat.C:
		case <-wake.C:
		case <-tick.C:
			d.look.isTime = true
			d.svc.telemetry.oldest.Store(max(0, d.scheduler.oldest().UnixMilli()))
		case <-ages:
			d.scheduler.age(time.Now())
		case <-ended:
			d.owner.isStopping, d.owner.isChanged, ended = true, true, nil
			d.stopBy = time.Now().Add(AttemptTimeout + stopGrace)
		}
	}
	for _, o := range d.recorder.unrecorded() { // they are sent again
		d.svc.outstanding.remove(o.Due.ID)
	}
	leave, cancelLeave := context.WithTimeout(context.WithoutCancel(ctx), leaveGrace)
	defer cancelLeave()
	if err := d.svc.store.LeaveShards(leave, d.owner.node); err != nil {
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
	for _, shard := range change.unknown {
		d.look.unsearched[shard] = true
	}
	if !d.owner.isStopping {
		d.findWork(ctx, now)
		d.claimAll(ctx, now)
	}
	d.record(ctx, now)
	d.handOver(d.owner.release(ctx))
	if d.owner.isChanged {
		d.owner.isChanged = false
		d.planner.hold(d.owner.planning(), d.owner.shards)
	}
}

// handOver forgets the work of shards that another node has, or will have.
func (d *dispatcher) handOver(shards []webhookstore.ShardID) {
	for _, shard := range shards {
		if shard.Kind == webhookstore.SendShard {
			d.scheduler.forget(shard.Number)
		}
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

// findWork looks for webhooks that have deliveries due: in the news and, from time to time,
// for attempts to repeat and at every webhook of new shards. Each of them is tried again
// after an error, and does not stand in the way of the others.
func (d *dispatcher) findWork(ctx context.Context, now time.Time) {
	if len(d.owner.held) == 0 {
		return
	}
	if d.look.isHinted || d.look.isTime || d.look.news == nil {
		d.look.isHinted = false
		if err := d.readNews(ctx, now); err != nil {
			d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: looking for new deliveries failed", "err", err)
		}
	}
	if d.look.isTime {
		d.look.isTime = false
		for _, one := range d.waiting.expired(now) {
			if shard := d.owner.shardOf(one.WebhookID); d.owner.isMine(shard) {
				d.scheduler.add(one, shard.Number, now)
			}
		}
		if err := d.readDue(ctx, now); err != nil {
			d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: looking for attempts to repeat failed", "err", err)
		}
	}
	d.search(ctx)
}

// readNews takes the webhooks that got deliveries since it was called last. A search of new
// shards begins after it, so that nothing falls between the two.
func (d *dispatcher) readNews(ctx context.Context, now time.Time) error {
	for hasMore := true; hasMore; {
		isFirst := d.look.news == nil
		news, err := d.svc.store.News(ctx, d.look.news)
		if err != nil {
			return err
		}
		d.look.news, hasMore = news.Place, news.HasMore
		if isFirst || news.IsIncomplete {
			d.searchAll()
		}
		for _, one := range news.Webhooks {
			if shard := d.owner.shardOf(one.WebhookID); d.owner.isMine(shard) {
				d.scheduler.add(one, shard.Number, now)
			}
		}
	}
	return nil
}

// readDue takes the webhooks that have attempts to repeat. When the clock was set back, those
// that were recorded since are found once they are due again.
func (d *dispatcher) readDue(ctx context.Context, now time.Time) error {
	if now.Before(d.look.until) {
		d.look.until = now
	}
	due, err := d.svc.store.DueWebhooks(ctx, d.owner.sending(), d.look.until.Add(-lookBack), now)
	if err != nil {
		return err
	}
	d.look.until = now
	for _, one := range due {
		if shard := d.owner.shardOf(one.WebhookID); d.owner.isMine(shard) {
			d.scheduler.add(webhookstore.DueWebhook{WebhookID: one.WebhookID, First: one.First}, shard.Number, now)
		}
	}
	return nil
}

func (d *dispatcher) searchAll() {
	for _, shard := range d.owner.sending() {
		d.look.unsearched[shard] = true
	}
	d.look.searchAll = time.Now().Add(searchEvery)
}

// search looks at every webhook of the shards that were not searched, beside everything else:
// it takes long where there are millions of deleted rows that a database cannot remove yet.
func (d *dispatcher) search(ctx context.Context) {
	now := time.Now()
	if d.look.news == nil || d.look.isAtIt || now.Before(d.look.searchAt) {
		return
	}
	if now.After(d.look.searchAll) {
		d.searchAll()
	}
	if len(d.look.unsearched) == 0 {
		return
	}
	shards := slices.Collect(maps.Keys(d.look.unsearched))
	clear(d.look.unsearched)
	d.look.isAtIt = true
	old := d.look.until.Add(-lookBack)
	go func() {
		r := searchResult{shards: shards}
		if r.err = d.svc.store.ForgetDue(ctx, shards, old); r.err == nil {
			r.due, r.err = d.svc.store.QueuedWebhooks(ctx, shards)
		}
		d.searched <- r
	}()
}

func (d *dispatcher) endSearch(ctx context.Context, r searchResult) {
	d.look.isAtIt = false
	if r.err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: searching the queue failed, trying again", "err", r.err)
		d.look.searchAt = time.Now().Add(tryAgain)
		for _, shard := range r.shards {
			d.look.unsearched[shard] = true
		}
	}
	now := d.svc.cfg.Clock.Now()
	for _, one := range r.due {
		// One that is due a little later may be a first attempt, from a node whose clock is
		// ahead.
		if shard := d.owner.shardOf(one.WebhookID); d.owner.isMine(shard) && !one.First.After(now.Add(mostSkew)) {
			d.scheduler.add(one, shard.Number, now)
		}
	}
	d.scheduler.trim()
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
	turns := d.scheduler.choose(func(shard int) bool {
		return d.owner.isMine(webhookstore.ShardID{Kind: webhookstore.SendShard, Number: shard})
	})
	if len(turns) == 0 {
		return false
	}
	claims := make([]webhookstore.WebhookClaim, len(turns))
	for i, t := range turns {
		claims[i] = t.claim
	}
	due, err := d.svc.store.DueDeliveries(ctx, webhookstore.Claim{Webhooks: claims, Now: now, IsTaken: d.svc.outstanding.has})
	if err != nil {
		d.svc.cfg.Logger.ErrorContext(ctx, "webhooks: reading due deliveries failed", "err", err)
		d.scheduler.finishTurns(turns, nil)
		return false
	}
	got := map[string]int{}
	for _, one := range due {
		if d.svc.mustWait(one, now) {
			d.waiting.add(one)
			continue
		}
		got[one.WebhookID]++
		d.send(ctx, one, now)
	}
	return d.scheduler.finishTurns(turns, got)
}

// send begins an attempt, or drops a delivery whose gate has closed.
func (d *dispatcher) send(ctx context.Context, due webhookstore.Due, now time.Time) {
	shard := d.owner.shardOf(due.WebhookID)
	epoch := d.owner.held[shard]
	d.owner.outstanding[shard]++
	d.svc.outstanding.add(due.ID)
	d.scheduler.claimed(due)
	if closed := d.svc.gate(due.Delivery, due.Standing); closed != gateOpen {
		d.svc.telemetry.drop(ctx, closed)
		d.recorder.add(webhookstore.Outcome{Due: due, Epoch: epoch, Status: partner.DeliveryFailed, Attempts: due.Attempts, LastError: closed.text()})
		return
	}
	d.scheduler.start(due, time.Now())
	d.svc.telemetry.begin(ctx, due, now)
	go func() { d.attempts <- d.svc.attempt(ctx, due, epoch) }()
}

// complete ends an attempt. Its outcome still has to be recorded.
func (d *dispatcher) complete(ctx context.Context, o webhookstore.Outcome) {
	d.scheduler.complete(o.Due.ID, o.Status == partner.DeliveryDelivered)
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
	f := webhookstore.Finish{Node: d.owner.node, Now: now, Outcomes: batch, DisableAfter: d.svc.cfg.DisableAfter}
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
		d.owner.outstanding[d.owner.shardOf(o.Due.WebhookID)]--
		d.scheduler.recorded(o.Due.WebhookID)
		if o.Status == partner.DeliveryRetrying && !o.NextAttemptAt.After(d.look.until) { // it was looked for already
			again := webhookstore.DueWebhook{WebhookID: o.Due.WebhookID, First: o.NextAttemptAt.Truncate(time.Millisecond)}
			d.scheduler.add(again, d.owner.shardOf(again.WebhookID).Number, d.look.until)
		}
		d.svc.telemetry.count(ctx, o)
	}
	d.svc.tellHealth(ctx, r) // before end, which uses the batch again
	d.recorder.end(nil, time.Now())
	d.handOver(d.owner.keepSending(r.held, r.finished.Held))
}
