package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// NewWebhook is a webhook as its developer describes it.
type NewWebhook struct {
	AppID string
	// URL is https to a public host; see Config.AllowLoopback.
	URL string
	// Events are names of the catalog. Naming one twice changes nothing; there
	// may be none.
	Events []string
	// Disabled makes one that is switched off.
	Disabled bool

	// ID and Secret are made when they are empty. Fixtures bring their own: an id
	// of up to 64 letters, digits, hyphens and underscores, and a secret of up to
	// 256 printable ASCII characters without spaces, more than whsec_ alone.
	ID     string
	Secret string
	// StandardSecret says that Secret has the form of Standard Webhooks, whsec_ and the base64 of
	// 24 to 64 bytes, as those of Svix have: StandardHeaders signs with these bytes.
	StandardSecret bool
	// Verified makes one that counts as verified, for fixtures; see Options.VerifyEndpoints.
	Verified bool
}

// Change is a change of a webhook; nil leaves a member unchanged.
type Change struct {
	// Version is the version that the change is based on. The error is CONFLICT if the webhook
	// has another one. Nil: any.
	Version *int64

	URL     *string
	Events  *[]string
	Enabled *bool
}

// Check returns a validation error that names everything that is wrong with a new webhook.
func (s *Service) Check(n NewWebhook) error {
	var v apierror.Validation
	s.checkURL(&v, n.URL)
	s.checkEvents(&v, n.Events)
	checkGiven(&v, n)
	return v.Err()
}

// CheckChange does the same for a change.
func (s *Service) CheckChange(c Change) error {
	var v apierror.Validation
	if c.URL != nil {
		s.checkURL(&v, *c.URL)
	}
	if c.Events != nil {
		s.checkEvents(&v, *c.Events)
	}
	return v.Err()
}

// Create adds a webhook to an app and returns it with its secret, which cannot be read
// again. The error is a validation error of apierror that names every invalid field, an
// error that wraps [webhookstore.ErrTooMany] or [webhookstore.ErrTaken], or [partner.ErrNotFound] if the app does not exist.
func (s *Service) Create(ctx context.Context, n NewWebhook) (w partner.Webhook, text string, err error) {
	if err := s.Check(n); err != nil {
		return partner.Webhook{}, "", err
	}
	now := s.now()
	if n.ID == "" {
		n.ID = id.New(id.Webhook, now)
	}
	kept := n.Secret
	if n.StandardSecret {
		kept = standardForm + n.Secret
	}
	if kept == "" {
		n.Secret = newSecret()
		kept = standardForm + n.Secret
	}
	sealed, err := s.seal(n.ID, kept)
	if err != nil {
		return partner.Webhook{}, "", err
	}
	w = partner.Webhook{
		ID: n.ID, AppID: n.AppID, URL: n.URL, Events: distinct(n.Events), Enabled: !n.Disabled, CreatedAt: now, UpdatedAt: now, Version: 1, Secrets: partner.Secrets{Secret: sealed},
	}
	if s.cfg.VerifyEndpoints && !n.Verified {
		w.UnverifiedSince = now
	}
	switch err := s.cfg.Store.CreateWebhook(ctx, w, s.cfg.MaxWebhooks); {
	case errors.Is(err, webhookstore.ErrTooMany):
		return partner.Webhook{}, "", apierror.Invalid(fmt.Sprintf("an app has at most %d webhooks", s.cfg.MaxWebhooks)).WithCause(err)
	case errors.Is(err, webhookstore.ErrTaken):
		return partner.Webhook{}, "", apierror.InvalidAt("id", "is taken").WithCause(err)
	case err != nil:
		return partner.Webhook{}, "", err
	}
	if w.UnverifiedSince.IsZero() {
		return w, n.Secret, nil
	}
	_, err = s.challenge(ctx, w, now)
	return w, n.Secret, err
}

// Get returns a webhook of an app; [partner.ErrNotFound].
func (s *Service) Get(ctx context.Context, appID, webhookID string) (partner.Webhook, error) {
	return s.cfg.Store.Webhook(ctx, appID, webhookID, s.now())
}

// List returns the webhooks of an app, oldest first.
func (s *Service) List(ctx context.Context, appID string) ([]partner.Webhook, error) {
	return s.cfg.Store.Webhooks(ctx, appID, s.now())
}

// Update changes a webhook; [partner.ErrNotFound], or an error of apierror: a validation error, or
// CONFLICT. What is queued goes to the new URL.
func (s *Service) Update(ctx context.Context, appID, webhookID string, c Change) (partner.Webhook, error) {
	if err := s.CheckChange(c); err != nil {
		return partner.Webhook{}, err
	}
	now := s.now()
	saved, err := s.cfg.Store.UpdateWebhook(ctx, appID, webhookID, func(w partner.Webhook) (partner.Webhook, error) {
		if c.Version != nil && *c.Version != w.Version {
			return partner.Webhook{}, codes.Conflict.New()
		}
		if c.URL != nil && *c.URL != w.URL {
			w.URL = *c.URL
			if s.cfg.VerifyEndpoints {
				w.UnverifiedSince, w.ChallengeError = later(now, w.UnverifiedSince), ""
			}
		}
		if c.Events != nil {
			w.Events = distinct(*c.Events)
		}
		if c.Enabled != nil {
			w.Enabled = *c.Enabled
		}
		w.UpdatedAt = now
		w.Version++
		return w, nil
	})
	if err != nil {
		return partner.Webhook{}, err
	}
	if s.cfg.VerifyEndpoints && !saved.UnverifiedSince.IsZero() {
		if _, err := s.challenge(ctx, saved, now); err != nil {
			return partner.Webhook{}, err
		}
	}
	return s.Get(ctx, appID, webhookID) // with its health
}

// Delete deletes a webhook; [partner.ErrNotFound]. What is queued for it is not sent.
func (s *Service) Delete(ctx context.Context, appID, webhookID string) error {
	return s.cfg.Store.DeleteWebhook(ctx, appID, webhookID, s.now())
}

// now returns the time as precisely as the store keeps it.
func (s *Service) now() time.Time { return s.cfg.Clock.Now().Truncate(time.Millisecond) }

func (s *Service) checkURL(v *apierror.Validation, raw string) {
	_, err := s.policy.ParseURL(raw)
	if invalid, ok := errors.AsType[*outbound.URLError](err); ok {
		v.Add("url", "%s", invalid.Problem)
	}
}

func (s *Service) checkEvents(v *apierror.Validation, names []string) {
	for i, name := range names {
		if _, ok := s.cfg.Catalog.Lookup(name); !ok {
			v.Add(fmt.Sprintf("events[%d]", i), "%.64q is not in the catalog", name)
		}
	}
}

// distinct returns names without repetitions.
func distinct(names []string) []string {
	once := make([]string, 0, len(names))
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// checkGiven validates the fields that fixtures set. Its errors never show the secret.
func checkGiven(v *apierror.Validation, n NewWebhook) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	if len(n.ID) > 64 || strings.Trim(n.ID, letters) != "" {
		v.Add("id", "must have at most 64 letters, digits, hyphens and underscores")
	}
	if len(n.Secret) > 256 || n.Secret == string(secret.WebhookSecret) || !text.IsVisible(n.Secret) {
		v.Add("secret", "must have at most 256 printable ASCII characters without spaces, more than %s alone", secret.WebhookSecret)
	}
	if n.StandardSecret && !isStandardSecret(n.Secret) {
		v.Add("secret", "must be %s and the base64 of 24 to 64 bytes", secret.WebhookSecret)
	}
}
