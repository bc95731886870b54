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
// in the business, the event's scope is gone, or the delivery is [Retention] old.
// The first of these is told. A test needs neither installation nor scope.
func (s *Service) Redeliver(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, error) {
	now := s.now()
	queued, err := s.cfg.Store.Redeliver(ctx, Redelivery{
		AppID: appID, WebhookID: webhookID, DeliveryID: deliveryID, Now: now,
		Check: func(d Delivery, standing Standing) error { return s.mayRedeliver(d, standing, now) },
	})
	if errors.Is(err, ErrNotFound) {
		return queued, s.missing(ctx, appID, webhookID, deliveryID, now)
	}
	return queued, err
}

// missing says why there is no delivery to queue: the answer for one that is too old
// does not depend on whether the janitor has come by. Its id tells when it was made.
func (s *Service) missing(ctx context.Context, appID, webhookID, deliveryID string, now time.Time) error {
	created, ok := id.Time(id.Delivery, deliveryID)
	if !ok || now.Sub(created) < Retention {
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
	if now.Sub(d.CreatedAt) >= Retention {
		return apierror.New(apierror.DeliveryTooOld)
	}
	return nil
}

// refusal says why a delivery cannot be queued, to the developer who asks for it;
// nil when it can. An app that is not usable is told before a webhook that is off:
// switching the webhook on would not help.
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
