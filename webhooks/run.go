package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

// tidyEvery is how often deliveries that are old enough are deleted.
const tidyEvery = time.Hour

// Run plans and sends deliveries and deletes old ones, until ctx ends; then it
// waits for the attempts under way and records them. Any number of nodes may run
// it on one database. It returns the error of ctx.
func (s *Service) Run(ctx context.Context) error {
	d := newDispatcher(s)
	var wg sync.WaitGroup
	wg.Go(func() { d.planner.run(ctx) })
	wg.Go(func() {
		for ctx.Err() == nil {
			now := s.cfg.Clock.Now()
			s.tidy(ctx, now)
			_ = clock.Wait(ctx, s.cfg.Clock, now.Add(tidyEvery))
		}
	})
	d.run(ctx)
	wg.Wait()
	s.http.CloseIdle()
	return ctx.Err()
}

const (
	settleEvery = 5 * time.Millisecond // how often Settle looks
	settleGrace = time.Second          // how long it waits for answers
)

// Settle waits until every event recorded by now has been planned, and every
// delivery that is due now has been attempted or is being sent; for those that are
// being sent it waits a second at most. Somebody must be running [Service.Run]. It
// is for tests and for moving the clock in development.
func (s *Service) Settle(ctx context.Context) error {
	var sent time.Time // when all that is due was on its way
	for now := s.cfg.Clock.Now(); ; {
		settled, err := s.isSettled(ctx, now)
		if err != nil {
			return err
		}
		if settled && sent.IsZero() {
			sent = time.Now()
		}
		if settled && (s.taken.count() == 0 || time.Since(sent) >= settleGrace) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settleEvery):
		}
	}
}

func (s *Service) isSettled(ctx context.Context, now time.Time) (bool, error) {
	unplanned, err := s.cfg.Store.UnplannedEvents(ctx, "", 1)
	if err != nil || len(unplanned.Events) > 0 {
		return false, err
	}
	queued, err := s.cfg.Store.QueuedWebhooks(ctx)
	if err != nil {
		return false, err
	}
	taken := s.taken.count()
	claim := Claim{Now: now, IsTaken: s.taken.has}
	for _, one := range queued {
		claim.Webhooks = append(claim.Webhooks, WebhookClaim{WebhookID: one.WebhookID, From: one.Due, Limit: 1, Taken: taken})
	}
	due, err := s.cfg.Store.DueDeliveries(ctx, claim)
	return len(due) == 0, err
}
