package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Redeliver queues a failed delivery again: the same id, event and body, with all
// its attempts before it. [partner.ErrNotFound], or an error of apierror: the delivery is older
// than Config.Retention, it has not failed, the app is not usable, the webhook is off, the
// app is not installed in the business, or the event's scope is gone. The error is the
// first of these that applies. A test needs neither installation nor scope.
func (s *Service) Redeliver(ctx context.Context, appID, webhookID, deliveryID string) (partner.Delivery, error) {
	now := s.now()
	// The id contains the time of creation, so that the error for an old delivery does not
	// depend on whether it was already purged.
	if created, ok := id.Time(id.Delivery, deliveryID); ok && now.Sub(created) >= s.cfg.Retention {
		if _, err := s.Get(ctx, appID, webhookID); err != nil {
			return partner.Delivery{}, err
		}
		return partner.Delivery{}, codes.DeliveryTooOld.New()
	}
	return s.requeue(ctx, webhookstore.Redelivery{
		AppID: appID, WebhookID: webhookID, DeliveryIDs: []string{deliveryID}, From: partner.DeliveryFailed, Now: now,
		Check: func(d partner.Delivery, standing webhookstore.Standing) error {
			return s.mayRedeliver(d, standing, now)
		},
	})
}

func (s *Service) mayRedeliver(d partner.Delivery, standing webhookstore.Standing, now time.Time) error {
	if d.Status != partner.DeliveryFailed {
		return codes.DeliveryNotFailed.New(d.Status)
	}
	if err := s.refusal(d, standing); err != nil {
		return err
	}
	if now.Sub(d.CreatedAt) >= s.cfg.Retention {
		return codes.DeliveryTooOld.New()
	}
	return nil
}

// refusal returns the reason why a delivery cannot be queued, or nil if it can. An unusable
// app is reported before a disabled webhook: enabling the webhook would not help.
func (s *Service) refusal(d partner.Delivery, standing webhookstore.Standing) error {
	if !standing.IsAppUsable {
		return codes.AppNotActive.New()
	}
	if standing.IsEnabled && !standing.IsDeleted && s.isUnverified(standing) {
		return codes.WebhookNotVerified.New()
	}
	switch s.gate(d, standing) {
	case gateOpen:
		return nil
	case gateDeleted:
		return partner.ErrNotFound
	case gateOff:
		return codes.WebhookNotActive.New()
	case gateUninstalled:
		return codes.AppNotInstalled.New()
	case gateUnknownEvent:
		return apierror.Invalid(d.EventType + " is no longer in the catalog")
	}
	definition, _ := s.cfg.Catalog.Lookup(d.EventType)
	return codes.EventScopeMissing.New(d.EventType, definition.Scope)
}
