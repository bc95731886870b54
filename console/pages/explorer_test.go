package pages_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/events"
)

// EVT-02: developers see the events that their app can read, each with its data and the
// deliveries that it caused.
func TestEventPages_EVT02(t *testing.T) {
	t.Parallel()
	var o *harness
	o = newHarness(t, func(cfg *pages.Config) {
		cfg.RecordEvent = func(ctx context.Context, event events.Draft) error {
			_, err := o.Events.Record(ctx, event)
			return err
		}
	})
	app := o.newApp()
	list := "/apps/" + app.ID + "/events"
	o.get(list).want(http.StatusOK).shows("No events yet", "No business has connected the app.")
	o.connect(app, "biz_1")
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	o.clock.Advance(time.Second)
	o.post(list+"/record", "event", "invoice.paid", "business", "biz_1").wantTo(list+"?done=event-recorded").shows("The event was recorded.", "invoice.paid", "biz_1")
	o.post(list+"/record", "event", "invoice.created", "business", "biz_1").wantTo(list + "?done=event-recorded")
	for _, bad := range [][2]string{{"customer.created", "biz_1"}, {"nope", "biz_1"}, {"", "biz_1"}} {
		o.post(list+"/record", "event", bad[0], "business", bad[1]).want(http.StatusBadRequest).alerts("event must be one of those that are offered")
	}
	o.post(list+"/record", "event", "invoice.paid", "business", "biz_2").want(http.StatusBadRequest).alerts("business must be one that has connected the app")

	o.run()
	o.settle()
	page := o.get(list + "?type=invoice.paid&businessId=biz_1").want(http.StatusOK).lacks("invoice.created</code>")
	deliveries := slices.DeleteFunc(page.values("href"), func(href string) bool { return !strings.Contains(href, "/deliveries/") })
	if len(deliveries) != 1 {
		t.Fatalf("links to deliveries: %v", deliveries)
	}
	o.get(list + "?type=nope").want(http.StatusBadRequest).alerts("Please correct what is marked below.").shows("must be an event of the catalog")

	found, err := o.console.Events(t.Context(), o.actor(ann), app.ID, console.EventFilter{Type: "invoice.paid"}, console.Page{})
	o.must(err)
	one := o.get(list+"/"+found.Items[0].ID).want(http.StatusOK).shows("invoice.paid", "biz_1", hook.URL, `"currency"`)
	if !slices.Contains(one.values("href"), deliveries[0]) {
		t.Errorf("the event does not lead to its delivery %s", deliveries[0])
	}
	o.get(list + "/evt_none").want(http.StatusNotFound)
	other := o.newApp()
	o.get("/apps/" + other.ID + "/events/" + found.Items[0].ID).want(http.StatusNotFound)
	o.refuses(app, []string{"/events", "/events/" + found.Items[0].ID}, []string{"/events/record"})
}

// Outside development nobody can record events, and an app without the scope reads none.
func TestEventsWithoutScope(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.get("/apps/"+app.ID+"/events").want(http.StatusOK).lacks("Record it", "does not have the scope")
	o.post("/apps/"+app.ID+"/events/record", "event", "invoice.paid", "business", "biz_1").want(http.StatusMethodNotAllowed)
	_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_app SET scopes = 'invoices:read'")
	o.must(err)
	o.connect(app, "biz_1")
	o.get("/apps/" + app.ID + "/events").want(http.StatusOK).shows("does not have the scope events:read")
}
