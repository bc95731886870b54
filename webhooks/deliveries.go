package webhooks

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// MaxListed is how many deliveries one page of a list has at most.
const MaxListed = 100

// MaxCounted is the maximum of each count of a page.
const MaxCounted = 1000

// Deliveries returns a page of the deliveries of a webhook, newest first;
// [partner.ErrNotFound]. It sets Limit, if that is not from 1 to [MaxListed], and Now.
func (s *Service) Deliveries(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	if q.Limit < 1 || q.Limit > MaxListed {
		q.Limit = MaxListed
	}
	q.Now = s.now()
	return s.cfg.Store.Deliveries(ctx, q)
}

// Delivery returns one and all its attempts, those before a redelivery included,
// oldest first; [partner.ErrNotFound].
func (s *Service) Delivery(ctx context.Context, appID, webhookID, deliveryID string) (partner.Delivery, []partner.Attempt, error) {
	return s.cfg.Store.Delivery(ctx, appID, webhookID, deliveryID)
}

// AttemptHours counts the attempts of a webhook in each of the last 24 hours, the one that has
// begun included, oldest first; hours without attempts are there as zeros. [partner.ErrNotFound].
func (s *Service) AttemptHours(ctx context.Context, appID, webhookID string) ([]callstore.AttemptHour, error) {
	if _, err := s.cfg.Store.Webhook(ctx, appID, webhookID, time.Time{}); err != nil {
		return nil, err
	}
	start := s.now().UTC().Truncate(time.Hour).Add(time.Hour - webhookstore.RatedFor)
	found, err := s.cfg.Store.AttemptHours(ctx, webhookID, start)
	hours := make([]callstore.AttemptHour, webhookstore.RatedFor/time.Hour)
	for i := range hours {
		hours[i].Start = start.Add(time.Duration(i) * time.Hour)
		if len(found) > 0 && found[0].Start.Equal(hours[i].Start) {
			hours[i], found = found[0], found[1:]
		}
	}
	return hours, err
}

// FailedDeliveries are the failed deliveries of a webhook that were created at Since or
// later, before Until unless that is zero, and of one type of events unless that is empty.
type FailedDeliveries struct {
	AppID, WebhookID string
	Since, Until     time.Time
	EventType        string
}

// Requeued is the result of [Service.RedeliverSome].
type Requeued struct {
	Queued  []partner.Delivery
	Skipped int    // those that Redeliver would refuse
	Next    string // after which to go on; empty: these were all
}

// RedeliverSome queues some of the failed deliveries of a webhook again, those after the
// Next of the call before, in one transaction. [partner.ErrNotFound], or an error of apierror: the
// app is not usable, or the webhook is off or not verified.
func (s *Service) RedeliverSome(ctx context.Context, f FailedDeliveries, after string) (Requeued, error) {
	now := s.now()
	page, err := s.cfg.Store.Deliveries(ctx, partner.DeliveryQuery{
		AppID: f.AppID, WebhookID: f.WebhookID, Statuses: []partner.DeliveryStatus{partner.DeliveryFailed}, EventType: f.EventType,
		Since: f.Since, Until: f.Until, After: after, Limit: MaxListed, Now: now,
	})
	if err != nil {
		return Requeued{}, err
	}
	if len(page.Deliveries) == 0 {
		return Requeued{Next: page.Next}, s.mayQueue(ctx, f.AppID, f.WebhookID)
	}
	ids := make([]string, len(page.Deliveries))
	for i, d := range page.Deliveries {
		ids[i] = d.ID
	}
	skipped := map[string]bool{}
	queued, err := s.cfg.Store.Redeliver(ctx, webhookstore.Redelivery{
		AppID: f.AppID, WebhookID: f.WebhookID, DeliveryIDs: ids, From: partner.DeliveryFailed, Now: now,
		Check: func(d partner.Delivery, standing webhookstore.Standing) error {
			err := s.mayRedeliver(d, standing, now)
			var refused *apierror.Error
			switch {
			case err == nil:
				delete(skipped, d.ID)
				return nil
			case !standing.IsAppUsable || !standing.IsEnabled || s.isUnverified(standing) || !errors.As(err, &refused):
				return err
			}
			skipped[d.ID] = d.Status == partner.DeliveryFailed // any other was queued in between
			return webhookstore.ErrSkip
		},
	})
	if errors.Is(err, partner.ErrNotFound) { // all of them were purged in between
		return Requeued{Next: page.Next}, nil
	}
	result := Requeued{Queued: queued, Next: page.Next}
	for _, is := range skipped {
		if is {
			result.Skipped++
		}
	}
	return result, err
}

// mayQueue returns nil if a delivery can be queued for the webhook, and otherwise an error
// with the reason.
func (s *Service) mayQueue(ctx context.Context, appID, webhookID string) error {
	_, err := s.cfg.Store.QueueTest(ctx, appID, webhookID, func(to webhookstore.Target) (partner.Delivery, error) {
		return partner.Delivery{}, cmp.Or(s.refusal(partner.Delivery{}, to.Standing), webhookstore.ErrSkip)
	})
	if errors.Is(err, webhookstore.ErrSkip) {
		return nil
	}
	return err
}

// AttemptNow moves the next attempt of a retrying delivery to now. It counts as that
// attempt. [partner.ErrNotFound], or an error of apierror: the delivery is not retrying, the app is
// not usable, the webhook is off, the app is not installed in the business, or the event's
// scope is gone.
func (s *Service) AttemptNow(ctx context.Context, appID, webhookID, deliveryID string) (partner.Delivery, error) {
	return s.requeue(ctx, webhookstore.Redelivery{
		AppID: appID, WebhookID: webhookID, DeliveryIDs: []string{deliveryID}, From: partner.DeliveryRetrying, Now: s.now(),
		Check: func(d partner.Delivery, standing webhookstore.Standing) error {
			if d.Status != partner.DeliveryRetrying {
				return codes.DeliveryNotRetrying.New(d.Status)
			}
			return s.refusal(d, standing)
		},
	})
}

// requeue queues one delivery.
func (s *Service) requeue(ctx context.Context, r webhookstore.Redelivery) (partner.Delivery, error) {
	queued, err := s.cfg.Store.Redeliver(ctx, r)
	if err != nil {
		return partner.Delivery{}, err
	}
	return queued[0], nil
}
