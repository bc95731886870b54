package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

// AddSecret gives an app one more client secret and returns it, for the only time.
// Its error is one of apierror: 404, that the app is PUBLIC or deactivated, or that
// it has two valid secrets already.
func (c *Console) AddSecret(ctx context.Context, by Actor, appID string) (string, partner.ClientSecret, error) {
	var text string
	var added partner.ClientSecret
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (_ audit.Entry, err error) {
		text, added, err = c.cfg.OAuth.AddClientSecret(ctx, appID)
		return by.did(audited.SecretCreated, appID, added.ID), err
	})
	if err != nil {
		return "", partner.ClientSecret{}, absent("app", err)
	}
	return text, added, nil
}

// Secret is a client secret of an app.
type Secret struct {
	partner.ClientSecret
	LastUsedAt time.Time // zero: never
}

// Secrets lists what is known of an app's client secrets, ended ones too, oldest
// first.
func (c *Console) Secrets(ctx context.Context, by Actor, appID string) ([]Secret, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	secrets, err := c.cfg.Store.ClientSecrets(ctx, appID)
	if err != nil {
		return nil, err
	}
	uses, err := c.cfg.Analytics.LastUses(ctx, jsonapi.Convert(secrets, partner.ClientSecret.UseID)...)
	if err != nil {
		return nil, err
	}
	return jsonapi.Convert(secrets, func(s partner.ClientSecret) Secret { return Secret{ClientSecret: s, LastUsedAt: uses[s.UseID()]} }), nil
}

// EndSecret ends a client secret at once. Its error is one of apierror: 404 if there is no
// such secret or it has already ended, that the app is deactivated, or that the app would be
// left without a secret.
func (c *Console) EndSecret(ctx context.Context, by Actor, appID, secretID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.SecretEnded, appID, secretID), c.cfg.OAuth.EndClientSecret(ctx, appID, secretID)
	})
	return absent("secret", err)
}

func (c *Console) secretRoutes() []route {
	return []route{
		{"POST /developer/apps/{appId}/secrets", c.addSecret},
		{"GET /developer/apps/{appId}/secrets", c.listSecrets},
		{"DELETE /developer/apps/{appId}/secrets/{secretId}", c.endSecret},
	}
}

type secretPayload struct {
	ID         string      `json:"id"`
	Secret     string      `json:"secret,omitempty"` // once
	Prefix     string      `json:"prefix"`
	CreatedAt  stamp.Time  `json:"createdAt"`
	EndedAt    *stamp.Time `json:"endedAt,omitempty"`
	LastUsedAt *stamp.Time `json:"lastUsedAt,omitempty"`
}

func newSecretPayload(s Secret) secretPayload {
	return secretPayload{ID: s.ID, Prefix: s.Prefix, CreatedAt: stamp.Of(s.CreatedAt), EndedAt: stamp.OrNull(s.EndedAt), LastUsedAt: stamp.OrNull(s.LastUsedAt)}
}

func (c *Console) addSecret(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	text, added, err := c.AddSecret(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	payload := newSecretPayload(Secret{ClientSecret: added})
	payload.Secret = text
	return apierror.WriteJSON(w, http.StatusCreated, payload)
}

func (c *Console) listSecrets(w http.ResponseWriter, r *http.Request, by Actor) error {
	secrets, err := c.Secrets(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, secrets, newSecretPayload)
}

func (c *Console) endSecret(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.EndSecret(r.Context(), by, r.PathValue("appId"), r.PathValue("secretId")); err != nil {
		return err
	}
	return noContent(w)
}
