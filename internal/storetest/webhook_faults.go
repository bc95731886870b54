package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// webhookFaultCases: each operation on webhooks under a fault at each of its statements
// and with a lost response to its commit.
var webhookFaultCases = []testCase[*Env]{
	{"Create a webhook under faults", func(t *testing.T, e *Env) {
		var f *webhookFixture
		var w partner.Webhook
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newWebhook(t, e); w = f.another(noon) },
			Act:     func(ctx context.Context) error { return e.CreateWebhook(ctx, w, maxWebhooks) },
			Check:   func(t *testing.T, happened bool) { f.wantThere(t, w.ID, happened) },
		})
	}},
	{"Update a webhook under faults", func(t *testing.T, e *Env) {
		var f *webhookFixture
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newWebhook(t, e) },
			Act: func(ctx context.Context) error {
				_, err := e.UpdateWebhook(ctx, f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
					w.Previous, w.Secret = w.Secret, []byte("new")
					return w, nil
				})
				return err
			},
			Check: func(t *testing.T, happened bool) {
				got := get[partner.Webhook](t)(oneWebhook(e)(t.Context(), f.app.ID, f.webhook.ID))
				if (string(got.Secret) == "new") != happened || (got.Previous != nil) != happened {
					t.Errorf("happened %v: %v, %v", happened, got.Secret, got.Previous)
				}
			},
		})
	}},
	{"Delete a webhook under faults", func(t *testing.T, e *Env) {
		var f *webhookFixture
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newWebhook(t, e) },
			Act:     func(ctx context.Context) error { return e.DeleteWebhook(ctx, f.app.ID, f.webhook.ID, noon) },
			Check:   func(t *testing.T, happened bool) { f.wantThere(t, f.webhook.ID, !happened) },
		})
	}},
	{"Queue a test under faults", func(t *testing.T, e *Env) {
		var f *webhookFixture
		var d partner.Delivery
		var fire func(webhookstore.Target) (partner.Delivery, error)
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newWebhook(t, e); d, fire = f.test(noon) },
			Act: func(ctx context.Context) error {
				_, err := e.QueueTest(ctx, f.app.ID, f.webhook.ID, fire)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				_, _, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID)
				if (err == nil) != happened || (f.queuedAt(t, d.ID, noon) == 1) != happened {
					t.Errorf("happened %v: %v, %d in the queue", happened, err, f.queuedAt(t, d.ID, noon))
				}
			},
		})
	}},
}

func (f *webhookFixture) wantThere(t *testing.T, webhookID string, want bool) {
	t.Helper()
	if _, err := oneWebhook(f)(t.Context(), f.app.ID, webhookID); (err == nil) != want {
		t.Errorf("webhook: %v, want it there: %v", err, want)
	}
}
