package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-09: the page goes through all deliveries, newest first, and the page of the webhook
// shows the newest few.
func TestDeliveries_DLV09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook")
	var want []string
	for range webhooks.MaxListed + 5 {
		o.clock.Advance(time.Second)
		d, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
		o.must(err)
		want = append(want, d.ID)
	}
	slices.Reverse(want)
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	o.get(own).links(own + "/deliveries")
	if few := o.get(own).listed(); !slices.Equal(few, want[:10]) {
		t.Errorf("the page of the webhook lists %q", few)
	}
	var got []string
	path, pages := own+"/deliveries", 0
	for ; path != "" && pages < 10; pages++ {
		page := o.get(path).want(http.StatusOK).shows("Queued 105", "invoice.created", "test", "invoice inv_06g5plpa01o015r0g79mgnmm4c")
		got = append(got, page.listed()...)
		// The script asks for this very page again.
		if live := page.values("data-live"); !slices.Equal(live, []string{o.prefix + path}) {
			t.Errorf("%s: kept fresh from %q", path, live)
		}
		if pages > 0 {
			page.links(own + "/deliveries")
		}
		path = ""
		for _, link := range page.values("href") {
			if strings.Contains(link, "?after=") {
				path = strings.TrimPrefix(link, o.prefix)
			}
		}
	}
	if !slices.Equal(got, want) || pages != 5 {
		t.Errorf("%d pages have %d deliveries, want 5 with all %d, newest first", pages, len(got), len(want))
	}
	if first := o.get(own + "/deliveries?after=nonsense").listed(); !slices.Equal(first, want[:25]) {
		t.Errorf("after something else: %q", first)
	}
	o.get("/apps/" + app.ID + "/webhooks/nope/deliveries").want(http.StatusNotFound)
}

// links checks that a page leads to a path below the prefix.
func (a response) links(path string) {
	a.o.Helper()
	if !slices.Contains(a.values("href"), a.o.prefix+path) {
		a.o.Errorf("%s: no link to %s", a.Request, path)
	}
}

// listed are the deliveries that a page leads to.
func (a response) listed() (ids []string) {
	for _, found := range regexp.MustCompile(`<a id="(dlv_\w+)"`).FindAllStringSubmatch(a.Body, -1) {
		ids = append(ids, found[1])
	}
	return ids
}

// mixed are deliveries of a webhook, one a minute: two of invoices of biz_1 and two of
// customers of biz_2 that failed, and one test that is queued.
type mixed struct {
	app       partner.App
	own       string // the path of the webhook
	invoices  []string
	customers []string
	tests     []string
	eventID   string // of the first one
}

func (o *harness) mixed() mixed {
	o.Helper()
	m := mixed{app: o.newApp()}
	hook := o.newWebhook(m.app, "https://partner.example/hook")
	m.own = "/apps/" + m.app.ID + "/webhooks/" + hook.ID
	m.eventID = "evt_06g5plpa01o015r0g79mgnmm4c"
	for i := range 5 {
		d, err := o.Hooks.SendTest(o.Context(), m.app.ID, hook.ID, "")
		o.must(err)
		var change string
		switch i {
		case 0, 1:
			m.invoices = append(m.invoices, d.ID)
			change = "status = 'failed', event_type = 'invoice.paid', business_id = 'biz_1', last_error = 'answered with status 500'"
		case 2, 3:
			m.customers = append(m.customers, d.ID)
			change = "status = 'failed', event_type = 'customer.created', business_id = 'biz_2'"
		default:
			m.tests = append(m.tests, d.ID)
		}
		if change != "" {
			_, err := o.store.Tap.Exec(o.Context(), "UPDATE partnerkit_delivery SET "+change+", next_attempt_at = NULL, event_id = $2 WHERE id = $1", d.ID, fmt.Sprintf("%s%d", m.eventID[:len(m.eventID)-1], i))
			o.must(err)
			_, err = o.store.Tap.Exec(o.Context(), "DELETE FROM partnerkit_delivery_queue WHERE delivery_id = $1", d.ID)
			o.must(err)
		}
		o.clock.Advance(time.Minute)
	}
	m.eventID = m.eventID[:len(m.eventID)-1] + "0"
	return m
}

// DLV-09: each filter of the form, alone and with others. The form keeps what was entered, and
// its address can be shared.
func TestDeliveryFilter_DLV09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	newest := func(lists ...[]string) []string {
		all := slices.Concat(lists...)
		slices.Sort(all)
		slices.Reverse(all)
		return all
	}
	for query, want := range map[string][]string{
		"":                                  newest(m.invoices, m.customers, m.tests),
		"status=failed":                     newest(m.invoices, m.customers),
		"status=queued":                     m.tests,
		"status=failed&status=queued":       newest(m.invoices, m.customers, m.tests),
		"status=failed,queued":              newest(m.invoices, m.customers, m.tests),
		"event=invoice.paid":                newest(m.invoices),
		"event=+invoice.paid+&businessId=":  newest(m.invoices),
		"businessId=biz_2":                  newest(m.customers),
		"businessId=biz_2&status=queued":    nil,
		"eventId=" + m.eventID:              {m.invoices[0]},
		"since=2026-09-01T12:01":            newest(m.invoices[1:], m.customers, m.tests),
		"since=2026-09-01T12:01:00Z":        newest(m.invoices[1:], m.customers, m.tests),
		"since=2026-09-01T13:01:00%2B01:00": newest(m.invoices[1:], m.customers, m.tests),
		"until=2026-09-01+12:01":            {m.invoices[0]},
		"since=2026-09-01&until=2026-09-02": newest(m.invoices, m.customers, m.tests),
		"since=2026-09-02":                  nil,
		// What a browser sends for the empty form.
		"event=&businessId=&eventId=&since=&until=": newest(m.invoices, m.customers, m.tests),
	} {
		page := o.get(m.own + "/deliveries?" + query).want(http.StatusOK).lacks("problem")
		if got := page.listed(); !slices.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", query, got, want)
		}
		if want == nil {
			page.shows("No delivery matches")
		}
	}
	page := o.get(m.own+"/deliveries?status=failed&businessId=biz_1&since=2026-09-01").shows("Failed 2", "Delivered 0", "biz_1", "answered with status 500")
	if checked := page.checked(); !slices.Equal(checked, []string{"failed"}) {
		t.Errorf("checked are %q", checked)
	}
	for _, value := range []string{"biz_1", "2026-09-01T00:00:00"} {
		if !slices.Contains(page.values("value"), value) {
			t.Errorf("the form has lost %q", value)
		}
	}
	// The counts lead to their deliveries, with the rest of the filter.
	page.links(m.own + "/deliveries?" + url.Values{"businessId": {"biz_1"}, "since": {"2026-09-01T00:00:00"}, "status": {"queued"}}.Encode())
}

// DLV-09: a filter that is wrong says so beside the field, keeps what was entered, and lists
// nothing.
func TestDeliveryFilterProblems_DLV09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	for query, want := range map[string]struct{ id, problem, kept string }{
		"event=invoice.eaten":                    {"event", "There is no such event. Choose one from the list.", "invoice.eaten"},
		"eventId=<nope>":                         {"eventId", "This is not the id of an event.", "<nope>"},
		"since=yesterday":                        {"since", "Enter a date and a time in UTC, such as 2026-09-01 12:00.", "yesterday"},
		"until=1969-12-31":                       {"until", "Enter a date and a time in UTC, such as 2026-09-01 12:00.", "1969-12-31"},
		"since=2026-09-02&until=2026-09-01":      {"until", "Until must be later than Since.", "2026-09-01T00:00:00"},
		"status=lost&businessId=biz_1":           {"status", "Choose from these statuses.", "biz_1"},
		"since=10000-01-01T00:00:00&status=lost": {"since", "Enter a date and a time in UTC, such as 2026-09-01 12:00.", "10000-01-01T00:00:00"},
	} {
		page := o.get(m.own + "/deliveries?" + query).want(http.StatusBadRequest)
		if !strings.Contains(page.Body, `<p class="problem" id="`+want.id+`-problem">`+want.problem) || !strings.Contains(page.Body, `aria-describedby="`+want.id+`-problem"`) {
			t.Errorf("%q: no problem beside %s: %s", query, want.id, page.text())
		}
		first := want.id
		if strings.Contains(query, "status=lost") {
			first = "status"
		}
		if focus := page.focused(); !slices.Equal(focus, []string{first}) {
			t.Errorf("%q: the focus is on %q", query, focus)
		}
		if !slices.Contains(page.values("value"), want.kept) || len(page.listed()) > 0 {
			t.Errorf("%q: lists %q, has %q", query, page.listed(), page.values("value"))
		}
	}
}

// DLV-09: counts end at their cap, and say so.
func TestDeliveryCounts_DLV09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	_, err := o.store.Tap.Exec(t.Context(), `INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, round, created_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		SELECT id || i, webhook_id, app_id, event_id || i, event_type, business_id, body, status, attempts, round, created_at FROM partnerkit_delivery, n WHERE id = $1`, m.invoices[0])
	o.must(err)
	o.get(m.own+"/deliveries").shows("Failed 1,000+", "Queued 1")
	o.get(m.own+"/deliveries?businessId=biz_1").shows("Failed 1,000+", "Queued 0+")
	o.get(m.own+"/deliveries?businessId=biz_2").shows("Failed 2", "Queued 0")
}

// RDL-04: all failed deliveries of a period are sent again, and the page shows the result.
func TestRedeliverMany_RDL04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	m := o.mixed()
	at := m.own + "/redeliver"
	page := o.get(m.own+"/deliveries").shows("Send all failed ones again", "Send them again")
	if !slices.Contains(page.values("value"), "2026-08-31T12:05:00") { // a day ago
		t.Errorf("the form offers %q", page.values("value"))
	}

	for _, bad := range [][]string{{"since", ""}, {"since", "soon"}, {"since", "2026-09-01", "event", "nope"}} {
		page := o.post(at, bad...).want(http.StatusBadRequest).alerts("Nothing was sent again: correct the form below.")
		if !strings.Contains(page.Body, `id="again-`) || !strings.Contains(page.Body, `<p class="problem" id="again-`) || !strings.Contains(page.Body, `<details class="ask" open>`) ||
			!slices.Contains(page.values("value"), bad[len(bad)-1]) || !slices.Equal(page.focused(), []string{bad[len(bad)-2]}) {
			t.Errorf("%q: %s", bad, page.text())
		}
	}
	o.did(m.app, "app.created")

	// Tests need no installation; the others are of businesses that have not connected the app.
	_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_delivery SET event_id = NULL WHERE id = $1", m.invoices[0])
	o.must(err)
	o.post(at, "since", "2026-09-01T12:00", "until", "", "event", "").wantTo(m.own+"/deliveries?queued=1&skipped=3").
		shows("1 delivery is queued again. 3 deliveries were skipped:", "Queued 2", "Failed 3")
	o.did(m.app, "webhook.redelivered", "app.created")
	o.post(at, "since", "2026-09-01", "event", "customer.deleted").wantTo(m.own + "/deliveries?queued=0&skipped=0").shows("Nothing was sent again: no failed delivery matches.")
	o.get(m.own + "/deliveries?queued=%3Cb%3E&skipped=1").lacks("skipped:")

	o.must(o.oauth.SetAppStatus(t.Context(), m.app.ID, partner.AppSuspended))
	o.post(at, "since", "2026-09-01").want(http.StatusBadRequest).alerts("the app is suspended or deactivated")
	o.send(ask{method: http.MethodPost, path: at, form: url.Values{"since": {"2026-09-01"}}, by: eve}).want(http.StatusNotFound)
}

// A webhook that is off promises no attempt.
func TestDeliveriesOfWebhookThatIsOff(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, r.URL, events.AppInstalled)
	d, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
	o.must(err)
	o.settle()
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	for _, path := range []string{own, own + "/deliveries"} {
		o.get(path).shows("next attempt in 1 min")
	}
	off := false
	_, err = o.Hooks.Update(t.Context(), app.ID, hook.ID, webhooks.Change{Enabled: &off})
	o.must(err)
	for _, path := range []string{own, own + "/deliveries"} {
		o.get(path).shows("Retrying").lacks("next attempt")
	}
	o.get(own + "/deliveries/" + d.ID).shows("Retrying").lacks("Next attempt")
}
