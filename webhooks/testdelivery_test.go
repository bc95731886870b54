package webhooks_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/fixture"
	harnesses "github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func (k *consoleHarness) sendTest(w partner.Webhook) partner.Delivery {
	k.Helper()
	d, err := k.service.SendTest(k.Context(), w.AppID, w.ID, "")
	k.Must(err)
	return d
}

// TST-01, WH-02: what a test says, member by member, and that it is queued and
// listed like any other.
func TestSendTest(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook("invoice.paid", "customer.created")
	d := k.sendTest(w)
	want := partner.Delivery{
		ID: d.ID, WebhookID: w.ID, AppID: k.app.ID, EventType: "invoice.paid", BusinessID: "test", Body: d.Body,
		Status: partner.DeliveryQueued, NextAttemptAt: harnesses.Start, CreatedAt: harnesses.Start,
	}
	if diff := cmp.Diff(want, d) + cmp.Diff(want, k.delivery(d)); diff != "" || !d.IsTest() {
		t.Errorf("(-want +got)\n%s", diff)
	}
	definition, _ := events.DefaultCatalog().Lookup("invoice.paid")
	data := members(t, definition.Sample)
	data["test"] = true
	body := map[string]any{
		"id": d.ID, "eventId": nil, "type": "invoice.paid", "apiVersion": "2026-09-01", "businessId": "test",
		"created": float64(harnesses.Start.Unix()), "data": data,
	}
	if diff := cmp.Diff(body, members(t, d.Body)); diff != "" {
		t.Errorf("body (-want +got)\n%s", diff)
	}
	if order := regexp.MustCompile(`^\{"id":.*,"eventId":null,"type":.*,"apiVersion":.*,"businessId":"test","created":.*,"data":\{`); !order.Match(d.Body) {
		t.Errorf("members in another order: %s", d.Body)
	}
	k.wantDue(w, d.ID)
	page, err := k.service.Deliveries(t.Context(), partner.DeliveryQuery{AppID: k.app.ID, WebhookID: w.ID})
	want.Body = nil
	if diff := cmp.Diff([]partner.Delivery{want}, page.Deliveries); err != nil || diff != "" {
		t.Errorf("%v, (-want +got)\n%s", err, diff)
	}
	if again := k.sendTest(w); again.ID == d.ID {
		t.Error("a second test has the id of the first")
	}
}

// TST-01: the first event that was chosen, invoice.created when none was; and what
// stands in for them in a catalog that lacks them.
func TestSendTestType(t *testing.T) {
	t.Parallel()
	business := func(name string) events.Definition {
		return events.Definition{Name: name, Audience: events.AudienceBusiness, Scope: "shop:read", Description: "x", Sample: json.RawMessage(`{"a":1}`)}
	}
	notice := events.Definition{Name: "app.greeted", Audience: events.AudienceApp, Description: "x", Sample: json.RawMessage(`{"a":1}`)}
	for name, test := range map[string]struct {
		catalog []events.Definition // nil: the default
		chosen  []string
		want    string
	}{
		"the first":                   {nil, []string{"customer.created", "invoice.paid"}, "customer.created"},
		"an app event":                {nil, []string{"app.installed"}, "app.installed"},
		"none":                        {nil, nil, "invoice.created"},
		"none, another catalog":       {[]events.Definition{notice, business("order.placed"), business("order.sent")}, nil, "order.placed"},
		"none, only app events there": {[]events.Definition{notice}, nil, "app.greeted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newConsole(t, func(c *webhooks.Config) {
				if test.catalog == nil {
					return
				}
				catalog, err := events.NewCatalog(test.catalog...)
				if err != nil {
					t.Fatal(err)
				}
				c.Catalog = catalog
			})
			d := k.sendTest(k.hook(test.chosen...))
			body := members(t, d.Body)
			if d.EventType != test.want || body["type"] != test.want || body["data"].(map[string]any)["test"] != true {
				t.Errorf("sent %s: %s", d.EventType, d.Body)
			}
		})
	}
}

// TST-01: chosen events that a host has dropped from its catalog are passed over.
func TestSendTestOfADroppedEvent(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook("invoice.paid", "customer.created")
	created, _ := events.DefaultCatalog().Lookup("customer.created")
	catalog, err := events.NewCatalog(created)
	k.Must(err)
	s, err := webhooks.New(webhooks.Config{Store: k.Store, Keyring: fixture.Keyring(1), Catalog: catalog, Clock: k.Clock})
	k.Must(err)
	d, err := s.SendTest(t.Context(), k.app.ID, w.ID, "")
	if err != nil || d.EventType != "customer.created" {
		t.Errorf("sent %s, %v", d.EventType, err)
	}
}

// TST-01, WH-02: in the shape of the version that the app has pinned, marked as a test even
// if the shape omits members.
func TestSendTestVersion(t *testing.T) {
	t.Parallel()
	catalog, err := events.NewCatalog(events.Definition{
		Name: "order.placed", Audience: events.AudienceBusiness, Scope: "shop:read", Description: "x", Sample: json.RawMessage(`{"total":{"amount":1,"currency":"EUR"},"text":"<&>"}`),
		Older: []events.Shape{{Before: "2026-09-01", Down: func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{"total":1}`), nil }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k := newConsole(t, func(c *webhooks.Config) { c.Catalog = catalog })
	w := k.hook("order.placed")
	for _, test := range []struct{ pinned, version, data string }{
		{"", "2026-09-01", `{"test":true,"text":"<&>","total":{"amount":1,"currency":"EUR"}}`},
		{"2026-09-01", "2026-09-01", `{"test":true,"text":"<&>","total":{"amount":1,"currency":"EUR"}}`},
		{"2026-01-15", "2026-01-15", `{"test":true,"total":1}`},
	} {
		k.setApp(func(a *partner.App) { a.PinnedVersion = test.pinned })
		var body struct {
			APIVersion string          `json:"apiVersion"`
			Data       json.RawMessage `json:"data"`
		}
		k.Must(json.Unmarshal(k.sendTest(w).Body, &body))
		if body.APIVersion != test.version || string(body.Data) != test.data {
			t.Errorf("pinned %q: %s %s", test.pinned, body.APIVersion, body.Data)
		}
	}
}

// TST-02: webhook and app are looked at, and nothing else, when a test is fired and
// when it is sent again.
func TestSendTestGates(t *testing.T) {
	t.Parallel()
	for _, c := range closings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newConsole(t)
			w := k.hook(sampled)
			failed := k.end(k.sendTest(w), partner.DeliveryFailed)
			c.shut(k, w)
			k.Clock.Advance(time.Second)
			fired, err := k.service.SendTest(t.Context(), k.app.ID, w.ID, "")
			_, again := k.redeliver(failed)
			if !c.isForTests {
				k.Must(err)
				k.Must(again)
				k.wantDue(w, failed.ID, fired.ID)
				return
			}
			wantCode(t, err, c.code)
			wantCode(t, again, c.code)
			k.wantDue(w)
			if page, err := k.service.Deliveries(t.Context(), partner.DeliveryQuery{AppID: k.app.ID, WebhookID: w.ID}); err != nil || len(page.Deliveries) != 1 {
				t.Errorf("%d deliveries, %v", len(page.Deliveries), err)
			}
		})
	}
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		k := newConsole(t)
		w := k.hook(sampled)
		k.off(w)
		k.setStatus(partner.AppSuspended)
		_, err := k.service.SendTest(t.Context(), k.app.ID, w.ID, "")
		wantCode(t, err, codes.AppNotActive.Code)
	})
}
