package webhooks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	// lookEvery is how often the planner, and the dispatcher too, looks for what no hint
	// told it of: one look a second in all.
	lookEvery = 2 * time.Second
	// tryAgain is the pause after something failed.
	tryAgain = time.Second
	// searchEvery is how often they look for what is older than they expect.
	searchEvery = time.Minute
	// lateCommits is how long after it was made an event may commit and still be
	// found at once, and not by the next search.
	lateCommits = time.Minute
	planBatch   = 500
	// planGather is how long after it planned something it does not look again: one
	// plan for many events costs less than one for each.
	planGather = 5 * time.Millisecond
)

// planner turns events into deliveries while its node holds the planning.
type planner struct {
	*Service
	isHolder atomic.Bool
	taken    chan struct{} // has a value after the planning was taken
	// Events with ids up to here were looked at. Only a search looks before it:
	// a database may have to step over many rows there that are done.
	after    string
	searched time.Time // zero: not since the planning was taken; real time
	planned  time.Time // when something was; real time
}

// hold says whether the node holds the planning.
func (p *planner) hold(is bool) { //nolint:revive // the state, not a switch
	if is && !p.isHolder.Swap(is) {
		select {
		case p.taken <- struct{}{}:
		default:
		}
	} else if !is {
		p.isHolder.Store(false)
	}
}

// run plans until ctx ends.
func (p *planner) run(ctx context.Context) {
	news, stop := p.cfg.Store.Watch(events.TopicRecorded)
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if !p.isHolder.Load() {
			p.searched = time.Time{}
		} else if err := p.planAll(ctx); err != nil && ctx.Err() == nil {
			p.cfg.Logger.ErrorContext(ctx, "webhooks: planning failed, trying again", "err", err)
			// News would only bring the next fault.
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.taken:
		case <-news:
		case <-tick.C:
		}
		if rest := planGather - time.Since(p.planned); rest > 0 {
			time.Sleep(rest)
		}
	}
}

// planAll plans until there is nothing left.
func (p *planner) planAll(ctx context.Context) error {
	if time.Since(p.searched) >= searchEvery {
		p.after, p.searched = "", time.Now()
	}
	var newest time.Time
	for after := p.after; p.isHolder.Load(); {
		unplanned, err := p.cfg.Store.UnplannedEvents(ctx, after, planBatch)
		if err != nil {
			return err
		}
		found := unplanned.Events
		if len(found) > 0 {
			if err := p.planSome(ctx, unplanned); err != nil {
				return err
			}
			last := found[len(found)-1]
			after, newest = last.ID, last.CreatedAt
		}
		if len(found) < planBatch {
			break
		}
	}
	if !newest.IsZero() {
		p.after = max(p.after, id.Floor(id.Event, newest.Add(-lateCommits)))
	}
	return nil
}

func (p *planner) planSome(ctx context.Context, unplanned Unplanned) error {
	plan, errs := p.plan(unplanned, p.cfg.Clock.Now())
	for _, err := range errs {
		p.cfg.Logger.ErrorContext(ctx, "webhooks: an event cannot be delivered", "err", err)
	}
	queued, err := p.cfg.Store.SavePlan(ctx, plan)
	if err != nil {
		return err
	}
	p.planned = time.Now()
	p.telemetry.queued.Add(ctx, int64(queued))
	return nil
}
