package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// sqlDeliveryCases need what only sqlstore has.
var sqlDeliveryCases = []testCase[*Env]{
	{"Deliveries that are queued are news", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		d := f.failed(t, noon)
		hints := e.Watch(webhookstore.TopicQueued)
		defer hints.Stop()
		get[[]partner.Delivery](t)(e.Redeliver(t.Context(), f.again(d, noon)))
		wantNews(t, hints.C, true)
		_, fire := f.test(noon)
		get[partner.Delivery](t)(e.QueueTest(t.Context(), f.app.ID, f.webhook.ID, fire))
		wantNews(t, hints.C, true)
	}},
	// TST-02: nothing is queued if a gate of the webhook or of the app is closed; an
	// installation is not required.
	{"A test that is refused", func(t *testing.T, e *Env) {
		for name, shut := range closers {
			f := newWebhook(t, e)
			must(t, shut(t, f))
			d, fire := f.test(noon)
			_, err := e.QueueTest(t.Context(), f.app.ID, f.webhook.ID, fire)
			refused := name != "uninstall" && name != "narrow the app" && name != "narrow the installation"
			if isRefused(err) != refused || (f.queuedAt(t, d.ID, noon) == 0) != refused {
				t.Errorf("%s: %v, %d in the queue", name, err, f.queuedAt(t, d.ID, noon))
			}
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery WHERE webhook_id = $1", f.webhook.ID); (n == 0) != refused {
				t.Errorf("%s: %d deliveries", name, n)
			}
		}
	}},
}
