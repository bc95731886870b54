package pages_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
)

// SBX-01: in development the page of a webhook records its events in connected businesses.
func TestRecordEvent_SBX01(t *testing.T) {
	t.Parallel()
	var o *harness
	o = newHarness(t, func(cfg *pages.Config) {
		cfg.RecordEvent = func(ctx context.Context, event events.Draft) error {
			_, err := o.Events.Record(ctx, event)
			return err
		}
	})
	app := o.newApp()
	ctx := t.Context()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	hook := o.newWebhook(app, receiver.URL, "invoice.paid", events.AppInstalled)
	path := "/apps/" + app.ID + "/webhooks/" + hook.ID
	o.get(path).want(http.StatusOK).shows("Record an event", "No business has connected the app.").lacks(path + "/record")
	o.connect(app, "biz_1")
	o.connect(app, "biz_gone")
	o.must(o.oauth.RevokeAccess(ctx, app.ID, "biz_gone", "usr_owner"))
	o.get(path).want(http.StatusOK).shows("Record it", "biz_1").lacks("biz_gone", "No business has connected")

	o.run()
	for _, event := range []string{"invoice.paid", events.AppInstalled} {
		o.post(path+"/record", "event", event, "business", "biz_1").wantTo(path + "?done=event-recorded").shows("The event was recorded.")
		o.settle()
		page, err := o.Hooks.Deliveries(ctx, partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID, EventType: event, Limit: 10})
		o.must(err)
		if len(page.Deliveries) != 1 || page.Deliveries[0].BusinessID != "biz_1" || page.Deliveries[0].EventID == "" {
			t.Errorf("%s: the deliveries are %+v", event, page.Deliveries)
		}
	}

	for _, event := range []string{"", "nope", "invoice.created"} {
		o.post(path+"/record", "event", event, "business", "biz_1").want(http.StatusBadRequest).alerts("event must be one of those that are offered")
	}
	for _, business := range []string{"", "biz_gone", "biz_2"} {
		o.post(path+"/record", "event", "invoice.paid", "business", business).want(http.StatusBadRequest).alerts("business must be one that has connected the app")
	}
	o.refuses(app, nil, []string{"/webhooks/" + hook.ID + "/record"})

	silent := o.newWebhook(app, "https://partner.example/silent")
	o.get("/apps/" + app.ID + "/webhooks/" + silent.ID).want(http.StatusOK).shows("Choose events for this webhook, then record them here.").lacks("/record")
}

// Outside development nobody can record events on a page.
func TestNoRecordEvent(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	o.connect(app, "biz_1")
	path := "/apps/" + app.ID + "/webhooks/" + hook.ID
	o.get(path).want(http.StatusOK).lacks("Record an event", "/record")
	o.post(path+"/record", "event", "invoice.paid", "business", "biz_1").want(http.StatusNotFound)
}

// An event that cannot be recorded is an internal error, whose page does not reveal the cause.
func TestRecordEventThatFails(t *testing.T) {
	t.Parallel()
	o := newHarness(t, func(cfg *pages.Config) {
		cfg.RecordEvent = func(context.Context, events.Draft) error { return errors.New("dsn=hidden") }
	})
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	o.connect(app, "biz_1")
	o.post("/apps/"+app.ID+"/webhooks/"+hook.ID+"/record", "event", "invoice.paid", "business", "biz_1").want(http.StatusInternalServerError).lacks("dsn=hidden")
}
