package webhooks

import (
	"context"
	"maps"
	"time"
)

// recording is what came of recording outcomes.
type recording struct {
	outcomes []Outcome
	held     map[int]int64 // when it began
	finished Finished
	err      error
}

// finish takes an attempt's place back. Its outcome still has to be recorded.
func (d *dispatcher) finish(ctx context.Context, o Outcome) {
	f := d.running[o.Due.ID]
	delete(d.running, o.Due.ID)
	d.leave(f)
	if f.isSlow {
		d.slow--
	}
	f.lane.inFlight--
	f.lane.learn(o.Status == Delivered, d.cfg.PerEndpoint)
	d.wait(f.lane)
	d.finished = append(d.finished, o)
	d.telemetry.end(ctx, o)
}

// leave gives up the place of an attempt, once.
func (d *dispatcher) leave(f *flight) {
	if f.isSlow {
		return
	}
	d.places--
	if f.isSuspect {
		d.suspect--
	}
	if f.isFirst {
		d.firstPlaces--
	}
}

// collect takes all results that are there.
func (d *dispatcher) collect(ctx context.Context) {
	for {
		select {
		case o := <-d.results:
			d.finish(ctx, o)
		default:
			return
		}
	}
}

// ageAttempts makes room: an attempt that takes long leaves its place, and its
// endpoint gets no second one until it has answered.
func (d *dispatcher) ageAttempts() {
	for _, f := range d.running {
		if !f.isSlow && time.Since(f.started) >= slowAfter && d.slow < slowPerPlace*d.cfg.MaxInFlight {
			d.leave(f)
			f.isSlow = true
			d.slow++
			f.lane.limit = 1
		}
	}
}

// record hands outcomes over to be committed, many at a time and one commit after
// the other: what finishes meanwhile goes with the next.
func (d *dispatcher) record(ctx context.Context, now time.Time) {
	if d.recording != nil || len(d.finished) == 0 || time.Now().Before(d.recordAt) {
		return
	}
	if !d.isTimeFor(&d.recordBegan, recordGather, len(d.finished) >= recordEnough) {
		return
	}
	n := min(len(d.finished), finishBatch)
	batch := d.finished[:n:n]
	d.finished = append(d.spare[:0], d.finished[n:]...)
	d.recording = batch
	held := maps.Clone(d.held)
	f := Finish{Node: d.node, Now: now, Lease: d.lease(), Outcomes: batch}
	go func() {
		finished, err := d.store.FinishAttempts(ctx, f)
		d.recorded <- recording{outcomes: batch, held: held, finished: finished, err: err}
	}()
}

// settle takes notice of what was recorded. After a fault the same is recorded
// again: what was recorded before all the same is left as it is.
func (d *dispatcher) settle(ctx context.Context, r recording) {
	d.recording = nil
	if r.err != nil {
		d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot record attempts, trying again", "attempts", len(r.outcomes), "err", r.err)
		d.finished = append(r.outcomes, d.finished...)
		d.recordAt = time.Now().Add(tryAgain)
		return
	}
	for _, o := range r.outcomes {
		shard := ShardOf(o.Due.WebhookID)
		d.taken.remove(o.Due.ID)
		d.byID[o.Due.WebhookID].taken--
		d.takenOf[shard]--
		d.telemetry.count(ctx, o)
	}
	clear(r.outcomes)
	d.spare = r.outcomes
	d.lose(r.held, r.finished.Held)
	for _, webhookID := range r.finished.Warn {
		d.cfg.Failing(ctx, webhookID)
	}
}
