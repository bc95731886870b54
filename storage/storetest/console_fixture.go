package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// maxWebhooks is how many webhooks an app of the cases may have.
const maxWebhooks = 3

// errGate is what a judge of the cases refuses with.
var errGate = errors.New("storetest: the gate is closed")

// webhookFixture is an app that is installed in its business and has a webhook.
type webhookFixture struct {
	*oauthFixture
	webhook webhooks.Webhook
}

func newWebhook(t *testing.T, e *Env) *webhookFixture {
	t.Helper()
	f := &webhookFixture{oauthFixture: newOAuth(t, e)}
	f.code(t) // installs
	f.webhook = f.another(noon)
	must(t, e.CreateWebhook(t.Context(), f.webhook, maxWebhooks))
	return f
}

// another is one more webhook of the app, not stored yet.
func (f *webhookFixture) another(now time.Time) webhooks.Webhook {
	return webhooks.Webhook{
		ID: id.New(id.Webhook, now), AppID: f.app.ID, URL: "https://app.example/hooks", Events: []string{"invoice.paid", "invoice.created"}, Enabled: true,
		CreatedAt: now, UpdatedAt: now, Secrets: webhooks.Secrets{Secret: []byte{0, 0xff, 's'}},
	}
}

// failed stores a delivery that has failed.
func (f *webhookFixture) failed(t *testing.T, now time.Time) webhooks.Delivery {
	t.Helper()
	return f.stored(t, webhooks.Delivery{Status: webhooks.Failed, Attempts: webhooks.MaxAttempts, ResponseCode: 500, LastError: "answered 500", CreatedAt: now})
}

// waiting stores a delivery that is to be tried again.
func (f *webhookFixture) waiting(t *testing.T, now time.Time) webhooks.Delivery {
	t.Helper()
	return f.stored(t, webhooks.Delivery{Status: webhooks.Retrying, Attempts: 1, LastError: "timed out", NextAttemptAt: now.Add(time.Minute), CreatedAt: now})
}

// stored writes a delivery of an event, and its place in the queue, past the store.
func (f *webhookFixture) stored(t *testing.T, d webhooks.Delivery) webhooks.Delivery {
	t.Helper()
	d.ID, d.WebhookID, d.AppID, d.BusinessID = id.New(id.Delivery, d.CreatedAt), f.webhook.ID, f.app.ID, f.business
	d.EventID, d.EventType, d.Body = id.New(id.Event, d.CreatedAt), "invoice.paid", []byte(`{"id":"`+d.ID+`"}`)
	var next, code any
	if !d.NextAttemptAt.IsZero() {
		next = d.NextAttemptAt.UnixMilli()
		f.exec(t, "INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) VALUES ($1, $2, $3, $4)", d.WebhookID, next, d.ID, webhooks.ShardOf(d.WebhookID))
	}
	if d.ResponseCode != 0 {
		code = d.ResponseCode
	}
	f.exec(t, `INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, response_code, last_error, next_attempt_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		d.ID, d.WebhookID, d.AppID, d.EventID, d.EventType, d.BusinessID, d.Body, string(d.Status), d.Attempts, code, d.LastError, next, d.CreatedAt.UnixMilli())
	return d
}

// attempt stores one of a delivery.
func (f *webhookFixture) attempt(t *testing.T, d webhooks.Delivery, a webhooks.Attempt) webhooks.Attempt {
	t.Helper()
	a.ID = id.New(id.Attempt, a.StartedAt)
	var code, failed any
	if a.ResponseCode != 0 {
		code = a.ResponseCode
	}
	if a.Error != "" {
		failed = a.Error
	}
	f.exec(t, "INSERT INTO partnerkit_attempt (delivery_id, id, number, signature, started_at, took_ms, response_code, error, answer) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		d.ID, a.ID, a.Number, a.Signature, a.StartedAt.UnixMilli(), a.Duration.Milliseconds(), code, failed, a.Answer)
	return a
}

// exec runs a statement past the store.
func (e *Env) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	_, err := e.Tap.Exec(t.Context(), e.Qualified(query), args...)
	must(t, err)
}

// count reads a number past the store.
func (e *Env) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	var n int
	must(t, storage.One(t.Context(), e.Store, e.Qualified(query), args, &n))
	return n
}

// Qualified puts the schema before our tables in a statement.
func (e *Env) Qualified(query string) string {
	schema := e.Tap.Dialect().Schema
	if schema == "" {
		return query
	}
	return strings.ReplaceAll(query, "partnerkit_", `"`+schema+`".partnerkit_`)
}

// queuedAt counts the places of a delivery in the queue, due then and in the
// right shard.
func (f *webhookFixture) queuedAt(t *testing.T, deliveryID string, due time.Time) int {
	t.Helper()
	return f.count(t, "SELECT COUNT(*) FROM partnerkit_delivery_queue WHERE webhook_id = $1 AND delivery_id = $2 AND due_at = $3 AND shard = $4",
		f.webhook.ID, deliveryID, due.UnixMilli(), webhooks.ShardOf(f.webhook.ID))
}

// again is the wish to redeliver, with a judge that goes by the gates.
func (f *webhookFixture) again(d webhooks.Delivery, now time.Time) webhooks.Redelivery {
	return webhooks.Redelivery{
		AppID: f.app.ID, WebhookID: f.webhook.ID, DeliveryID: d.ID, Now: now,
		Check: func(d webhooks.Delivery, s webhooks.Standing) error {
			scope := "invoices:read"
			if d.Status != webhooks.Failed || s.IsDeleted || !s.IsEnabled || !s.IsAppUsable ||
				!s.Viewer.IsInstalled || !s.Viewer.AppScopes.Has(scope) || !s.Viewer.InstallationScopes.Has(scope) {
				return errGate
			}
			return nil
		},
	}
}

// test is a test delivery of the webhook, and the function that fires it when the
// gates are open.
func (f *webhookFixture) test(now time.Time) (webhooks.Delivery, func(webhooks.Target) (webhooks.Delivery, error)) {
	d := webhooks.Delivery{
		ID: id.New(id.Delivery, now), WebhookID: f.webhook.ID, AppID: f.app.ID, EventType: "invoice.paid", BusinessID: "test",
		Body: []byte(`{"eventId":null}`), Status: webhooks.Queued, NextAttemptAt: now, CreatedAt: now,
	}
	return d, func(to webhooks.Target) (webhooks.Delivery, error) {
		if !to.Standing.IsEnabled || !to.Standing.IsAppUsable {
			return webhooks.Delivery{}, errGate
		}
		return d, nil
	}
}

// closers are the ways to close a gate of a delivery. Each is an act.
var closers = map[string]func(t *testing.T, f *webhookFixture) error{
	"suspend the app": func(t *testing.T, f *webhookFixture) error {
		return f.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppSuspended)
	},
	"deactivate the app": func(t *testing.T, f *webhookFixture) error {
		return f.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppDeactivated)
	},
	"switch the webhook off": func(t *testing.T, f *webhookFixture) error {
		_, err := f.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w webhooks.Webhook) (webhooks.Webhook, error) {
			w.Enabled = false
			return w, nil
		})
		return err
	},
	"delete the webhook": func(t *testing.T, f *webhookFixture) error {
		return f.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon)
	},
	"uninstall": func(t *testing.T, f *webhookFixture) error { return f.end(t, oauthserver.InstallationRemoved) },
	"narrow the app": func(t *testing.T, f *webhookFixture) error {
		_, err := f.UpdateApp(t.Context(), f.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
			a.Scopes = identity.MustScopes("events:read")
			return a, nil
		})
		return err
	},
	"narrow the installation": func(t *testing.T, f *webhookFixture) error {
		_, err := f.SetInstallationScopes(t.Context(), f.app.ID, f.business, identity.MustScopes("events:read"),
			func(oauthserver.Installation, oauthserver.Installation) []events.Event { return nil })
		return err
	},
}

// isRefused reports an answer that a closed gate gives.
func isRefused(err error) bool {
	return errors.Is(err, errGate) || errors.Is(err, webhooks.ErrNotFound)
}
