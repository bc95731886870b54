package pages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// post is what a receiver got.
type post struct {
	uri    string
	header http.Header
	body   string
}

// receiver responds with a status and bytes that are not all text.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	posts  []post
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusInternalServerError}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.posts = append(r.posts, post{req.RequestURI, req.Header, string(body)})
		w.Header().Set("X-Answered-By", "printer")
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, "out of paper\n\xff\x00\u202e caf\u00e9")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) responseWith(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) last() (int, post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.posts), r.posts[len(r.posts)-1]
}

// DLV-09, WH-02, RDL-01, RDL-02: the page of a delivery shows what went over the wire,
// and a failed one can be sent again from there.
func TestDelivery_RDL01(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, r.URL, events.AppInstalled)
	recorded, err := o.Events.Record(t.Context(), events.Draft{Type: events.AppInstalled, BusinessID: "biz_1", AppID: app.ID, Data: map[string]any{"a": 1}})
	o.must(err)
	o.settle()
	listed, err := o.Hooks.Deliveries(t.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID})
	o.must(err)
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	at := own + "/deliveries/" + listed.Deliveries[0].ID

	page := o.get(at).want(http.StatusOK).shows("app.installed Retrying", recorded[0].ID, "biz_1", "1 of 6", "in 00:01:00 (1 Sep 2026, 12:01:00 UTC)", "Your server answered 500 Internal Server Error",
		`out of paper \xff\x00\u202e café`, `"data": { "a": 1 }`).lacks("Send it again")
	_, sent := r.last()
	page.shows(sent.body) // to the byte
	for _, name := range []string{"Content-Type", "User-Agent", "X-Webhook-Id", "X-Webhook-Event", "X-Webhook-Event-Id", "X-Webhook-Signature"} {
		page.shows(name + ": " + sent.header.Get(name))
	}
	o.get(own).shows("Retrying app.installed", "next attempt in 1 min", "1 500")
	o.get("/apps/"+app.ID+"/webhooks").shows("Failing", "1 of 1 failed or retrying") // DLV-11
	unchanged, err := o.Hooks.Update(t.Context(), app.ID, hook.ID, webhooks.Change{Enabled: new(true)})
	if o.must(err); unchanged.Health.Failures != 1 {
		t.Errorf("DLV-11: a change returns %+v", unchanged.Health)
	}
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("only a failed delivery can be sent again; this one is retrying").shows("Attempt 1")

	for attempts := 2; attempts <= 6; attempts++ {
		o.clock.Advance(6 * time.Hour)
		o.settle()
	}
	page = o.get(at).shows("Failed", "6 of 6", "Send it again").lacks("Next attempt")
	if order := regexp.MustCompile(`Attempt \d`).FindAllString(page.text(), -1); strings.Join(order, ", ") != "Attempt 6, Attempt 5, Attempt 4, Attempt 3, Attempt 2, Attempt 1" {
		t.Errorf("the attempts are %q, want the newest first", order)
	}
	o.get("/apps/"+app.ID+"/webhooks").shows("Failed", "1 of 1 failed or retrying")

	r.responseWith(http.StatusNoContent)
	o.post(at + "/redeliver").wantTo(at + "?done=delivery-queued").shows("The delivery is queued again.")
	o.did(app, "delivery.redelivered", "app.created")
	o.settle()
	// DLV-09: no two attempts have the same name.
	page = o.get(at).shows("Delivered", "1 of 6, in round 2", "204 Round 2, attempt 1", "It had no body.", "Round 1, attempt 6").lacks("Send it again")
	if names := regexp.MustCompile(`Round \d, attempt \d`).FindAllString(page.text(), -1); len(names) != 7 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 7 {
		t.Errorf("the attempts are %q", names)
	}
	if n, again := r.last(); n != 7 || again.body != sent.body || again.header.Get("X-Webhook-Id") != sent.header.Get("X-Webhook-Id") {
		t.Errorf("%d posts, the last one %v", n, again)
	}
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("only a failed delivery can be sent again; this one is delivered")
	o.get("/apps/"+app.ID+"/webhooks").shows("Delivered", "none of 1 failed")
	o.get(own + "/deliveries/nope").want(http.StatusNotFound).alerts("delivery not found")
	o.post(own + "/deliveries/nope/redeliver").want(http.StatusNotFound)
}

// RDL-03: the page of a delivery shows why it is not sent again.
func TestRedeliverRefused_RDL03(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	app := o.newApp()
	hook := o.newWebhook(app, r.URL)
	d, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
	o.must(err)
	at := "/apps/" + app.ID + "/webhooks/" + hook.ID + "/deliveries/" + d.ID
	o.get(at).shows("Queued", "Attempt 1 now", "Next attempt now")
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("only a failed delivery can be sent again; this one is queued")
	for _, statement := range []string{
		"UPDATE partnerkit_delivery SET status = 'failed', last_error = 'not sent: the webhook is switched off', next_attempt_at = NULL",
		"DELETE FROM partnerkit_delivery_queue",
	} {
		_, err := o.store.Tap.Exec(t.Context(), statement)
		o.must(err)
	}
	o.get(at).shows("Failed", "not sent: the webhook is switched off", "It was never sent.")
	off := false
	_, err = o.Hooks.Update(t.Context(), app.ID, hook.ID, webhooks.Change{Enabled: &off})
	o.must(err)
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("the webhook is switched off").shows("Failed")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("the app is suspended or deactivated")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppActive))
	on := true
	_, err = o.Hooks.Update(t.Context(), app.ID, hook.ID, webhooks.Change{Enabled: &on})
	o.must(err)
	o.clock.Advance(30 * 24 * time.Hour)
	o.post(at + "/redeliver").want(http.StatusBadRequest).alerts("the delivery is older than 30 days")
}

// TST-01: a test is queued, and its page follows it.
func TestSendTest_TST01(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	r.responseWith(http.StatusOK)
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, r.URL, "customer.created")
	own := "/apps/" + app.ID + "/webhooks/" + hook.ID
	sent := o.post(own + "/test").want(http.StatusSeeOther)
	o.did(app, "webhook.tested", "app.created")
	o.settle()
	listed, err := o.Hooks.Deliveries(t.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID})
	o.must(err)
	at := own + "/deliveries/" + listed.Deliveries[0].ID
	page := sent.wantTo(at+"?done=test-queued").shows("The test is queued.", "customer.created test Delivered", `"test": true`, "200 Attempt 1").lacks("X-Webhook-Event-Id")
	if live := page.values("data-live"); !slices.Equal(live, []string{o.prefix + at}) {
		t.Errorf("kept fresh from %q", live)
	}
	o.get(own).shows("Delivered customer.created test customer cus_06g5plpa01o015r0g79mgnmm4c", "test 1 200")
}
