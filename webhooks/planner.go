package webhooks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
)

const (
	// planEvery is how often the planner looks for events that no hint told it of: those
	// of a host's own transactions. They are delivered within one second.
	planEvery = 950 * time.Millisecond
	// tryAgain is the pause after something failed.
	tryAgain = time.Second
	// searchEvery is how often they look for what is older than they expect.
	searchEvery = time.Minute
	// lateCommits is how long after it was made an event may commit and still be
	// found at once, and not by the next search.
	lateCommits = time.Minute
	// numberRounds bounds the events that are numbered before some are planned.
	numberRounds = 10
	// plansPerRead is the maximum number of plans that are made from one read. Other
	// businesses with new events wait for these plans.
	plansPerRead = 4
	// planGather is how long after it planned something it does not look again: one
	// plan for many events costs less than one for each.
	planGather = 5 * time.Millisecond
)

// planner turns events into deliveries while its node holds the planning.
type planner struct {
	svc      *Service
	isHolder atomic.Bool
	taken    chan struct{} // has a value after the planning was taken
	// Events with ids up to here have numbers. Only a search looks before it: a database
	// may have to step over many rows there.
	after    string
	idsAt    time.Time // of the next delivery's id
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
	news, stop := p.svc.watch(events.TopicRecorded)
	defer stop()
	tick := time.NewTicker(planEvery)
	defer tick.Stop()
	for {
		if !p.isHolder.Load() {
			p.searched = time.Time{}
		} else if err := p.planAll(ctx); err != nil && ctx.Err() == nil {
			p.svc.cfg.Logger.ErrorContext(ctx, "webhooks: planning failed, trying again", "err", err)
			// A wake-up now would only cause the next error.
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.taken:
		case <-p.svc.woken:
		case <-news:
		case <-tick.C:
		}
		if rest := planGather - time.Since(p.planned); rest > 0 {
			time.Sleep(rest)
		}
	}
}

// planAll plans until there is nothing left. In each round every business that has a
// backlog gets a share of one plan.
func (p *planner) planAll(ctx context.Context) error {
	if time.Since(p.searched) >= searchEvery {
		p.after, p.searched = "", time.Now()
	}
	for p.isHolder.Load() {
		hasMore, err := p.number(ctx)
		if err != nil {
			return err
		}
		planned, err := p.round(ctx)
		if err != nil {
			return err
		}
		if !planned && !hasMore {
			return nil
		}
	}
	return nil
}

// number gives recorded events their numbers, and reports whether there may be more.
func (p *planner) number(ctx context.Context) (hasMore bool, err error) {
	newest, after := "", p.after
	for range numberRounds {
		numbered, err := p.svc.store.NumberEvents(ctx, events.Numbering{After: after})
		if err != nil {
			return false, err
		}
		newest, after, hasMore = max(newest, numbered.LastID), max(after, numbered.LastID), numbered.HasMore
		if !hasMore {
			break
		}
	}
	if at, ok := id.Time(id.Event, newest); ok {
		p.after = max(p.after, id.Floor(id.Event, at.Add(-lateCommits)))
	}
	return hasMore, nil
}

// round plans some events of every business that has unplanned ones, and reports whether
// there was one.
func (p *planner) round(ctx context.Context) (planned bool, err error) {
	for after := ""; p.isHolder.Load(); {
		unplanned, err := p.svc.store.Unplanned(ctx, after)
		if err != nil || len(unplanned.Backlogs) == 0 {
			return planned, err
		}
		if err := p.planSome(ctx, unplanned); err != nil {
			return planned, err
		}
		after, planned = unplanned.Backlogs[len(unplanned.Backlogs)-1].BusinessID, true
	}
	return planned, nil
}

// planSome saves up to plansPerRead plans of what was read. Each is a transaction of its
// own, so that other writers need not wait for all of them.
func (p *planner) planSome(ctx context.Context, unplanned Unplanned) error {
	for range plansPerRead {
		now := p.svc.cfg.Clock.Now()
		if p.idsAt.Before(now) {
			p.idsAt = now
		}
		made := p.svc.plan(unplanned, now, p.idsAt)
		for _, err := range made.errs {
			p.svc.cfg.Logger.ErrorContext(ctx, "webhooks: an event cannot be delivered", "err", err)
		}
		saved, err := p.svc.store.SavePlan(ctx, made.plan)
		if err != nil {
			return err
		}
		p.planned, p.idsAt = time.Now(), made.idsAt
		if !saved { // another planner was faster
			return nil
		}
		p.svc.telemetry.queued.Add(ctx, int64(len(made.plan.Deliveries)))
		if unplanned = unplanned.after(made.plan); len(unplanned.Backlogs) == 0 {
			return nil
		}
	}
	return nil
}
