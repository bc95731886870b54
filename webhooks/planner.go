package webhooks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const (
	// lookEvery is how often the planner looks for events, and the dispatcher for
	// deliveries, that no hint told them of: such as those of a host's own transactions,
	// which are planned within one second.
	lookEvery = 950 * time.Millisecond
	// lookShare limits the part of the time that the planner looks for backlogs to one in so
	// many. It is above it where the outbox has millions of deleted rows that a database
	// cannot remove yet.
	lookShare = 10
	// tryAgain is the pause after something failed.
	tryAgain = time.Second
	// planBusinesses is how many businesses one plan is for, at most.
	planBusinesses = 256
	// planGather is how long after a plan for few businesses the planner waits for more: one
	// plan for many events costs less than one for each.
	planGather = 5 * time.Millisecond
	// maxPlaces is how many businesses the planner remembers the place of, about 150 bytes
	// each. Beyond that it forgets all, and the store looks at all their events again.
	maxPlaces = 50_000
)

// planner turns the events of the businesses of the node's plan shards into deliveries.
// Businesses take turns: each has a share of a plan, and waits behind the others if it has
// more.
type planner struct {
	svc   *Service
	node  string
	idsAt time.Time // of the next delivery's id

	mu     sync.Mutex
	held   map[int]int64                   // plan shards of the node, with their epochs
	shards int                             // of all nodes; 0: not known yet
	turns  []string                        // businesses that wait
	waits  map[string]bool                 // whether one does
	places map[string]webhookstore.Backlog // up to where events of a business were planned
	heard  map[string]string               // the least event of a business that was heard of since it had its turn
	ready  chan struct{}                   // has a value when there may be turns
	look   chan struct{}                   // has a value when it is time to look for backlogs
}

func newPlanner(s *Service, node string) *planner {
	return &planner{
		svc: s, node: node, waits: map[string]bool{}, places: map[string]webhookstore.Backlog{}, heard: map[string]string{},
		ready: make(chan struct{}, 1), look: make(chan struct{}, 1),
	}
}

// hold tells the planner which plan shards the node holds, with their epochs.
func (p *planner) hold(held map[int]int64, shards int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for shard, epoch := range held {
		if had, ok := p.held[shard]; !ok || had != epoch {
			wake(p.look)
		}
	}
	p.held, p.shards = held, shards
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run plans until ctx ends.
func (p *planner) run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { p.lookForBacklogs(ctx) })
	wg.Go(func() { p.listen(ctx) })
	defer wg.Wait()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-p.ready:
		}
		for ctx.Err() == nil {
			began := time.Now()
			of := p.next()
			if len(of) == 0 {
				break
			}
			if err := p.plan(ctx, of); err != nil {
				if ctx.Err() == nil {
					p.svc.cfg.Logger.ErrorContext(ctx, "webhooks: planning failed, trying again", "err", err)
				}
				rest(ctx, tryAgain)
				continue
			}
			if len(of) < planBusinesses {
				rest(ctx, planGather-time.Since(began))
			}
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listen gives turns to businesses that hints name.
func (p *planner) listen(ctx context.Context) {
	hints := p.svc.watch(eventstore.TopicRecorded)
	defer hints.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.svc.woken:
			wake(p.look)
		case <-hints.C:
			businesses, hasOthers := hints.Take()
			if hasOthers {
				wake(p.look)
			}
			for business, eventID := range businesses {
				p.add(webhookstore.Backlog{BusinessID: business, EventID: eventID})
			}
		}
	}
}

// lookForBacklogs looks for businesses with events in the outbox from time to time.
func (p *planner) lookForBacklogs(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		isAsked := false
		select {
		case <-ctx.Done():
			return
		case <-p.look:
			isAsked = true
		case <-tick.C:
		}
		if !p.holdsAny() {
			continue
		}
		began := time.Now()
		var behind *webhookstore.Backlog
		for ctx.Err() == nil {
			page, err := p.svc.store.Backlogs(ctx, behind)
			if err != nil && ctx.Err() == nil {
				p.svc.cfg.Logger.ErrorContext(ctx, "webhooks: looking for events failed, trying again", "err", err)
			}
			if err != nil || len(page) == 0 {
				break
			}
			for _, one := range page {
				p.add(one)
			}
			behind = &page[len(page)-1]
		}
		if !isAsked {
			rest(ctx, lookShare*time.Since(began)-lookEvery)
		}
	}
}

func (p *planner) holdsAny() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held) > 0
}

// add gives a business a turn, if the node holds its shard. Its event may have committed after
// later ones were planned.
func (p *planner) add(one webhookstore.Backlog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isMine(one.BusinessID) {
		return
	}
	if least, ok := p.heard[one.BusinessID]; one.EventID != "" && (!ok || one.EventID < least) {
		p.heard[one.BusinessID] = one.EventID
	}
	p.wait(one.BusinessID)
}

// isMine reports whether the node holds the shard of a business.
func (p *planner) isMine(business string) bool {
	if p.shards == 0 {
		return false
	}
	_, ok := p.held[webhookstore.ShardOf(business, p.shards)]
	return ok
}

// wait puts a business behind those that wait.
func (p *planner) wait(business string) {
	if !p.waits[business] {
		p.waits[business] = true
		p.turns = append(p.turns, business)
	}
	wake(p.ready)
}

// next returns the businesses whose turn it is.
func (p *planner) next() []webhookstore.Backlog {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.places) > maxPlaces {
		clear(p.places)
	}
	n := min(len(p.turns), planBusinesses)
	of := make([]webhookstore.Backlog, 0, n)
	for _, business := range p.turns[:n] {
		place := p.places[business]
		if least, ok := p.heard[business]; ok {
			place.EventID = min(place.EventID, least)
		}
		delete(p.waits, business)
		delete(p.heard, business)
		if !p.isMine(business) {
			delete(p.places, business)
			continue
		}
		place.BusinessID = business
		p.places[business] = place
		place.EventID = early(place.EventID)
		of = append(of, place)
	}
	p.turns = append(p.turns[:0:0], p.turns[n:]...)
	return of
}

// lateCommits is how far before the last planned event the planner looks for others. The hint of
// another node about an event may come after the event, and after one that was committed later:
// without looking back the later one would get the lower number. It is longer than a
// transaction and the pause between two looks for backlogs usually take together. Each
// look steps over the entries of what was planned in that time, while a snapshot is held on
// PostgreSQL.
const lateCommits = 3 * time.Second

// early returns the least id of events that are not much older than the event of an id.
func early(eventID string) string {
	at, ok := id.Time(id.Event, eventID)
	if !ok {
		return ""
	}
	return id.Floor(id.Event, at.Add(-lateCommits))
}

// plan makes and saves one plan for the next events of businesses.
func (p *planner) plan(ctx context.Context, of []webhookstore.Backlog) error {
	unplanned, err := p.svc.store.Unplanned(ctx, of)
	if err != nil {
		p.again(of, nil)
		return err
	}
	now := p.svc.cfg.Clock.Now()
	if p.idsAt.Before(now) {
		p.idsAt = now
	}
	made := p.svc.plan(unplanned, now, p.idsAt)
	for _, err := range made.errs {
		p.svc.cfg.Logger.ErrorContext(ctx, "webhooks: an event cannot be delivered", "err", err)
	}
	plan := made.plan
	p.mu.Lock()
	plan.Node, plan.Shards = p.node, p.held
	p.mu.Unlock()
	if len(plan.Steps) == 0 {
		p.again(leftOut(of, unplanned), nil)
		return nil
	}
	saved, err := p.svc.store.SavePlan(ctx, plan)
	switch {
	case err != nil:
		p.again(of, nil)
		return err
	case !saved: // a shard was lost, or events got numbers in between
		p.again(of, nil)
		return nil
	}
	p.idsAt = made.idsAt
	p.svc.telemetry.queued.Add(ctx, int64(len(plan.Deliveries)))
	p.again(leftOut(of, unplanned), made)
	return nil
}

// leftOut returns the businesses that were asked for and not read, because others had much to
// read.
func leftOut(of []webhookstore.Backlog, u webhookstore.Unplanned) []webhookstore.Backlog {
	if !u.HasMore {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(of), func(b webhookstore.Backlog) bool {
		return slices.ContainsFunc(u.Businesses, func(read webhookstore.Unsent) bool { return read.BusinessID == b.BusinessID })
	})
}

// again gives businesses another turn, and notes up to where the others were planned.
func (p *planner) again(of []webhookstore.Backlog, made *planning) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range of {
		p.wait(b.BusinessID)
	}
	if made == nil {
		return
	}
	for _, step := range made.plan.Steps {
		if made.hasMore[step.BusinessID] {
			p.wait(step.BusinessID)
		}
		if place, ok := p.places[step.BusinessID]; ok {
			p.places[step.BusinessID] = after(place, step)
		}
	}
}

// after returns the place of a business after a step.
func after(b webhookstore.Backlog, step webhookstore.PlanStep) webhookstore.Backlog {
	done := step.Events
	if step.Webhook != "" {
		done = done[:len(done)-1] // the last one has more, under its number
	}
	for _, e := range done {
		if e.Number > 0 {
			b.Number = max(b.Number, e.Number)
		} else {
			b.EventID = max(b.EventID, e.ID)
		}
	}
	return b
}
