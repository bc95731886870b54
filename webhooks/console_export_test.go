package webhooks

import (
	"context"
	"time"
)

// SigningSecrets and Tidy are for the tests; in production only Run asks.

func (s *Service) SigningSecrets(w Webhook, now time.Time) ([]string, error) {
	return s.signingSecrets(w.ID, w.Secrets, now)
}

func (s *Service) Tidy(ctx context.Context, now time.Time) { s.tidy(ctx, now) }
