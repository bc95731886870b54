package webhooks

import "context"

// MaxListed is how many deliveries of a webhook are listed.
const MaxListed = 100

// Deliveries returns the [MaxListed] most recent deliveries of a webhook, newest
// first and without their bodies; [ErrNotFound].
func (s *Service) Deliveries(ctx context.Context, appID, webhookID string) ([]Delivery, error) {
	return s.cfg.Store.Deliveries(ctx, appID, webhookID, MaxListed)
}

// Delivery returns one and all its attempts, those before a redelivery included,
// oldest first; [ErrNotFound].
func (s *Service) Delivery(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, []Attempt, error) {
	return s.cfg.Store.Delivery(ctx, appID, webhookID, deliveryID)
}
