package webhooks

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// tidyEvery is how often deliveries that are old enough are deleted.
const tidyEvery = time.Hour

// keepMinutes is how long the counts of a minute are kept, which Health.FailureRate needs for
// [webhookstore.RatedFor].
const keepMinutes = webhookstore.RatedFor + time.Hour

// stopsWithin is how long after the end of its context Run returns at the latest.
const stopsWithin = AttemptTimeout + stopGrace + leaveGrace + time.Second

// Run plans and sends deliveries, deletes old ones and keeps secrets sealed by the
// keyring's first key, until ctx ends. Then it waits for the attempts under way and
// records them. Any number of nodes may run it on one database.
//
// Run returns nil, at most 18 seconds after ctx ended even if the store hangs. Outcomes that could not be recorded by then are sent again.
func (s *Service) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(stopsWithin): // the store ignores deadlines
		s.cfg.Logger.ErrorContext(ctx, "webhooks: stopped without waiting for the store")
	}
	return nil
}

func (s *Service) run(ctx context.Context) {
	d := newDispatcher(s)
	var wg sync.WaitGroup
	wg.Go(func() { d.planner.run(ctx) })
	if s.cfg.VerifyEndpoints {
		wg.Go(func() { s.runChallenges(ctx) })
	}
	wg.Go(func() { s.janitor().Run(ctx) })
	d.run(ctx)
	wg.Wait()
	s.http.CloseIdle()
}

func (s *Service) janitor() janitor.Janitor {
	return janitor.Janitor{
		Feature: "webhooks", Every: tidyEvery, Clock: s.cfg.Clock, Logger: s.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			return []janitor.Task{
				janitor.Purge(s.store, storage.Purge{Kind: storage.PurgeDeliveries, Before: now.Add(-s.cfg.PurgeAfter)}),
				janitor.Purge(s.store, storage.Purge{Kind: storage.PurgeHealth, Before: now.Add(-keepMinutes)}),
				{Name: "resealing secrets", Do: func(ctx context.Context) (bool, error) { return false, s.reseal(ctx) }},
			}
		},
	}
}

// watch returns the hints of the store about a topic, or some that never come if the store has
// none.
func (s *Service) watch(topic string) *storage.Hints {
	if hints := s.cfg.Store.Watch(topic); hints != nil {
		return hints
	}
	return &storage.Hints{Take: func() (map[string]string, bool) { return nil, false }, Stop: func() {}}
}

// Wake reports that events were recorded in a transaction that the host has committed itself.
// They are planned and sent at once, on every node; without Wake, within one second. Wake does
// not block.
func (s *Service) Wake() {
	s.cfg.Store.Wake(eventstore.TopicRecorded)
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// settleEvery is how often Settle looks.
const settleEvery = 5 * time.Millisecond

// Settle waits until every event recorded by now has been planned, and every
// delivery that is due now has been attempted or is being sent. [Service.Run] must
// be running on some node. Settle is for tests and for moving the clock in development.
func (s *Service) Settle(ctx context.Context) error {
	err := poll(ctx, func() (bool, error) {
		is, err := s.hasBacklog(ctx)
		return !is, err
	})
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now() // what was planned just now is due just now
	return poll(ctx, func() (bool, error) { return s.isSent(ctx, now) })
}

// AwaitResponses waits until nothing is being sent from here, but not for longer than
// that.
func (s *Service) AwaitResponses(ctx context.Context, atMost time.Duration) error {
	began := time.Now()
	return poll(ctx, func() (bool, error) { return s.outstanding.count() == 0 || time.Since(began) >= atMost, nil })
}

func poll(ctx context.Context, done func() (bool, error)) error {
	for {
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settleEvery):
		}
	}
}

// hasBacklog reports whether there are events that are not planned.
func (s *Service) hasBacklog(ctx context.Context) (bool, error) {
	page, err := s.cfg.Store.Backlogs(ctx, nil)
	return len(page) > 0, err
}

// isSent reports whether nothing is due that is not on its way.
func (s *Service) isSent(ctx context.Context, now time.Time) (bool, error) {
	queued, err := s.cfg.Store.QueuedWebhooks(ctx, nil)
	if err != nil {
		return false, err
	}
	taken := s.outstanding.count()
	claim := webhookstore.Claim{Now: now, IsTaken: s.outstanding.has}
	for _, one := range queued {
		claim.Webhooks = append(claim.Webhooks, webhookstore.WebhookClaim{WebhookID: one.WebhookID, From: one.First, Limit: 1, Taken: taken})
	}
	due, err := s.cfg.Store.DueDeliveries(ctx, claim)
	due = slices.DeleteFunc(due, func(d webhookstore.Due) bool { return s.mustWait(d, now) })
	return len(due) == 0, err
}
