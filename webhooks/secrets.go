package webhooks

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/partner"
)

// RotateSecret gives a webhook a new secret and returns it, for the only time;
// [partner.ErrNotFound]. The one before signs too until it expires, Config.SecretOverlap later.
// Rotating again within that time drops the oldest.
func (s *Service) RotateSecret(ctx context.Context, appID, webhookID string) (text string, previousExpiresAt time.Time, err error) {
	text = newSecret()
	sealed, err := s.seal(webhookID, standardForm+text)
	if err != nil {
		return "", time.Time{}, err
	}
	now := s.now()
	w, err := s.cfg.Store.UpdateWebhook(ctx, appID, webhookID, func(w partner.Webhook) (partner.Webhook, error) {
		w.Secrets = partner.Secrets{Secret: sealed, Previous: w.Secret, PreviousExpiresAt: now.Add(s.cfg.SecretOverlap)}
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

// standardForm stands before a secret in the form of Standard Webhooks where it is kept: those
// that were made here, and others if NewWebhook says so. Others, such as those of fixtures, are
// kept as they are.
const standardForm = "\x01"

// isStandardSecret says whether a text has that form.
func isStandardSecret(text string) bool {
	encoded, ok := strings.CutPrefix(text, string(secret.WebhookSecret))
	key, err := base64.StdEncoding.DecodeString(encoded)
	return ok && err == nil && len(key) >= 24 && len(key) <= 64
}

// signingSecret is a secret, and the key of Standard Webhooks that it stands for: what its
// base64 encodes or, if it does not have their form, the whole text.
type signingSecret struct {
	text string
	key  []byte
}

func signingSecretOf(kept string) (signingSecret, error) {
	text, ok := strings.CutPrefix(kept, standardForm)
	if !ok {
		return signingSecret{text, []byte(text)}, nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, string(secret.WebhookSecret)))
	if err != nil {
		return signingSecret{}, errors.New("it is not base64") // the error of base64 shows a part of it
	}
	return signingSecret{text, key}, nil
}

// signingSecrets returns the secrets that sign at this moment, the newest first.
func (s *Service) signingSecrets(webhookID string, of partner.Secrets, now time.Time) (all []signingSecret, err error) {
	sealed := [][]byte{of.Secret}
	if of.Previous != nil && now.Before(of.PreviousExpiresAt) {
		sealed = append(sealed, of.Previous)
	}
	for _, one := range sealed {
		kept, err := s.cfg.Keyring.Open(secretPlace(webhookID), one)
		if err != nil {
			return nil, fmt.Errorf("secret of webhook %s: %w", webhookID, err)
		}
		signing, err := signingSecretOf(string(kept))
		if err != nil {
			return nil, fmt.Errorf("secret of webhook %s: %w", webhookID, err)
		}
		all = append(all, signing)
	}
	return all, nil
}

func newSecret() string { return secret.New(secret.WebhookSecret).Reveal() }

func (s *Service) seal(webhookID, kept string) ([]byte, error) {
	sealed, err := s.cfg.Keyring.Seal(secretPlace(webhookID), []byte(kept))
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
