package console

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// NewWebhook is a webhook as its developer describes it.
type NewWebhook struct {
	URL     string   `json:"url"`
	Events  []string `json:"events"`  // names of the catalog; there may be none
	Enabled *bool    `json:"enabled"` // nil: it is
}

// WebhookChange is a change of a webhook. Members that are not sent stay unchanged.
type WebhookChange struct {
	URL     optional.Member[string]   `json:"url"`
	Events  optional.Member[[]string] `json:"events"`
	Enabled optional.Member[bool]     `json:"enabled"`
	// Version is the version that the change is based on. The error is CONFLICT if the webhook
	// has another one.
	Version optional.Member[int64] `json:"version"`
}

// MaxWebhooks is how many webhooks an app may have.
func (c *Console) MaxWebhooks() int { return c.cfg.Webhooks.Options().MaxWebhooks }

// CreateWebhook adds a webhook to an app and returns it with its secret, which cannot
// be read again. Its error is one of apierror: 404, that the app is deactivated, or
// everything that is wrong.
func (c *Console) CreateWebhook(ctx context.Context, by Actor, appID string, n NewWebhook) (partner.Webhook, string, error) {
	var hook partner.Webhook
	var secret string
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		hook, secret, err = c.cfg.Webhooks.Create(ctx, newWebhook(appID, n))
		return by.did(audited.WebhookCreated, appID, hook.ID), err
	})
	if err != nil {
		return partner.Webhook{}, "", absent("app", err)
	}
	return hook, secret, nil
}

func newWebhook(appID string, n NewWebhook) webhooks.NewWebhook {
	return webhooks.NewWebhook{AppID: appID, URL: n.URL, Events: n.Events, Disabled: n.Enabled != nil && !*n.Enabled}
}

// Webhooks lists those of an app, oldest first.
func (c *Console) Webhooks(ctx context.Context, by Actor, appID string) ([]partner.Webhook, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Webhooks.List(ctx, appID)
}

// Webhook returns one.
func (c *Console) Webhook(ctx context.Context, by Actor, appID, webhookID string) (partner.Webhook, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Webhook{}, err
	}
	hook, err := c.cfg.Webhooks.Get(ctx, appID, webhookID)
	return hook, absent("webhook", err)
}

// UpdateWebhook changes one; its error is as with [Console.CreateWebhook], or CONFLICT.
func (c *Console) UpdateWebhook(ctx context.Context, by Actor, appID, webhookID string, change WebhookChange) (partner.Webhook, error) {
	var hook partner.Webhook
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		changed, err := c.webhookChange(change)
		if err != nil {
			return audit.Entry{}, err
		}
		before, err := c.cfg.Webhooks.Get(ctx, appID, webhookID)
		if err != nil {
			return audit.Entry{}, err
		}
		hook, err = c.cfg.Webhooks.Update(ctx, appID, webhookID, changed)
		return by.changedWebhook(before, hook), err
	})
	if err != nil {
		return partner.Webhook{}, absent("webhook", err)
	}
	return hook, nil
}

// webhookChange returns the change that was sent, or a validation error.
func (c *Console) webhookChange(sent WebhookChange) (webhooks.Change, error) {
	var v apierror.Validation
	changed := webhooks.Change{
		URL: notNull(&v, "url", sent.URL), Events: notNull(&v, "events", sent.Events), Enabled: notNull(&v, "enabled", sent.Enabled), Version: notNull(&v, "version", sent.Version),
	}
	if err := v.Include(c.cfg.Webhooks.CheckChange(changed)); err != nil {
		return changed, err
	}
	return changed, v.Err()
}

// DeleteWebhook deletes one; what is queued for it is not sent.
func (c *Console) DeleteWebhook(ctx context.Context, by Actor, appID, webhookID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.WebhookDeleted, appID, webhookID), c.cfg.Webhooks.Delete(ctx, appID, webhookID)
	})
	return absent("webhook", err)
}

// VerifiesWebhooks reports whether a webhook gets nothing until its endpoint has answered a
// challenge.
func (c *Console) VerifiesWebhooks() bool { return c.cfg.Webhooks.Options().VerifyEndpoints }

// VerifyWebhook sends a challenge to the endpoint of a webhook again, soon after it returns. Its
// error is one of apierror: 404, also where webhooks need not be verified, that the app is
// suspended or deactivated, or that the webhook had too many challenges.
func (c *Console) VerifyWebhook(ctx context.Context, by Actor, appID, webhookID string) (partner.Webhook, error) {
	if !c.VerifiesWebhooks() {
		return partner.Webhook{}, apierror.NotFound("")
	}
	if _, err := c.App(ctx, by, appID); err != nil {
		return partner.Webhook{}, err
	}
	err := c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		return by.did(audited.WebhookChallenged, appID, webhookID), c.cfg.Webhooks.Challenge(ctx, appID, webhookID)
	})
	if err != nil {
		return partner.Webhook{}, absent("webhook", err)
	}
	return c.Webhook(ctx, by, appID, webhookID)
}

// DeliveriesKept returns how long deliveries are kept and can be sent again.
func (c *Console) DeliveriesKept() time.Duration { return c.cfg.Webhooks.Retention() }

// SecretOverlap returns how long the secret before a rotation signs too.
func (c *Console) SecretOverlap() time.Duration { return c.cfg.Webhooks.Options().SecretOverlap }

// RotateSecret gives a webhook a new secret and returns it, for the only time, and
// when the one before it stops signing.
func (c *Console) RotateSecret(ctx context.Context, by Actor, appID, webhookID string) (secret string, previousExpiresAt time.Time, err error) {
	err = c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		secret, previousExpiresAt, err = c.cfg.Webhooks.RotateSecret(ctx, appID, webhookID)
		return by.did(audited.WebhookSecretRotated, appID, webhookID), err
	})
	if err != nil {
		return "", time.Time{}, absent("webhook", err)
	}
	return secret, previousExpiresAt, nil
}
