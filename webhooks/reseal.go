package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/partner"
)

// reseal seals with the keyring's first key what other keys have sealed, so that those can
// be dropped. Any number of nodes may run it.
func (s *Service) reseal(ctx context.Context) error {
	resealed, after := 0, ""
	var errs []error
	for ctx.Err() == nil {
		some, err := s.store.AllWebhooks(ctx, after, janitor.BatchSize)
		if err != nil {
			errs = append(errs, err)
		}
		for _, w := range some {
			after = w.ID
			if !s.needsReseal(w.Secrets) {
				continue
			}
			switch _, err := s.store.UpdateWebhook(ctx, w.AppID, w.ID, s.resealed); {
			case err == nil:
				resealed++
			case !errors.Is(err, partner.ErrNotFound): // it was deleted meanwhile
				errs = append(errs, err)
			}
		}
		if len(some) < janitor.BatchSize {
			break
		}
	}
	if resealed > 0 {
		s.cfg.Logger.InfoContext(ctx, "webhooks: resealed secrets", "webhooks", resealed)
	}
	return errors.Join(errs...)
}

func (s *Service) needsReseal(of partner.Secrets) bool {
	return s.cfg.Keyring.NeedsReseal(of.Secret) || of.Previous != nil && s.cfg.Keyring.NeedsReseal(of.Previous)
}

// resealed returns a webhook with the same secrets, sealed by the first key.
func (s *Service) resealed(w partner.Webhook) (partner.Webhook, error) {
	for _, sealed := range []*[]byte{&w.Secret, &w.Previous} {
		if *sealed == nil || !s.cfg.Keyring.NeedsReseal(*sealed) {
			continue
		}
		text, err := s.cfg.Keyring.Open(secretPlace(w.ID), *sealed)
		if err != nil {
			return w, fmt.Errorf("secret of webhook %s: %w", w.ID, err)
		}
		if *sealed, err = s.seal(w.ID, string(text)); err != nil {
			return w, err
		}
	}
	return w, nil
}
