package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Deliveries lists deliveries of a webhook, newest first. It sets AppID, WebhookID and Now of
// the query; see [webhooks.Service.Deliveries].
func (c *Console) Deliveries(ctx context.Context, by Actor, appID, webhookID string, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.DeliveryPage{}, err
	}
	q.AppID, q.WebhookID = appID, webhookID
	page, err := c.cfg.Webhooks.Deliveries(ctx, q)
	return page, absent("webhook", err)
}

// AppDeliveries lists deliveries of all webhooks of an app, newest first, for the platform's own
// staff: without an Actor, for any app. Bodies are left out.
func (c *Console) AppDeliveries(ctx context.Context, appID string, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	hooks, err := c.cfg.Webhooks.List(ctx, appID)
	if err != nil {
		return partner.DeliveryPage{}, err
	}
	if q.Limit < 1 || q.Limit > webhooks.MaxListed {
		q.Limit = webhooks.MaxListed
	}
	q.AppID, q.WithBodies = appID, false
	var all partner.DeliveryPage
	whole := "" // all deliveries from this one on were read
	for _, hook := range hooks {
		q.WebhookID = hook.ID
		page, err := c.cfg.Webhooks.Deliveries(ctx, q)
		if errors.Is(err, partner.ErrNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return partner.DeliveryPage{}, err
		}
		all.Deliveries = append(all.Deliveries, page.Deliveries...)
		whole = max(whole, page.Next)
		all.Counts.Queued = min(all.Counts.Queued+page.Counts.Queued, webhooks.MaxCounted)
		all.Counts.Retrying = min(all.Counts.Retrying+page.Counts.Retrying, webhooks.MaxCounted)
		all.Counts.Delivered = min(all.Counts.Delivered+page.Counts.Delivered, webhooks.MaxCounted)
		all.Counts.Failed = min(all.Counts.Failed+page.Counts.Failed, webhooks.MaxCounted)
	}
	all.Deliveries = slices.DeleteFunc(all.Deliveries, func(d partner.Delivery) bool { return d.ID < whole })
	slices.SortFunc(all.Deliveries, func(a, b partner.Delivery) int { return strings.Compare(b.ID, a.ID) })
	all.Next = whole
	if len(all.Deliveries) > q.Limit {
		all.Deliveries = all.Deliveries[:q.Limit]
		all.Next = all.Deliveries[q.Limit-1].ID
	}
	return all, nil
}

// Delivery returns one and all its attempts, oldest first.
func (c *Console) Delivery(ctx context.Context, by Actor, appID, webhookID, deliveryID string) (partner.Delivery, []partner.Attempt, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Delivery{}, nil, err
	}
	delivery, attempts, err := c.cfg.Webhooks.Delivery(ctx, appID, webhookID, deliveryID)
	return delivery, attempts, absent("delivery", err)
}

// AttemptHours counts the attempts of a webhook in each of the last 24 hours; see
// webhooks.Service.AttemptHours. Its error is one of apierror, 404.
func (c *Console) AttemptHours(ctx context.Context, by Actor, appID, webhookID string) ([]callstore.AttemptHour, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	hours, err := c.cfg.Webhooks.AttemptHours(ctx, appID, webhookID)
	return hours, absent("webhook", err)
}

// SignedRequest returns the request that an attempt of a delivery would send now, for the
// developer to send with a tool of their own; see webhooks.Service.SignedRequest. Like the
// secret, which a rotation shows, it is for those who may change the app. Its error is one of
// apierror: 404, or that the app is deactivated.
func (c *Console) SignedRequest(ctx context.Context, by Actor, appID, webhookID, deliveryID string) (*http.Request, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return nil, err
	}
	req, err := c.cfg.Webhooks.SignedRequest(ctx, appID, webhookID, deliveryID)
	return req, absent("delivery", err)
}

// MaxAttempts returns how often a delivery is tried.
func (c *Console) MaxAttempts() int { return len(c.cfg.Webhooks.Options().RetryDelays) + 1 }

// RetryDelays returns the pauses after the failed attempts of a delivery, in their order.
func (c *Console) RetryDelays() []time.Duration { return c.cfg.Webhooks.Options().RetryDelays }

// SendTest queues a test delivery to a webhook, with the sample of an event of the catalog;
// empty: of the first one that the webhook has chosen. Its error is one of apierror: 404,
// that there is no such event, that the app is suspended or deactivated, or that the webhook
// is off.
func (c *Console) SendTest(ctx context.Context, by Actor, appID, webhookID, event string) (partner.Delivery, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Delivery{}, err
	}
	var queued partner.Delivery
	err := c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		queued, err = c.cfg.Webhooks.SendTest(ctx, appID, webhookID, event)
		return by.did(audited.WebhookTested, appID, queued.ID), err
	})
	if err != nil {
		return partner.Delivery{}, absent("webhook", err)
	}
	return queued, nil
}

// Redeliver queues a failed delivery again. Its error is one of apierror: 404, or the
// reason why it is refused.
func (c *Console) Redeliver(ctx context.Context, by Actor, appID, webhookID, deliveryID string) (partner.Delivery, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Delivery{}, err
	}
	var queued partner.Delivery
	err := c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		queued, err = c.cfg.Webhooks.Redeliver(ctx, appID, webhookID, deliveryID)
		return by.did(audited.DeliveryRedelivered, appID, queued.ID), err
	})
	if err != nil {
		return partner.Delivery{}, absent("delivery", err)
	}
	return queued, nil
}

// AttemptNow moves the next attempt of a retrying delivery to now. Its error is one of
// apierror: 404, or the reason why it is refused.
func (c *Console) AttemptNow(ctx context.Context, by Actor, appID, webhookID, deliveryID string) (partner.Delivery, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Delivery{}, err
	}
	var queued partner.Delivery
	err := c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		queued, err = c.cfg.Webhooks.AttemptNow(ctx, appID, webhookID, deliveryID)
		return by.did(audited.DeliveryAttemptedNow, appID, queued.ID), err
	})
	if err != nil {
		return partner.Delivery{}, absent("delivery", err)
	}
	return queued, nil
}

// FailedDeliveries are the failed deliveries of a webhook from Since on, before Until unless
// that is zero, and of one event unless that is empty.
type FailedDeliveries struct {
	Since, Until time.Time
	Event        string
}

// Redelivered is the result of redelivering failed deliveries.
type Redelivered struct {
	Queued  int `json:"queued"`
	Skipped int `json:"skipped"` // those that Redeliver would refuse
}

// RedeliverMany queues failed deliveries again, in batches: each batch is one transaction
// with one entry of the audit log. Its error is one of apierror: 404, that the app is
// suspended or deactivated, or that the webhook is off. What was queued before an error
// stays so.
func (c *Console) RedeliverMany(ctx context.Context, by Actor, appID, webhookID string, which FailedDeliveries) (Redelivered, error) {
	var done Redelivered
	if _, err := c.App(ctx, by, appID); err != nil {
		return done, err
	}
	failed := webhooks.FailedDeliveries{AppID: appID, WebhookID: webhookID, Since: which.Since, Until: which.Until, EventType: which.Event}
	for after := ""; ; {
		var some webhooks.Requeued
		err := c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
			var err error
			some, err = c.cfg.Webhooks.RedeliverSome(ctx, failed, after)
			if err == nil && len(some.Queued) == 0 {
				err = errNothing
			}
			return by.did(audited.WebhookRedelivered, appID, webhookID), err
		})
		if err != nil && !errors.Is(err, errNothing) {
			return done, absent("webhook", err)
		}
		done.Queued += len(some.Queued)
		done.Skipped += some.Skipped
		if after = some.Next; after == "" {
			return done, nil
		}
	}
}

// errNothing ends a transaction that has changed nothing and needs no entry.
var errNothing = errors.New("nothing to queue")
