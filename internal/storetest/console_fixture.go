package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// maxWebhooks is how many webhooks an app of the cases may have.
const maxWebhooks = 3

// errGate is the error that the test cases' checks return.
var errGate = errors.New("storetest: the gate is closed")

// webhookFixture is an app that is installed in its business and has a webhook.
type webhookFixture struct {
	*oauthFixture
	webhook partner.Webhook
}

func newWebhook(t *testing.T, e partnerkit.Store) *webhookFixture {
	t.Helper()
	f := &webhookFixture{oauthFixture: newOAuth(t, e)}
	f.code(t) // installs
	f.webhook = f.another(noon)
	must(t, e.CreateWebhook(t.Context(), f.webhook, maxWebhooks))
	return f
}

// another returns one more webhook of the app, not stored yet.
func (f *webhookFixture) another(now time.Time) partner.Webhook {
	return partner.Webhook{
		ID: id.New(id.Webhook, now), AppID: f.app.ID, URL: "https://app.example/hooks", Events: []string{"invoice.paid", "invoice.created"}, Enabled: true,
		CreatedAt: now, UpdatedAt: now, Secrets: partner.Secrets{Secret: []byte{0, 0xff, 's'}},
	}
}

// fixtureNode is the dispatcher that attempts the deliveries of fixtures.
const fixtureNode = "node_of_fixtures"

// failed stores a delivery that has failed, with its attempts.
func (f *webhookFixture) failed(t *testing.T, now time.Time, attempts ...partner.Attempt) partner.Delivery {
	t.Helper()
	return f.stored(t, partner.Delivery{Status: partner.DeliveryFailed, Attempts: 6, ResponseCode: 500, LastError: "answered 500", CreatedAt: now}, attempts...)
}

// waiting stores a delivery that is to be tried again, with its attempts.
func (f *webhookFixture) waiting(t *testing.T, now time.Time, attempts ...partner.Attempt) partner.Delivery {
	t.Helper()
	return f.stored(t, partner.Delivery{Status: partner.DeliveryRetrying, Attempts: 1, LastError: "timed out", NextAttemptAt: now.Add(time.Minute), CreatedAt: now}, attempts...)
}

// queue stores a delivery that is due at once.
func (f *webhookFixture) queue(t *testing.T, d partner.Delivery) {
	t.Helper()
	get[partner.Delivery](t)(f.QueueTest(t.Context(), f.app.ID, f.webhook.ID, func(webhookstore.Target) (partner.Delivery, error) { return d, nil }))
}

// stored queues a delivery of an event and records its attempts, the last one with the
// outcome that d describes. Without attempts it records that outcome alone.
func (f *webhookFixture) stored(t *testing.T, d partner.Delivery, attempts ...partner.Attempt) partner.Delivery {
	t.Helper()
	d.ID, d.WebhookID, d.AppID, d.BusinessID = id.New(id.Delivery, d.CreatedAt), f.webhook.ID, f.app.ID, f.business
	d.EventID, d.EventType, d.Body = id.New(id.Event, d.CreatedAt), "invoice.paid", []byte(`{"id":"`+d.ID+`"}`)
	queued := d
	queued.Status, queued.Attempts, queued.ResponseCode, queued.LastError, queued.NextAttemptAt = partner.DeliveryQueued, 0, 0, "", d.CreatedAt
	f.queue(t, queued)
	for i := range attempts[:max(0, len(attempts)-1)] {
		tried := queued
		tried.Status, tried.Attempts, tried.NextAttemptAt = partner.DeliveryRetrying, i+1, queued.NextAttemptAt.Add(time.Millisecond)
		f.finish(t, queued, tried, &attempts[i])
		queued = tried
	}
	if len(attempts) == 0 {
		f.finish(t, queued, d, nil)
	} else {
		f.finish(t, queued, d, &attempts[len(attempts)-1])
	}
	return d
}

// finish records that an attempt at a queued delivery made it what it is now.
func (f *webhookFixture) finish(t *testing.T, queued, now partner.Delivery, attempt *partner.Attempt) {
	t.Helper()
	if attempt != nil {
		attempt.ID = id.New(id.Attempt, attempt.StartedAt)
	}
	get[webhookstore.Finished](t)(f.FinishAttempts(t.Context(), webhookstore.Finish{Node: fixtureNode, Now: noon, Outcomes: []webhookstore.Outcome{{
		Due: webhookstore.Due{Delivery: queued, DueAt: queued.NextAttemptAt}, Epoch: f.epoch(t), Status: now.Status, Attempts: now.Attempts,
		ResponseCode: now.ResponseCode, LastError: now.LastError, NextAttemptAt: now.NextAttemptAt, Attempt: attempt,
	}}}))
}

// epoch holds the shard of the webhook for fixtureNode and returns its epoch.
func (f *webhookFixture) epoch(t *testing.T) int64 {
	t.Helper()
	shards := get[webhookstore.Fleet](t)(f.Beat(t.Context(), fixtureNode, time.Minute)).Shards
	for _, shard := range shards {
		switch {
		case shard.ShardID != sendShard(f.webhook.ID, shards):
		case shard.Holder == fixtureNode:
			return shard.Epoch
		case get[bool](t)(f.TakeShard(t.Context(), fixtureNode, shard, time.Minute)):
			return shard.Epoch + 1
		}
	}
	t.Fatal("the shard of the webhook cannot be taken")
	return 0
}

// queuedAt counts the places of a delivery in the queue that are due then.
func (f *webhookFixture) queuedAt(t *testing.T, deliveryID string, due time.Time) (n int) {
	t.Helper()
	for _, one := range f.inQueue(t) {
		if one.ID == deliveryID && one.DueAt.Equal(due) {
			n++
		}
	}
	return n
}

// inQueue returns everything that is queued for the webhook.
func (f *webhookFixture) inQueue(t *testing.T) []webhookstore.Due {
	t.Helper()
	return get[[]webhookstore.Due](t)(f.DueDeliveries(t.Context(), webhookstore.Claim{
		Webhooks: []webhookstore.WebhookClaim{{WebhookID: f.webhook.ID, Limit: 1000}}, Now: noon.AddDate(1, 0, 0), IsTaken: notTaken,
	}))
}

// listed asks for the newest deliveries of the webhook.
func (f *webhookFixture) listed(limit int) partner.DeliveryQuery {
	return partner.DeliveryQuery{AppID: f.app.ID, WebhookID: f.webhook.ID, Limit: limit, Now: noon}
}

// again returns a redelivery request whose check follows the gates.
func (f *webhookFixture) again(d partner.Delivery, now time.Time) webhookstore.Redelivery {
	return webhookstore.Redelivery{
		AppID: f.app.ID, WebhookID: f.webhook.ID, DeliveryIDs: []string{d.ID}, From: partner.DeliveryFailed, Now: now,
		Check: func(d partner.Delivery, s webhookstore.Standing) error {
			scope := "invoices:read"
			if d.Status != partner.DeliveryFailed || s.IsDeleted || !s.IsEnabled || !s.IsAppUsable ||
				!s.Viewer.IsInstalled || !s.Viewer.AppScopes.Has(scope) || !s.Viewer.InstallationScopes.Has(scope) {
				return errGate
			}
			return nil
		},
	}
}

// test returns a test delivery of the webhook, and the function that fires it when the
// gates are open.
func (f *webhookFixture) test(now time.Time) (partner.Delivery, func(webhookstore.Target) (partner.Delivery, error)) {
	d := partner.Delivery{
		ID: id.New(id.Delivery, now), WebhookID: f.webhook.ID, AppID: f.app.ID, EventType: "invoice.paid", BusinessID: "test",
		Body: []byte(`{"eventId":null}`), Status: partner.DeliveryQueued, NextAttemptAt: now, CreatedAt: now,
	}
	return d, func(to webhookstore.Target) (partner.Delivery, error) {
		if !to.Standing.IsEnabled || !to.Standing.IsAppUsable {
			return partner.Delivery{}, errGate
		}
		return d, nil
	}
}

// closers are the ways to close a gate of a delivery. Each is an operation.
var closers = map[string]func(t *testing.T, f *webhookFixture) error{
	"suspend the app": func(t *testing.T, f *webhookFixture) error {
		return fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppSuspended)
	},
	"deactivate the app": func(t *testing.T, f *webhookFixture) error {
		return fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppDeactivated)
	},
	"switch the webhook off": func(t *testing.T, f *webhookFixture) error {
		_, err := f.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
			w.Enabled = false
			return w, nil
		})
		return err
	},
	"delete the webhook": func(t *testing.T, f *webhookFixture) error {
		return f.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon)
	},
	"uninstall": func(t *testing.T, f *webhookFixture) error { return f.end(t, partner.InstallationRemoved) },
	"narrow the app": func(t *testing.T, f *webhookFixture) error {
		_, err := f.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.Scopes = identity.MustScopes("events:read")
			return a, nil
		})
		return err
	},
	"narrow the installation": func(t *testing.T, f *webhookFixture) error {
		_, err := f.SetInstallationScopes(t.Context(), f.app.ID, f.business, identity.MustScopes("events:read"),
			func(partner.Installation, partner.Installation) []partner.Event { return nil })
		return err
	},
}

// isRefused reports whether an error is the one of a closed gate.
func isRefused(err error) bool {
	return errors.Is(err, errGate) || errors.Is(err, partner.ErrNotFound)
}
