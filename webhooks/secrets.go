package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
)

// RotateSecret gives a webhook a new secret and returns it, for the only time;
// [ErrNotFound]. The one before signs too until it expires, Config.SecretOverlap later.
// Rotating again within that time drops the oldest.
func (s *Service) RotateSecret(ctx context.Context, appID, webhookID string) (text string, previousExpiresAt time.Time, err error) {
	text = newSecret()
	sealed, err := s.seal(webhookID, text)
	if err != nil {
		return "", time.Time{}, err
	}
	now := s.now()
	w, err := s.cfg.Store.UpdateWebhook(ctx, appID, webhookID, func(w Webhook) (Webhook, error) {
		w.Secrets = Secrets{Secret: sealed, Previous: w.Secret, PreviousExpiresAt: now.Add(s.cfg.SecretOverlap)}
		w.UpdatedAt = now
		w.Version++
		return w, nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	s.cfg.Notifications.Tell(ctx, events.Notification{Kind: events.NotifySigningSecretRotated, At: now, AppID: appID, WebhookID: webhookID})
	return text, w.PreviousExpiresAt, nil
}

// signingSecrets returns the secrets that sign at this moment, the newest first.
func (s *Service) signingSecrets(webhookID string, of Secrets, now time.Time) (texts []string, err error) {
	sealed := [][]byte{of.Secret}
	if of.Previous != nil && now.Before(of.PreviousExpiresAt) {
		sealed = append(sealed, of.Previous)
	}
	for _, one := range sealed {
		text, err := s.cfg.Keyring.Open(secretPlace(webhookID), one)
		if err != nil {
			return nil, fmt.Errorf("secret of webhook %s: %w", webhookID, err)
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

func newSecret() string { return secret.New(secret.WebhookSecret).Reveal() }

func (s *Service) seal(webhookID, text string) ([]byte, error) {
	sealed, err := s.cfg.Keyring.Seal(secretPlace(webhookID), []byte(text))
	if err != nil {
		return nil, fmt.Errorf("secret of webhook %s: %w", webhookID, err)
	}
	return sealed, nil
}

// secretPlace returns one for both columns: a rotation moves a secret from one to the
// other as it is.
func secretPlace(webhookID string) keyring.Place {
	return keyring.Place{Table: "partnerkit_webhook", Row: webhookID, Column: "secret"}
}
