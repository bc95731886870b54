package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Deliveries lists the most recent deliveries of a webhook, newest first and without
// their bodies: webhooks.MaxListed of them.
func (c *Console) Deliveries(ctx context.Context, by Actor, ref Ref) ([]webhooks.Delivery, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return nil, err
	}
	deliveries, err := c.cfg.Webhooks.Deliveries(ctx, ref.AppID, ref.WebhookID)
	return deliveries, absent("webhook", err)
}

// Delivery returns one and all its attempts, oldest first.
func (c *Console) Delivery(ctx context.Context, by Actor, ref Ref) (webhooks.Delivery, []webhooks.Attempt, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return webhooks.Delivery{}, nil, err
	}
	delivery, attempts, err := c.cfg.Webhooks.Delivery(ctx, ref.AppID, ref.WebhookID, ref.DeliveryID)
	return delivery, attempts, absent("delivery", err)
}

// SendTest queues a test delivery to a webhook. Its error is one of apierror: 404,
// that the app is suspended or deactivated, or that the webhook is off.
func (c *Console) SendTest(ctx context.Context, by Actor, ref Ref) (webhooks.Delivery, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return webhooks.Delivery{}, err
	}
	var queued webhooks.Delivery
	err := c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		queued, err = c.cfg.Webhooks.SendTest(ctx, ref.AppID, ref.WebhookID)
		return by.did(audit.WebhookTested, ref.AppID, queued.ID), err
	})
	if err != nil {
		return webhooks.Delivery{}, absent("webhook", err)
	}
	return queued, nil
}

// Redeliver queues a failed delivery again. Its error is one of apierror: 404, or the
// reason why it is refused.
func (c *Console) Redeliver(ctx context.Context, by Actor, ref Ref) (webhooks.Delivery, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return webhooks.Delivery{}, err
	}
	var queued webhooks.Delivery
	err := c.change(ctx, func(ctx context.Context) (_ audit.Entry, err error) {
		queued, err = c.cfg.Webhooks.Redeliver(ctx, ref.AppID, ref.WebhookID, ref.DeliveryID)
		return by.did(audit.DeliveryRedelivered, ref.AppID, queued.ID), err
	})
	if err != nil {
		return webhooks.Delivery{}, absent("delivery", err)
	}
	return queued, nil
}

func (c *Console) deliveryRoutes() []route {
	const webhook = "/developer/apps/{appId}/webhooks/{webhookId}"
	return []route{
		{"POST " + webhook + "/test", c.sendTest},
		{"GET " + webhook + "/deliveries", c.listDeliveries},
		{"GET " + webhook + "/deliveries/{deliveryId}", c.serveDelivery},
		{"POST " + webhook + "/deliveries/{deliveryId}/redeliver", c.redeliver},
	}
}

type deliveryPayload struct {
	ID            string          `json:"id"`
	Event         string          `json:"event"`
	EventID       *string         `json:"eventId"`
	Status        webhooks.Status `json:"status"`
	Attempts      int             `json:"attempts"` // since it was queued
	ResponseCode  *int            `json:"responseCode"`
	LastError     *string         `json:"lastError"`
	NextAttemptAt *time.Time      `json:"nextAttemptAt"`
	CreatedAt     time.Time       `json:"createdAt"`
}

func newDeliveryPayload(d webhooks.Delivery) deliveryPayload {
	return deliveryPayload{
		ID: d.ID, Event: d.EventType, EventID: orNull(d.EventID), Status: d.Status, Attempts: d.Attempts, ResponseCode: orNull(d.ResponseCode),
		LastError: orNull(d.LastError), NextAttemptAt: stampOrNull(d.NextAttemptAt), CreatedAt: stamp(d.CreatedAt),
	}
}

// attemptPayload is one attempt, those before a redelivery included.
type attemptPayload struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	DurationMS   int64     `json:"durationMs"`
	ResponseCode *int      `json:"responseCode"`
	Error        *string   `json:"error"`
	Answer       *string   `json:"answer"` // the beginning, as text
	Signature    string    `json:"signature"`
}

func newAttemptPayload(a webhooks.Attempt) attemptPayload {
	payload := attemptPayload{
		Number: a.Number, At: stamp(a.StartedAt), DurationMS: a.Duration.Milliseconds(), ResponseCode: orNull(a.ResponseCode),
		Error: orNull(a.Error), Signature: a.Signature,
	}
	if a.ResponseCode != 0 {
		answer := strings.ToValidUTF8(string(a.Answer), "\uFFFD")
		payload.Answer = &answer
	}
	return payload
}

func (c *Console) sendTest(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	queued, err := c.SendTest(r.Context(), by, refOf(r))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, newDeliveryPayload(queued))
}

func (c *Console) listDeliveries(w http.ResponseWriter, r *http.Request, by Actor) error {
	deliveries, err := c.Deliveries(r.Context(), by, refOf(r))
	if err != nil {
		return err
	}
	return list(w, deliveries, newDeliveryPayload)
}

func (c *Console) serveDelivery(w http.ResponseWriter, r *http.Request, by Actor) error {
	delivery, attempts, err := c.Delivery(r.Context(), by, refOf(r))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, struct {
		deliveryPayload
		Body    string           `json:"body"` // to the byte, for whoever checks a signature
		History []attemptPayload `json:"history"`
	}{newDeliveryPayload(delivery), string(delivery.Body), convert(attempts, newAttemptPayload)})
}

func (c *Console) redeliver(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	queued, err := c.Redeliver(r.Context(), by, refOf(r))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, newDeliveryPayload(queued))
}
