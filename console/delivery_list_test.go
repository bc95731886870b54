package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// settle waits until all that is due has been attempted and recorded.
func (d *harness) settle() {
	d.Helper()
	d.must(d.Hooks.Settle(d.Context()))
	d.must(d.Hooks.AwaitResponses(d.Context(), time.Minute))
}

// exhaust has all attempts fail of deliveries that have been attempted once.
func (d *harness) exhaust() {
	d.Helper()
	for _, pause := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour} {
		d.must(d.clock.Advance(pause))
		d.settle()
	}
}

// deliver records an event and attempts its deliveries once. It returns the event's id.
func (d *harness) deliver(event, business string) string {
	d.Helper()
	recorded, err := d.Events.Record(d.Context(), events.Draft{Type: event, BusinessID: business, Data: map[string]any{"id": "inv_1"}})
	d.must(err)
	d.settle()
	d.must(d.clock.Advance(time.Second)) // by which deliveries are sorted
	return recorded[0].ID
}

// newWebhook is a webhook of a new app that is connected to businesses.
func (d *harness) newWebhook(address string, businesses ...string) (path, hook, appID string) {
	d.Helper()
	path, appID = d.newApp(confidentialApp)
	for _, business := range businesses {
		d.connect(appID, business)
	}
	made := d.ann("POST "+path+"/webhooks", `{"url": "`+address+`", "events": ["invoice.paid", "invoice.created"]}`).want(http.StatusCreated)
	return path, path + "/webhooks/" + made.text("id"), appID
}

// refusePaid is a receiver that has no use for one event.
func refusePaid(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Webhook-Event") == "invoice.paid" {
		refuse(w, r)
		return
	}
	accept(w, r)
}

// DLV-09: each filter by itself and with others; counts are those without the status.
func TestDeliveryFilters_DLV09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.run()
	_, hook, _ := d.newWebhook(newReceiver(t, refusePaid).URL, "biz_1", "biz_2")
	names := map[string]string{} // of the events by their ids
	start := d.clock.Now()
	failed := d.deliver("invoice.paid", "biz_1")
	d.exhaust()
	d.clock.Advance(time.Second)                       // deliveries have the millisecond that they were created in
	middle := d.clock.Now().Truncate(time.Millisecond) // ids and times that people see have milliseconds
	d.clock.Advance(time.Second)
	first := d.deliver("invoice.created", "biz_1")
	second := d.deliver("invoice.created", "biz_2")
	retrying := d.deliver("invoice.paid", "biz_2")
	names[failed], names[first], names[second], names[retrying] = "failed", "first", "second", "retrying"
	stamp := func(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339Nano)) }

	for query, want := range map[string]string{
		"":                                          "retrying second first failed",
		"status=failed":                             "failed",
		"status=retrying":                           "retrying",
		"status=delivered":                          "second first",
		"status=queued":                             "",
		"status=failed,retrying":                    "retrying failed",
		"event=invoice.created":                     "second first",
		"event=invoice.voided":                      "",
		"businessId=biz_1":                          "first failed",
		"businessId=biz_3":                          "",
		"eventId=" + second:                         "second",
		"since=" + stamp(middle):                    "retrying second first",
		"until=" + stamp(middle):                    "failed",
		"since=" + stamp(start.AddDate(0, 0, 2)):    "",
		"since=" + start.UTC().Format("2006-01-02"): "retrying second first failed",
		"since=" + stamp(start) + "&until=" + stamp(middle):     "failed",
		"event=invoice.created&businessId=biz_2":                "second",
		"status=retrying,delivered&businessId=biz_1":            "first",
		"status=failed&event=invoice.created":                   "",
		"eventId=" + failed + "&businessId=biz_1&status=failed": "failed",
	} {
		var got []string
		for _, one := range d.ann("GET " + hook + "/deliveries?" + query).data() {
			got = append(got, names[one["eventId"].(string)])
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	for query, want := range map[string]map[string]any{
		"":                 {"queued": 0.0, "retrying": 1.0, "delivered": 2.0, "failed": 1.0},
		"status=failed":    {"queued": 0.0, "retrying": 1.0, "delivered": 2.0, "failed": 1.0},
		"businessId=biz_1": {"queued": 0.0, "retrying": 0.0, "delivered": 1.0, "failed": 1.0},
	} {
		if diff := cmp.Diff(any(want), d.ann("GET " + hook + "/deliveries?" + query).want(http.StatusOK).body["counts"]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
	for query, problem := range map[string]string{
		"status=":                      "status must be queued, retrying, delivered or failed, or several of them separated by commas",
		"status=FAILED":                "status must be queued, retrying, delivered or failed, or several of them separated by commas",
		"status=failed,":               "status must be queued, retrying, delivered or failed, or several of them separated by commas",
		"status=failed&status=queued":  "status must be given once",
		"event=nope":                   `event "nope" is not in the catalog`,
		"businessId=":                  "businessId must not be empty",
		"businessId=%00":               "businessId must be UTF-8 without NUL",
		"eventId=nope":                 "eventId must be the id of an event",
		"since=yesterday":              "since must be a time in ISO 8601",
		"until=2026-13-01":             "until must be a time in ISO 8601",
		"after=nope":                   "after must be the nextCursor of a page",
		"limit=0":                      "limit must be a whole number from 1 to 100",
		"limit=101":                    "limit must be a whole number from 1 to 100",
		"business=biz_1":               `"business" is not a known parameter`,
		"status=failed&webhookId=whk_": `"webhookId" is not a known parameter`,
	} {
		d.ann("GET " + hook + "/deliveries?" + query).wantInvalid(problem)
	}
}

// DLV-09: the list goes page by page through all deliveries that the filter selects.
func TestDeliveryPaging_DLV09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	_, hook, _ := d.newWebhook("https://partner.example/")
	var want []string
	for i := range 7 {
		d.must(d.clock.Advance(time.Millisecond))
		body := `{"event": "invoice.paid"}`
		if i%2 == 1 {
			body = `{"event": "invoice.created"}`
		}
		want = append([]string{d.ann("POST "+hook+"/test", body).want(http.StatusAccepted).text("id")}, want...)
	}
	for _, test := range []struct {
		query string
		pages int
		want  []string
	}{
		{"limit=3", 3, want}, {"limit=7", 1, want}, {"limit=1", 7, want}, {"", 1, want},
		{"limit=2&event=invoice.paid", 2, []string{want[0], want[2], want[4], want[6]}},
		{"limit=2&event=invoice.created&status=queued", 2, []string{want[1], want[3], want[5]}},
		{"limit=2&status=failed", 1, nil},
	} {
		var got []string
		pages, after := 0, ""
		for more := true; more && pages < 10; pages++ {
			page := d.ann("GET " + hook + "/deliveries?" + test.query + after)
			for _, one := range page.data() {
				got = append(got, one["id"].(string))
			}
			next, hasNext := page.body["nextCursor"].(string)
			if more = page.body["hasMore"].(bool); more != hasNext {
				t.Errorf("%s: hasMore is %v, nextCursor %q", test.query, more, next)
			}
			after = "&after=" + next
		}
		if diff := cmp.Diff(test.want, got); diff != "" || pages != test.pages {
			t.Errorf("%s: %d pages, want %d (-want +got)\n%s", test.query, pages, test.pages, diff)
		}
	}
}

// RDL-04: the failed deliveries of a period are queued again; those that may not be are
// skipped.
func TestRedeliverMany_RDL04(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.run()
	endpoint := newReceiver(t, refuse)
	path, hook, appID := d.newWebhook(endpoint.URL, "biz_1", "biz_2")
	start := d.clock.Now()
	d.deliver("invoice.paid", "biz_1")
	d.deliver("invoice.created", "biz_1")
	d.deliver("invoice.created", "biz_2")
	middle := d.clock.Now().Truncate(time.Millisecond) // ids and times that people see have milliseconds
	d.deliver("invoice.created", "biz_1")
	d.exhaust()
	d.must(d.oauth.Uninstall(t.Context(), appID, "biz_2", "usr_owner"))
	d.settle()
	endpoint.responses(accept)
	body := func(since time.Time, more string) string {
		return fmt.Sprintf(`{"since": %q%s}`, since.Format(time.RFC3339Nano), more)
	}
	until := fmt.Sprintf(`, "until": %q`, middle.Format(time.RFC3339Nano))

	refused := func(code string) {
		t.Helper()
		d.ann("POST "+hook+"/redeliver", body(start, "")).wantCode(http.StatusBadRequest, code)
	}
	d.ann("PATCH "+hook, `{"enabled": false}`).want(http.StatusOK)
	refused("WEBHOOK_NOT_ACTIVE")
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppSuspended))
	refused("APP_NOT_ACTIVE")
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppActive))
	d.ann("PATCH "+hook, `{"enabled": true}`).want(http.StatusOK)

	for _, test := range []struct {
		body            string
		queued, skipped float64
	}{
		{body(d.clock.Now(), ""), 0, 0},
		{body(start, until+`, "event": "invoice.voided"`), 0, 0},
		{body(start, until+`, "event": "invoice.paid"`), 1, 0},
		{body(start, until), 1, 1},
		{body(start, ""), 1, 1},
		{body(start, ""), 0, 1},
	} {
		d.ann("POST "+hook+"/redeliver", test.body).want(http.StatusAccepted).wantBody(map[string]any{"queued": test.queued, "skipped": test.skipped})
		d.settle()
	}
	counts := d.ann("GET " + hook + "/deliveries?businessId=biz_1").want(http.StatusOK).body["counts"]
	if diff := cmp.Diff(any(map[string]any{"queued": 0.0, "retrying": 0.0, "delivered": 3.0, "failed": 0.0}), counts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	entries := 0
	for _, entry := range d.ann("GET " + path + "/audit").data() {
		if entry["action"] == "webhook.redelivered" {
			entries++
		}
	}
	if entries != 3 { // each call that queued any
		t.Errorf("the audit log has %d entries, want 3", entries)
	}

	d.ann("POST "+hook+"/redeliver", `{"since": "x", "until": "y", "event": "z"}`).wantInvalid(
		"since must be a time in ISO 8601", "until must be a time in ISO 8601", `event "z" is not in the catalog`)
	d.ann("POST "+hook+"/redeliver", `{}`).wantInvalid("since must be a time in ISO 8601")
	d.ann("POST "+path+"/webhooks/whk_absent/redeliver", body(start, "")).want(http.StatusNotFound)
	d.send(call{what: "POST " + hook + "/redeliver", body: body(start, ""), by: eve}).want(http.StatusNotFound)
}

// RDL-05: the next automatic attempt is made now and counts as that attempt.
func TestAttemptNow_RDL05(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.run()
	endpoint := newReceiver(t, refuse)
	path, hook, _ := d.newWebhook(endpoint.URL, "biz_1")
	d.deliver("invoice.paid", "biz_1")
	id := d.ann("GET " + hook + "/deliveries").data()[0]["id"].(string)
	one := hook + "/deliveries/" + id

	hastened := d.ann("POST " + one + "/attempt-now").want(http.StatusAccepted)
	hastened.wantTime("nextAttemptAt", 0)
	if hastened.body["id"] != id || hastened.body["status"] != "retrying" || hastened.body["attempts"] != 1.0 {
		t.Errorf("the response is %s", hastened.Body)
	}
	d.settle()
	again := d.ann("GET " + one).want(http.StatusOK)
	again.wantTime("nextAttemptAt", 5*time.Minute) // as after the second attempt
	if again.body["status"] != "retrying" || again.body["attempts"] != 2.0 || len(again.body["history"].([]any)) != 2 {
		t.Errorf("afterwards it is %s", again.Body)
	}
	d.ann("POST "+one+"/redeliver").wantCode(http.StatusBadRequest, "DELIVERY_NOT_FAILED") // RDL-02

	endpoint.responses(accept)
	d.ann("POST " + one + "/attempt-now").want(http.StatusAccepted)
	d.settle()
	if got := d.ann("GET " + one).want(http.StatusOK); got.body["status"] != "delivered" || got.body["attempts"] != 3.0 {
		t.Errorf("the third attempt: %s", got.Body)
	}
	d.ann("POST "+one+"/attempt-now").wantCode(http.StatusBadRequest, "DELIVERY_NOT_RETRYING")
	d.ann("POST " + hook + "/deliveries/dlv_absent/attempt-now").want(http.StatusNotFound)
	d.send(call{what: "POST " + one + "/attempt-now", by: eve}).want(http.StatusNotFound)
	if entry := d.ann("GET " + path + "/audit").data()[0]; entry["action"] != "delivery.attempted_now" {
		t.Errorf("the audit log begins with %v", entry)
	}
}

// DLV-11: a webhook that only failed is switched off. The API says when and why, the audit log
// has it, and the host's staff are told. Switching it on again starts over.
func TestDisabledWebhook_DLV11(t *testing.T) {
	t.Parallel()
	told := make(chan events.Notification, 100)
	queue, err := events.NewNotifications(events.NotificationsConfig{Notifier: events.NotifierFunc(func(_ context.Context, n events.Notification) error {
		told <- n
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- queue.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	var hooks *webhooks.Service
	d := newHarness(t, func(cfg *console.Config) {
		hooks, err = webhooks.New(webhooks.Config{
			Store: cfg.Store.(webhookstore.Store), Keyring: fixture.Keyring(1), CurrentVersion: "2026-09-01", Clock: cfg.Clock, Notifications: queue,
			Options: webhooks.Options{AllowLoopback: true, DisableAfter: 24 * time.Hour},
		})
		cfg.Webhooks = hooks
	})
	d.must(err)
	d.Hooks = hooks
	d.run()
	endpoint := newReceiver(t, refuse)
	path, hook, appID := d.newWebhook(endpoint.URL, "biz_1")
	health := func() map[string]any {
		t.Helper()
		return d.ann("GET " + path + "/webhooks").data()[0]["health"].(map[string]any)
	}
	began := d.clock.Now()
	for range 2 {
		d.deliver("invoice.paid", "biz_1")
		d.exhaust()
	}
	if got := health(); got["failing"] != true || got["failingSince"] == nil || got["disabledAt"] != nil {
		t.Errorf("after %v it is %v", d.clock.Now().Sub(began), got)
	}
	d.deliver("invoice.paid", "biz_1")
	d.exhaust()
	listed := d.ann("GET " + path + "/webhooks").data()[0]
	got := listed["health"].(map[string]any)
	at, err := time.Parse(time.RFC3339, fmt.Sprint(got["disabledAt"]))
	if listed["enabled"] != false || err != nil || at.Sub(began) < 24*time.Hour || got["disabledReason"] == nil || got["disabledReason"] == "" {
		t.Errorf("after a day the webhook is %v", listed)
	}
	d.ann("POST "+hook+"/test").wantCode(http.StatusBadRequest, "WEBHOOK_NOT_ACTIVE")
	if entry := d.ann("GET " + path + "/audit").data()[0]; entry["action"] != "webhook.disabled" {
		t.Errorf("the audit log begins with %v", entry)
	}
	for n := range told {
		if n.Kind == events.NotifyWebhookDisabled {
			if n.AppID != appID || !strings.HasSuffix(hook, n.WebhookID) || n.WebhookID == "" {
				t.Errorf("the notification is %+v", n)
			}
			break
		}
	}

	d.ann("PATCH "+hook, `{"enabled": true}`).want(http.StatusOK)
	if got := health(); got["disabledAt"] != nil || got["disabledReason"] != nil || got["failing"] != false {
		t.Errorf("switched on again it is %v", got)
	}
	endpoint.responses(accept)
	d.deliver("invoice.paid", "biz_1")
	if counts := d.ann("GET " + hook + "/deliveries").body["counts"].(map[string]any); counts["delivered"] != 1.0 {
		t.Errorf("switched on again it delivers %v", counts)
	}
}
