package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

// webhookCases are the acts on webhooks, one at a time.
var webhookCases = []testCase[*Env]{
	{"Webhooks come back as they were", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		second := f.another(noon.Add(time.Second))
		second.ID, second.Events, second.Enabled = "a-fixture-"+f.app.ID, []string{}, false // its id sorts first
		second.Previous, second.PreviousExpiresAt = []byte{1}, noon.Add(time.Hour)
		must(t, e.CreateWebhook(t.Context(), second, maxWebhooks))
		newWebhook(t, e)
		for _, want := range []webhooks.Webhook{f.webhook, second} {
			got, err := e.Webhook(t.Context(), f.app.ID, want.ID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		}
		if diff := cmp.Diff([]webhooks.Webhook{f.webhook, second}, get[[]webhooks.Webhook](t)(e.Webhooks(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if none := get[[]webhooks.Webhook](t)(e.Webhooks(t.Context(), "app_absent")); len(none) != 0 {
			t.Errorf("an absent app has %v", none)
		}
	}},
	// WH-01: several, but not any number; a deleted one makes room.
	{"An app has only so many webhooks", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		add := func(w webhooks.Webhook) error { return e.CreateWebhook(t.Context(), w, maxWebhooks) }
		for range maxWebhooks - 1 {
			must(t, add(f.another(noon)))
		}
		if err := add(f.another(noon)); !errors.Is(err, webhooks.ErrTooMany) {
			t.Errorf("one too many: %v", err)
		}
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
		if err := add(f.webhook); !errors.Is(err, webhooks.ErrTaken) {
			t.Errorf("the id of a deleted one: %v", err)
		}
		must(t, add(f.another(noon)))
		absent := f.another(noon)
		absent.AppID = "app_absent"
		if err := add(absent); !errors.Is(err, webhooks.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
	{"All webhooks, a few at a time", func(t *testing.T, e *Env) {
		f, g := newWebhook(t, e), newWebhook(t, e)
		deleted := f.another(noon)
		must(t, e.CreateWebhook(t.Context(), deleted, maxWebhooks))
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, deleted.ID, noon))
		var all []webhooks.Webhook
		for after := ""; ; after = all[len(all)-1].ID {
			one := get[[]webhooks.Webhook](t)(e.AllWebhooks(t.Context(), after, 1))
			if len(one) == 0 {
				break
			}
			all = append(all, one...)
		}
		want := []webhooks.Webhook{f.webhook, g.webhook}
		slices.SortFunc(want, func(a, b webhooks.Webhook) int { return strings.Compare(a.ID, b.ID) })
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"A webhook changes in one step", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		want := f.webhook
		want.URL, want.Events, want.Enabled, want.UpdatedAt = "https://app.example/new", []string{}, false, noon.Add(time.Minute)
		want.Secrets = webhooks.Secrets{Secret: []byte("new"), Previous: f.webhook.Secret, PreviousExpiresAt: noon.Add(webhooks.SecretOverlap)}
		changed := get[webhooks.Webhook](t)(e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(before webhooks.Webhook) (webhooks.Webhook, error) {
			if diff := cmp.Diff(f.webhook, before); diff != "" {
				t.Errorf("before (-want +got)\n%s", diff)
			}
			next := want
			next.ID, next.AppID, next.CreatedAt = "whk_other", "app_other", noon.Add(time.Hour)
			return next, nil
		}))
		if _, err := e.UpdateWebhook(t.Context(), f.app.ID, f.webhook.ID, func(w webhooks.Webhook) (webhooks.Webhook, error) { w.URL = "never"; return w, errGate }); !errors.Is(err, errGate) {
			t.Errorf("a change that fails: %v", err)
		}
		stored := get[webhooks.Webhook](t)(e.Webhook(t.Context(), f.app.ID, f.webhook.ID))
		for _, got := range []webhooks.Webhook{changed, stored} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	}},
	// CON-01, RDL-03: what is another app's, or deleted, is not found by any act.
	{"Foreign and deleted webhooks are not found", func(t *testing.T, e *Env) {
		f, other := newWebhook(t, e), newWebhook(t, e)
		d := f.failed(t, noon)
		_, fire := f.test(noon)
		acts := func(appID, webhookID string) map[string]error {
			_, read := e.Webhook(t.Context(), appID, webhookID)
			_, updated := e.UpdateWebhook(t.Context(), appID, webhookID, func(w webhooks.Webhook) (webhooks.Webhook, error) { return w, nil })
			_, listed := e.Deliveries(t.Context(), appID, webhookID, 10)
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
				if !errors.Is(err, webhooks.ErrNotFound) {
					t.Errorf("%s, %s: %v", whose, name, err)
				}
			}
		}
		notFound("another app's", other.app.ID, f.webhook.ID)
		notFound("an absent one", f.app.ID, "whk_absent")
		notFound("of an absent app", "app_absent", f.webhook.ID)
		if _, _, err := e.Delivery(t.Context(), other.app.ID, other.webhook.ID, d.ID); !errors.Is(err, webhooks.ErrNotFound) {
			t.Errorf("a delivery of another webhook: %v", err)
		}
		foreign := f.again(d, noon)
		foreign.AppID, foreign.WebhookID = other.app.ID, other.webhook.ID
		if _, err := e.Redeliver(t.Context(), foreign); !errors.Is(err, webhooks.ErrNotFound) {
			t.Errorf("redelivery of another webhook's: %v", err)
		}
		absent := f.again(d, noon)
		absent.DeliveryID = "dlv_absent"
		if _, err := e.Redeliver(t.Context(), absent); !errors.Is(err, webhooks.ErrNotFound) {
			t.Errorf("redelivery of an absent one: %v", err)
		}
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
		notFound("a deleted one", f.app.ID, f.webhook.ID)
		if left := get[[]webhooks.Webhook](t)(e.Webhooks(t.Context(), f.app.ID)); len(left) != 0 {
			t.Errorf("listed %v", left)
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery WHERE id = $1", d.ID); n != 1 {
			t.Error("the delivery went with its webhook") // it stays for its 30 days
		}
	}},
	{"A webhook goes with an app that is purged", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		f.exec(t, "DELETE FROM partnerkit_code WHERE app_id = $1", f.app.ID)
		f.exec(t, "DELETE FROM partnerkit_grant WHERE user_id = $1", f.user)
		f.exec(t, "DELETE FROM partnerkit_installation WHERE app_id = $1", f.app.ID)
		f.exec(t, "UPDATE partnerkit_app SET origin = $2 WHERE id = $1", f.app.ID, string(oauthserver.OriginRegistered))
		get[int](t)(e.Purge(t.Context(), noon.Add(31*24*time.Hour), 100))
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_webhook WHERE id = $1", f.webhook.ID); n != 0 {
			t.Errorf("%d webhooks of an app that is gone", n)
		}
	}},
}
