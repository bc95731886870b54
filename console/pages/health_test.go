package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
)

// DLV-11: since when a webhook fails, how much of it and why stands on its page, in the list
// and on the overview.
func TestHealth_DLV11(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, r.URL)
	all := "/apps/" + app.ID + "/webhooks"
	own := all + "/" + hook.ID
	o.get(own).shows("Working Event of the test", "Last 24 hours no attempts").lacks("failing since")
	o.get("/apps/"+app.ID).lacks("Failing", "Degraded")

	try := func(status int) {
		t.Helper()
		r.responseWith(status)
		_, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
		o.must(err)
		o.settle()
	}
	try(http.StatusOK)
	o.get(own).shows("Working Event of the test", "Last 24 hours 1 attempt, 0% failed")
	o.clock.Advance(time.Second)
	try(http.StatusBadGateway)
	o.get(own).shows("Degraded Event of the test", "This webhook is degraded: in the last hour some attempts failed and others succeeded. 50% of its attempts in the last 24 hours failed.",
		"Last error: Your server answered 502 Bad Gateway", "Last 24 hours 2 attempts, 50% failed").lacks("failing since")
	o.get(all).shows("Degraded 50% of attempts failed in 24 h")
	o.get("/apps/" + app.ID).shows("Degraded 1 of 1 webhooks is degraded").lacks("Failing")

	r.responseWith(http.StatusInternalServerError)
	o.clock.Advance(time.Hour)
	o.settle() // the retry
	o.clock.Advance(50 * time.Second)
	o.get(own).shows("Failing Event of the test", "failing since 1 Sep 2026, 12:00:01 UTC (1 h ago). 67% of its attempts in the last 24 hours failed.", "Last error: Your server answered 500 Internal Server Error").
		lacks("degraded")
	o.get(all).shows("Failing since 1 h ago")
	o.get("/apps/" + app.ID).shows("Failing 1 of 1 webhooks is failing").lacks("Degraded")

	// A webhook that was switched off says when and why, and promises nothing.
	_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_webhook SET enabled = $1, disabled_at = $2, disabled_reason = 'no delivery has arrived for 3 days'", false, o.clock.Now().UnixMilli())
	o.must(err)
	o.clock.Advance(2 * time.Hour)
	o.settle() // the retries are given up unsent, which is not why the webhook failed
	o.get(own).shows("Disabled for failing", "switched off automatically 2 h ago (1 Sep 2026, 13:00:51 UTC): no delivery has arrived for 3 days.", "Last error: Your server answered 500 Internal Server Error", "Nothing is sent or retried until").
		lacks("next attempt", "failing since")
	o.get(all).shows("Disabled for failing 2 h ago")
	o.get("/apps/" + app.ID).shows("1 of 1 webhooks is failing")

	// Switched on it begins with a clean record; switched off by hand it is just off.
	o.post(own, "url", r.URL, "enabled", "on").wantTo(own+"?done=webhook-updated").lacks("switched off automatically", "failing since")
	o.post(own, "url", r.URL).wantTo(own+"?done=webhook-updated").shows("Off", "This webhook is off: nothing is sent or retried.").lacks("Disabled for failing")
	o.get("/apps/" + app.ID).lacks("disabled for failing")
}

// TST-03: the developer chooses the event of a test; the first chosen one comes first.
func TestChosenTest_TST03(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	app := o.newApp()
	hook := o.newWebhook(app, r.URL, "invoice.paid", "invoice.created")
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	page := o.get(own)
	_, options, _ := strings.Cut(page.Body, `<select id="test-event"`)
	options, _, _ = strings.Cut(options, "</select>")
	if first, second := strings.Index(options, "invoice.paid"), strings.Index(options, "invoice.created"); first < 0 || second < first {
		t.Errorf("to choose from: %s", options)
	}
	if n, want := strings.Count(options, "<option>"), len(events.DefaultCatalog().All()); n != want {
		t.Errorf("%d events to choose from, want %d", n, want)
	}
	for chosen, want := range map[string]string{"customer.created": "customer.created", "": "invoice.paid"} {
		o.clock.Advance(time.Second)
		o.post(own+"/test", "event", chosen).want(http.StatusSeeOther)
		listed, err := o.Hooks.Deliveries(t.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID})
		o.must(err)
		if listed.Deliveries[0].EventType != want || !listed.Deliveries[0].IsTest() {
			t.Errorf("chosen %q: %+v", chosen, listed.Deliveries[0])
		}
	}
	o.post(own+"/test", "event", "invoice.eaten").want(http.StatusBadRequest).alerts(`event "invoice.eaten" is not in the catalog`)
}

// WH-01, CAT-02: a whole group of events is chosen at once; events that the app lacks the
// scope of are named when they are saved, and afterwards.
func TestChooseEvents_WH01(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(func(n *console.NewApp) { n.Scopes = []string{"invoices:read"} })
	all := "/apps/" + app.ID + "/webhooks"
	o.get(all+"/new").shows("invoice.*: all ", "Sample of invoice.paid", `"number": "2026-0042"`)
	o.post(all+"/new", "url", "https://partner.example/hook", "all", "Customer", "events", "customer.created", "events", "invoice.paid").want(http.StatusOK).
		shows("Some of the chosen events do not arrive", "customer.deleted needs customers:read").lacks("<code>invoice.paid</code> needs")
	hook := o.webhooks(app)[0]
	var want []string
	for _, definition := range events.DefaultCatalog().All() {
		if strings.HasPrefix(definition.Name, "customer.") && definition.Audience == events.AudienceBusiness && definition.Name != "customer.created" {
			want = append(want, definition.Name)
		}
	}
	if want = append([]string{"customer.created", "invoice.paid"}, want...); !slices.Equal(hook.Events, want) || len(want) < 4 {
		t.Errorf("chosen are %q, want %q", hook.Events, want)
	}
	own := all + "/" + hook.ID
	o.get(own).shows("Some of the chosen events do not arrive")
	o.post(own, "url", "https://partner.example/hook", "all", "Invoice", "enabled", "on").wantTo(own + "?done=webhook-updated").lacks("do not arrive")
	if now := o.webhooks(app)[0]; !slices.Contains(now.Events, "invoice.voided") || slices.Contains(now.Events, "customer.created") {
		t.Errorf("chosen are %q", now.Events)
	}
	// What was ticked stays when something else is wrong.
	if checked := o.post(own, "url", "nope", "all", "Payment").want(http.StatusBadRequest).checked(); !slices.Contains(checked, "payment.received") {
		t.Errorf("checked are %q", checked)
	}
}
