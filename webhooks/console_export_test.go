package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/partner"
)

// SigningSecrets, Tidy and Reseal are for the tests; in production only Run asks.

func (s *Service) SigningSecrets(w partner.Webhook, now time.Time) ([]string, error) {
	all, err := s.signingSecrets(w.ID, w.Secrets, now)
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.text
	}
	return texts, err
}

func (s *Service) Tidy(ctx context.Context, now time.Time) { s.janitor().Tidy(ctx, now) }

func (s *Service) Reseal(ctx context.Context) error { return s.reseal(ctx) }
