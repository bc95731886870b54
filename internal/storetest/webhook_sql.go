package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlWebhookCases need what only sqlstore has.
var sqlWebhookCases = []testCase[*Env]{
	// CON-01, RDL-03: what is another app's, or deleted, is not found by any operation.
	{"Foreign and deleted webhooks are not found", func(t *testing.T, e *Env) {
		f, other := newWebhook(t, e), newWebhook(t, e)
		d := f.failed(t, noon)
		_, fire := f.test(noon)
		acts := func(appID, webhookID string) map[string]error {
			_, read := oneWebhook(e)(t.Context(), appID, webhookID)
			_, updated := e.UpdateWebhook(t.Context(), appID, webhookID, func(w partner.Webhook) (partner.Webhook, error) { return w, nil })
			_, listed := e.Deliveries(t.Context(), partner.DeliveryQuery{AppID: appID, WebhookID: webhookID, Limit: 10, Now: noon})
			_, _, delivery := e.Delivery(t.Context(), appID, webhookID, d.ID)
			_, tested := e.QueueTest(t.Context(), appID, webhookID, fire)
			again := f.again(d, noon)
			again.AppID, again.WebhookID = appID, webhookID
			_, redelivered := e.Redeliver(t.Context(), again)
			return map[string]error{
				"read": read, "update": updated, "list": listed, "delivery": delivery, "test": tested, "redeliver": redelivered,
				"delete": e.DeleteWebhook(t.Context(), appID, webhookID, noon),
			}
		}
		notFound := func(whose, appID, webhookID string) {
			for name, err := range acts(appID, webhookID) {
				if !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("%s, %s: %v", whose, name, err)
				}
			}
		}
		notFound("another app's", other.app.ID, f.webhook.ID)
		notFound("an absent one", f.app.ID, "whk_absent")
		notFound("of an absent app", "app_absent", f.webhook.ID)
		if _, _, err := e.Delivery(t.Context(), other.app.ID, other.webhook.ID, d.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a delivery of another webhook: %v", err)
		}
		foreign := f.again(d, noon)
		foreign.AppID, foreign.WebhookID = other.app.ID, other.webhook.ID
		if _, err := e.Redeliver(t.Context(), foreign); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("redelivery of another webhook's: %v", err)
		}
		absent := f.again(d, noon)
		absent.DeliveryIDs = []string{"dlv_absent"}
		if _, err := e.Redeliver(t.Context(), absent); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("redelivery of an absent one: %v", err)
		}
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
		notFound("a deleted one", f.app.ID, f.webhook.ID)
		if left := get[[]partner.Webhook](t)(e.Webhooks(t.Context(), f.app.ID, time.Time{})); len(left) != 0 {
			t.Errorf("listed %v", left)
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery WHERE id = $1", d.ID); n != 1 {
			t.Error("the delivery went with its webhook") // it stays for its 30 days
		}
	}},
	{"A webhook goes with an app that is purged", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		e.exec(t, "DELETE FROM partnerkit_code WHERE app_id = $1", f.app.ID)
		e.exec(t, "DELETE FROM partnerkit_grant WHERE user_id = $1", f.user)
		e.exec(t, "DELETE FROM partnerkit_installation WHERE app_id = $1", f.app.ID)
		e.exec(t, "UPDATE partnerkit_app SET origin = $2 WHERE id = $1", f.app.ID, string(partner.OriginRegistered))
		get[int](t)(purge(e, storage.PurgeOAuth)(t.Context(), noon.Add(31*24*time.Hour), 100))
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_webhook WHERE id = $1", f.webhook.ID); n != 0 {
			t.Errorf("%d webhooks of an app that is gone", n)
		}
	}},
}
