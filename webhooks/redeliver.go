package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
)

// Redeliver queues a failed delivery again: the same id, event and body, with all
// its attempts before it. [ErrNotFound], or an error of apierror: the delivery has
// not failed, the app is not usable, the webhook is off, the app is not installed
// in the business, the event's scope is gone, or the delivery is older than Config.Retention.
// The error is the first of these that applies. A test needs neither installation nor scope.
func (s *Service) Redeliver(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, error) {
	now := s.now()
	queued, err := s.requeue(ctx, Redelivery{
		AppID: appID, WebhookID: webhookID, DeliveryIDs: []string{deliveryID}, From: Failed, Now: now,
		Check: func(d Delivery, standing Standing) error { return s.mayRedeliver(d, standing, now) },
	})
	if errors.Is(err, ErrNotFound) {
		return queued, s.missing(ctx, appID, webhookID, deliveryID, now)
	}
	return queued, err
}

// missing returns the error for a delivery that does not exist. The error for an old
// delivery does not depend on whether it was already purged: its id contains its creation
// time.
func (s *Service) missing(ctx context.Context, appID, webhookID, deliveryID string, now time.Time) error {
	created, ok := id.Time(id.Delivery, deliveryID)
	if !ok || now.Sub(created) < s.cfg.Retention {
		return ErrNotFound
	}
	if _, err := s.Get(ctx, appID, webhookID); err != nil {
		return err
	}
	return apierror.New(apierror.DeliveryTooOld)
}

func (s *Service) mayRedeliver(d Delivery, standing Standing, now time.Time) error {
	if d.Status != Failed {
		return apierror.New(apierror.DeliveryNotFailed, d.Status)
	}
	if err := s.refusal(d, standing); err != nil {
		return err
	}
	if now.Sub(d.CreatedAt) >= s.cfg.Retention {
		return apierror.New(apierror.DeliveryTooOld)
	}
	return nil
}

// refusal returns the reason why a delivery cannot be queued, or nil if it can. An unusable
// app is reported before a disabled webhook: enabling the webhook would not help.
func (s *Service) refusal(d Delivery, standing Standing) error {
	if !standing.IsAppUsable {
		return apierror.New(apierror.AppNotActive)
	}
	switch s.gate(d, standing) {
	case gateOpen:
		return nil
	case gateDeleted:
		return ErrNotFound
	case gateOff:
		return apierror.New(apierror.WebhookNotActive)
	case gateUninstalled:
		return apierror.New(apierror.AppNotInstalled)
	case gateUnknownEvent:
		return apierror.Invalid(d.EventType + " is no longer in the catalog")
	}
	definition, _ := s.cfg.Catalog.Lookup(d.EventType)
	return apierror.New(apierror.EventScopeMissing, d.EventType, definition.Scope)
}
