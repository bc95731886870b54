package webhooks_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	harnesses "github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const (
	hookURL      = "https://partner.example.com/hooks"
	hookBusiness = "biz_1"
	sampled      = "invoice.paid"
	node         = "node_1" // who ends attempts in the tests
)

// consoleHarness is what a developer's console works on: a service that sends nothing,
// on a real store, and an app that is installed in a business.
type consoleHarness struct {
	*harnesses.Harness
	service *webhooks.Service
	app     partner.App
	log     *logtest.Buffer
}

func newConsole(t testing.TB, changes ...func(*webhooks.Config)) *consoleHarness {
	t.Helper()
	return newConsoleOn(t, testdb.SQLite, changes...)
}

func newConsoleOn(t testing.TB, open testdb.Opener, changes ...func(*webhooks.Config)) *consoleHarness {
	t.Helper()
	k := &consoleHarness{Harness: harnesses.New(t, open), log: new(logtest.Buffer)}
	cfg := webhooks.Config{
		Store: k.Store, Keyring: fixture.Keyring(1), CurrentVersion: "2026-09-01", Clock: k.Clock, Logger: slog.New(slog.NewTextHandler(k.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	k.service, err = webhooks.New(cfg)
	k.Must(err)
	for shard := range webhookstore.DefaultShards {
		_, err := k.Store.TakeShard(t.Context(), node, webhookstore.Shard{ShardID: webhookstore.ShardID{Kind: webhookstore.SendShard, Number: shard}}, time.Hour)
		k.Must(err)
	}
	k.app = k.newApp()
	k.install(identity.MustScopes("invoices:read", "customers:read"))
	return k
}

func (k *consoleHarness) newApp() partner.App {
	k.Helper()
	return k.NewApp(identity.MustScopes("invoices:read", "customers:read"))
}

func (k *consoleHarness) install(granted identity.Scopes) {
	k.Helper()
	_, _, err := fixture.Approve(k.Context(), k.Store, fixture.Consent{App: k.app, BusinessID: hookBusiness, UserID: "usr_1", Scopes: granted, Now: k.Clock.Now()})
	k.Must(err)
}

// hook adds a webhook for these events.
func (k *consoleHarness) hook(names ...string) partner.Webhook {
	k.Helper()
	w, _, err := k.service.Create(k.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, Events: names})
	k.Must(err)
	return w
}

// update changes a webhook.
func (k *consoleHarness) update(w partner.Webhook, c webhooks.Change) partner.Webhook {
	k.Helper()
	changed, err := k.service.Update(k.Context(), w.AppID, w.ID, c)
	k.Must(err)
	return changed
}

func (k *consoleHarness) off(w partner.Webhook) { k.update(w, webhooks.Change{Enabled: new(bool)}) }

func (k *consoleHarness) setApp(change func(*partner.App)) {
	k.Helper()
	k.UpdateApp(k.app, change)
}

func (k *consoleHarness) setStatus(status partner.AppStatus) {
	k.Helper()
	k.Must(fixture.SetAppStatus(k.Context(), k.Store, k.app.ID, status))
}

func (k *consoleHarness) uninstall() {
	k.Helper()
	_, err := k.Store.EndInstallation(k.Context(), oauthstore.EndInstallation{
		AppID: k.app.ID, BusinessID: hookBusiness, Status: partner.InstallationRemoved, Now: k.Clock.Now(), RedactAt: k.Clock.Now(),
		Record: func(partner.Installation) []partner.Event { return nil },
	})
	k.Must(err)
}

func (k *consoleHarness) narrow(to ...string) {
	k.Helper()
	_, err := k.Store.SetInstallationScopes(k.Context(), k.app.ID, hookBusiness, identity.MustScopes(to...),
		func(partner.Installation, partner.Installation) []partner.Event { return nil })
	k.Must(err)
}

// queued is the delivery of a new event to a webhook.
func (k *consoleHarness) queued(w partner.Webhook, name string) partner.Delivery {
	k.Helper()
	now := k.Clock.Now()

	d := partner.Delivery{
		ID: id.New(id.Delivery, now), WebhookID: w.ID, AppID: w.AppID, EventID: id.New(id.Event, now), EventType: name, BusinessID: hookBusiness,
		Body: []byte(`{"id":"dlv"}`), Status: partner.DeliveryQueued, NextAttemptAt: now, CreatedAt: now,
	}
	_, err := k.Store.QueueTest(k.Context(), w.AppID, w.ID, func(webhookstore.Target) (partner.Delivery, error) { return d, nil })
	k.Must(err)
	return d
}

// end records the outcome of a queued delivery's last attempt.
func (k *consoleHarness) end(d partner.Delivery, status partner.DeliveryStatus) partner.Delivery {
	k.Helper()
	now := k.Clock.Now()
	o := webhookstore.Outcome{
		Due: webhookstore.Due{Delivery: d, DueAt: d.NextAttemptAt}, Epoch: 1, Status: status, Attempts: webhooks.MaxAttempts, ResponseCode: 500, LastError: "answered with status 500",
		Attempt: &partner.Attempt{ID: id.New(id.Attempt, now), Number: webhooks.MaxAttempts, StartedAt: now, ResponseCode: 500, Error: "answered with status 500", ResponseBody: []byte("oh")},
	}
	if status == partner.DeliveryRetrying {
		o.NextAttemptAt = now.Add(time.Minute)
	}
	_, err := k.Store.FinishAttempts(k.Context(), webhookstore.Finish{Node: node, Now: now, Outcomes: []webhookstore.Outcome{o}})
	k.Must(err)
	return k.delivery(d)
}

// failed is a delivery of a new event that has failed.
func (k *consoleHarness) failed(w partner.Webhook, name string) partner.Delivery {
	k.Helper()
	return k.end(k.queued(w, name), partner.DeliveryFailed)
}

// delivery reads one again.
func (k *consoleHarness) delivery(d partner.Delivery) partner.Delivery {
	k.Helper()
	found, _, err := k.service.Delivery(k.Context(), d.AppID, d.WebhookID, d.ID)
	k.Must(err)
	return found
}

// due are the ids of a webhook's deliveries that are to be sent by now.
func (k *consoleHarness) due(w partner.Webhook) []string {
	k.Helper()
	due, err := k.Store.DueDeliveries(k.Context(), webhookstore.Claim{
		Webhooks: []webhookstore.WebhookClaim{{WebhookID: w.ID, Limit: 1000}}, Now: k.Clock.Now(), IsTaken: func(string) bool { return false },
	})
	k.Must(err)
	ids := []string{}
	for _, d := range due {
		ids = append(ids, d.ID)
	}
	return ids
}

func (k *consoleHarness) wantDue(w partner.Webhook, want ...string) {
	k.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.due(w)); diff != "" {
		k.Errorf("queued (-want +got)\n%s", diff)
	}
}

// wantCode wants a 400 with the code.
func wantCode(t testing.TB, err error, code apierror.Code) {
	t.Helper()
	refused, ok := errors.AsType[*apierror.Error](err)
	if !ok || refused.Status() != 400 || refused.Code() != code {
		t.Errorf("got %v, want 400 %s", err, code)
	}
}

// wantInvalid wants a validation error with these messages.
func wantInvalid(t testing.TB, err error, want ...string) {
	t.Helper()
	invalid, ok := errors.AsType[*apierror.Error](err)
	if !ok || invalid.Status() != 400 || invalid.Code() != "" {
		t.Errorf("got %v, want a validation error", err)
		return
	}
	if diff := cmp.Diff(want, invalid.Messages()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func wantNotFound(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("%s: %v, want ErrNotFound", what, err)
	}
}

// members reads a JSON object.
func members(t testing.TB, text []byte) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return all
}
