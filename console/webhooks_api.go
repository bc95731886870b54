package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

func (c *Console) webhookRoutes() []route {
	const all, one = "/developer/apps/{appId}/webhooks", "/developer/apps/{appId}/webhooks/{webhookId}"
	routes := []route{
		{"POST " + all, c.createWebhook},
		{"GET " + all, c.listWebhooks},
		{"GET " + one, c.serveWebhook},
		{"PATCH " + one, c.updateWebhook},
		{"DELETE " + one, c.deleteWebhook},
		{"POST " + one + "/rotate-secret", c.rotateSecret},
	}
	if c.VerifiesWebhooks() {
		routes = append(routes, route{"POST " + one + "/verify", c.verifyWebhook})
	}
	return routes
}

type webhookPayload struct {
	ID        string        `json:"id"`
	URL       string        `json:"url"`
	Events    []string      `json:"events"`
	Enabled   bool          `json:"enabled"`
	CreatedAt stamp.Time    `json:"createdAt"`
	UpdatedAt stamp.Time    `json:"updatedAt"`
	Version   int64         `json:"version"`
	Health    healthPayload `json:"health"`
	Verified  *bool         `json:"verified,omitempty"` // nil: webhooks need not be verified
	Secret    string        `json:"secret,omitempty"`   // once
}

func (c *Console) webhookPayload(w partner.Webhook) webhookPayload {
	payload := webhookPayload{
		ID: w.ID, URL: w.URL, Events: append([]string{}, w.Events...), Enabled: w.Enabled,
		CreatedAt: stamp.Of(w.CreatedAt), UpdatedAt: stamp.Of(w.UpdatedAt), Version: w.Version, Health: newHealthPayload(w.Health),
	}
	if c.cfg.Webhooks.Options().VerifyEndpoints {
		isVerified := w.UnverifiedSince.IsZero()
		payload.Verified = &isVerified
	}
	return payload
}

// healthPayload is how the attempts of a webhook have ended.
type healthPayload struct {
	Failing        bool        `json:"failing"`
	Degraded       bool        `json:"degraded"`
	FailingSince   *stamp.Time `json:"failingSince,omitempty"`
	FailureRate    *float64    `json:"failureRate,omitempty"` // of the attempts of the last 24 hours, 0 to 1
	DisabledAt     *stamp.Time `json:"disabledAt,omitempty"`
	DisabledReason string      `json:"disabledReason,omitempty"`
}

func newHealthPayload(h partner.WebhookHealth) healthPayload {
	payload := healthPayload{
		Failing: h.IsFailing(), Degraded: h.IsDegraded, FailingSince: stamp.OrNull(h.FailingSince),
		DisabledAt: stamp.OrNull(h.DisabledAt), DisabledReason: h.DisabledReason,
	}
	if rate, ok := h.FailureRate(); ok {
		payload.FailureRate = &rate
	}
	return payload
}

func (c *Console) createWebhook(w http.ResponseWriter, r *http.Request, by Actor) error {
	var n NewWebhook
	if err := readBody(r, &n, func() error { return c.cfg.Webhooks.Check(newWebhook(r.PathValue("appId"), n)) }); err != nil {
		return err
	}
	hook, secret, err := c.CreateWebhook(r.Context(), by, r.PathValue("appId"), n)
	if err != nil {
		return err
	}
	payload := c.webhookPayload(hook)
	payload.Secret = secret
	return apierror.WriteJSON(w, http.StatusCreated, payload)
}

func (c *Console) listWebhooks(w http.ResponseWriter, r *http.Request, by Actor) error {
	hooks, err := c.Webhooks(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, hooks, c.webhookPayload)
}

func (c *Console) serveWebhook(w http.ResponseWriter, r *http.Request, by Actor) error {
	hook, err := c.Webhook(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, c.webhookPayload(hook))
}

func (c *Console) updateWebhook(w http.ResponseWriter, r *http.Request, by Actor) error {
	var change WebhookChange
	if err := readBody(r, &change, func() error { _, err := c.webhookChange(change); return err }); err != nil {
		return err
	}
	hook, err := c.UpdateWebhook(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"), change)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, c.webhookPayload(hook))
}

func (c *Console) deleteWebhook(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteWebhook(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId")); err != nil {
		return err
	}
	return noContent(w)
}

func (c *Console) verifyWebhook(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	hook, err := c.VerifyWebhook(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, c.webhookPayload(hook))
}

func (c *Console) rotateSecret(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	secret, previousExpiresAt, err := c.RotateSecret(r.Context(), by, r.PathValue("appId"), r.PathValue("webhookId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		Secret                  string     `json:"secret"`
		PreviousSecretExpiresAt stamp.Time `json:"previousSecretExpiresAt"`
	}{secret, stamp.Of(previousExpiresAt)})
}
