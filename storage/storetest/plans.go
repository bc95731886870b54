package storetest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

var planCases = []testCase[*Env]{
	// DLV-04: what planning needs to know comes with the events.
	{"Unplanned events come in order with their subscribers", func(t *testing.T, e *Env) {
		f, other := newSender(t, e), newSender(t, e)
		all := f.recorded(t, 3)
		own := events.Event{ID: id.New(id.Event, noon.Add(time.Hour)), Type: events.AppInstalled, BusinessID: f.business, AppID: other.app.ID, Data: []byte(`{}`), CreatedAt: noon}
		must(t, e.RecordEvents(t.Context(), own))
		off := e.addWebhook(t, f.app.ID)
		_, err := e.UpdateWebhook(t.Context(), f.app.ID, off.ID, func(w webhooks.Webhook) (webhooks.Webhook, error) {
			w.Enabled = false
			return w, nil
		})
		must(t, err)
		gone := e.addWebhook(t, f.app.ID)
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, gone.ID, noon))

		got := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), "", 100))
		if diff := cmp.Diff(append(all, own), got.Events); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
		want := map[string][]webhooks.Subscriber{f.business: {{
			WebhookID: f.webhook.ID, Events: f.webhook.Events, CreatedAt: noon, AppID: f.app.ID, AppScopes: allScopes,
			InstalledAt: noon, InstallationScopes: allScopes,
		}}}
		if diff := cmp.Diff(want, got.ByBusiness); diff != "" {
			t.Errorf("by business (-want +got)\n%s", diff)
		}
		want = map[string][]webhooks.Subscriber{other.app.ID: {{
			WebhookID: other.webhook.ID, Events: other.webhook.Events, CreatedAt: noon, AppID: other.app.ID, AppScopes: allScopes,
		}}}
		if diff := cmp.Diff(want, got.ByApp); diff != "" {
			t.Errorf("by app (-want +got)\n%s", diff)
		}

		rest := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), all[0].ID, 1))
		if len(rest.Events) != 1 || rest.Events[0].ID != all[1].ID {
			t.Errorf("after the first, one: %v", rest.Events)
		}
		must(t, e.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppDeactivated))
		if got := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), "", 100)); len(got.ByBusiness) != 0 {
			t.Errorf("a deactivated app subscribes: %v", got.ByBusiness)
		}
	}},
	// EVT-05: numbers follow the ids within a round, and a number is for good.
	{"Planning numbers events", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		all := f.recorded(t, 2)
		must(t, e.NumberEvents(t.Context(), f.business))
		all = append(all, f.recorded(t, 2)...)
		unplanned := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), "", 100)).Events
		if _, err := e.SavePlan(t.Context(), webhooks.Plan{Events: unplanned}); err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for _, want := range all {
			got := get[events.Event](t)(e.Event(t.Context(), f.business, want.ID))
			if got.Number <= last {
				t.Errorf("%s has number %d after %d", got.ID, got.Number, last)
			}
			last = got.Number
		}
		if left := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), "", 100)).Events; len(left) != 0 {
			t.Errorf("still unplanned: %v", left)
		}
	}},
	// DLV-04: none twice, whoever plans.
	{"Of several planners one queues", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newSender(t, e)
			p := webhooks.Plan{Events: f.recorded(t, 5)}
			var queued, failed atomic.Int64
			Race(8, func(int) {
				mine := p
				for _, event := range p.Events {
					mine.Deliveries = append(mine.Deliveries, f.delivery(event.ID, noon))
				}
				n, err := e.SavePlan(t.Context(), mine)
				if err != nil {
					failed.Add(1)
					t.Error(err)
				}
				queued.Add(int64(n))
			})
			if got := len(f.due(t, noon)); queued.Load() != 5 || got != 5 {
				t.Fatalf("%d queued, %d due, want 5", queued.Load(), got)
			}
		}
	}},
	{"A plan is saved wholly or not at all", func(t *testing.T, e *Env) {
		var f *senderFixture
		var p webhooks.Plan
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newSender(t, e)
				p = webhooks.Plan{Events: f.recorded(t, 2)}
				for _, event := range p.Events {
					p.Deliveries = append(p.Deliveries, f.delivery(event.ID, noon))
				}
			},
			Act: func(ctx context.Context) error {
				_, err := e.SavePlan(ctx, p)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				unplanned := get[webhooks.Unplanned](t)(e.UnplannedEvents(t.Context(), "", 1000)).Events
				left := slices.ContainsFunc(unplanned, func(e events.Event) bool { return e.BusinessID == f.business })
				if due := len(f.due(t, noon)); left == happened || happened != (due == 2) {
					t.Errorf("happened %v: unplanned %v, %d due", happened, left, due)
				}
			},
		})
	}},
}
