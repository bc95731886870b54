package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// receiver is a partner's endpoint.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	response http.HandlerFunc
}

func newReceiver(t testing.TB, response http.HandlerFunc) *receiver {
	r := &receiver{response: response}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, got *http.Request) {
		r.mu.Lock()
		response := r.response
		r.mu.Unlock()
		response(w, got)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) responses(response http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.response = response
}

func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header()["X-Trace"] = []string{"a", "b"}
	w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write([]byte("no \xff today"))
}

func accept(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// run sends deliveries until the test ends.
func (d *harness) run() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := d.Hooks.Run(ctx); err != nil {
			d.Errorf("Run = %v", err)
		}
	})
	d.Cleanup(func() { stop(); running.Wait() })
}

// connect installs an app in a business, as a consent does.
func (d *harness) connect(appID, business string) {
	d.Helper()
	app, err := d.store.App(d.Context(), appID)
	d.must(err)
	_, _, err = fixture.Approve(d.Context(), d.store, fixture.Consent{App: app, BusinessID: business, UserID: "usr_owner", Scopes: app.Scopes, Now: d.clock.Now()})
	d.must(err)
}

// await waits until a delivery has that status and so many attempts.
func (d *harness) await(path string, status partner.DeliveryStatus, attempts int) response {
	d.Helper()
	var got response
	for range 5000 {
		got = d.ann("GET " + path).want(http.StatusOK)
		if got.body["status"] == string(status) && got.body["attempts"] == float64(attempts) {
			return got
		}
		time.Sleep(5 * time.Millisecond)
	}
	d.Fatalf("not %s after %d attempts: %s", status, attempts, got.Body)
	return got
}

// fail has all attempts of a delivery fail.
func (d *harness) fail(path string) response {
	d.Helper()
	for attempt, pause := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour} {
		d.await(path, partner.DeliveryRetrying, attempt+1)
		d.must(d.clock.Advance(pause))
	}
	return d.await(path, partner.DeliveryFailed, 6)
}

// CON-01, TST-01, RDL-01, DLV-09: a test delivery from its queueing over its failure
// to its redelivery, as the console shows it.
func TestDeliveries_CON01_TST01_RDL01_DLV09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	endpoint := newReceiver(t, refuse)
	path, _ := d.newApp(confidentialApp)
	made := d.ann("POST "+path+"/webhooks", `{"url": "`+endpoint.URL+`", "events": ["invoice.paid"]}`).want(http.StatusCreated)
	hook := path + "/webhooks/" + made.text("id")
	if got := d.ann("GET " + hook + "/deliveries").data(); len(got) != 0 {
		t.Errorf("nothing was sent: %v", got)
	}

	queued := d.ann("POST " + hook + "/test").want(http.StatusAccepted)
	queued.wantTime("createdAt", 0)
	queued.wantTime("nextAttemptAt", 0)
	head := map[string]any{
		"id": queued.text("id"), "event": "invoice.paid", "eventId": nil, "businessId": "test", "sequence": nil, "status": "queued", "attempts": 0.0,
		"responseCode": nil, "lastError": nil, "nextAttemptAt": queued.text("nextAttemptAt"), "createdAt": queued.text("createdAt"),
	}
	queued.wantBody(head)
	d.ann("GET " + hook + "/deliveries").want(http.StatusOK).wantBody(map[string]any{
		"data": []any{head}, "hasMore": false, "counts": map[string]any{"queued": 1.0, "retrying": 0.0, "delivered": 0.0, "failed": 0.0},
	})
	one := hook + "/deliveries/" + queued.text("id")
	d.ann("POST "+one+"/redeliver").wantCode(http.StatusBadRequest, "DELIVERY_NOT_FAILED") // RDL-02

	d.run()
	failed := d.fail(one)
	var attempts []any
	for i, got := range failed.body["history"].([]any) {
		attempt := got.(map[string]any)
		for _, name := range []string{"at", "durationMs", "signature"} {
			if attempt[name] == nil || attempt[name] == "" {
				t.Errorf("attempt %d has no %s", i+1, name)
			}
			delete(attempt, name)
		}
		attempts = append(attempts, map[string]any{
			"round": 1.0, "number": float64(i + 1), "responseCode": 500.0, "responseHeaders": map[string]any{"Content-Length": "10", "X-Trace": "a, b"}, "error": "answered with status 500", "answer": "no \uFFFD today",
		})
	}
	if diff := cmp.Diff(attempts, failed.body["history"]); diff != "" || len(attempts) != 6 {
		t.Errorf("%d attempts (-want +got)\n%s", len(attempts), diff)
	}

	endpoint.responses(accept)
	again := d.ann("POST " + one + "/redeliver").want(http.StatusAccepted)
	head["nextAttemptAt"] = again.text("nextAttemptAt")
	again.wantBody(head)
	delivered := d.await(one, partner.DeliveryDelivered, 1)
	history := delivered.body["history"].([]any)
	last := history[len(history)-1].(map[string]any)
	if len(history) != 7 || last["round"] != 2.0 || last["number"] != 1.0 || last["responseCode"] != 204.0 || last["error"] != nil || last["answer"] != "" {
		t.Errorf("delivered at last: %v", last)
	}
	// What is shown is what was sent and signed.
	at, err := time.Parse(time.RFC3339, last["at"].(string))
	d.must(err)
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{made.text("secret")}, Now: func() time.Time { return at }})
	d.must(err)
	if err := verifier.Verify(last["signature"].(string), []byte(delivered.text("body"))); err != nil {
		t.Errorf("the body that is shown: %v", err)
	}
	head["status"], head["attempts"], head["responseCode"], head["nextAttemptAt"] = "delivered", 1.0, 204.0, nil
	d.ann("GET " + hook + "/deliveries").want(http.StatusOK).wantBody(map[string]any{
		"data": []any{head}, "hasMore": false, "counts": map[string]any{"queued": 0.0, "retrying": 0.0, "delivered": 1.0, "failed": 0.0},
	})
	d.ann("POST "+one+"/redeliver").wantCode(http.StatusBadRequest, "DELIVERY_NOT_FAILED")
}

// RDL-03: each refusal by its code; what is not there is a 404.
func TestRedeliveryRefusals_RDL03(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	endpoint := newReceiver(t, refuse)
	path, appID := d.newApp(confidentialApp)
	hookID := d.ann("POST "+path+"/webhooks", `{"url": "`+endpoint.URL+`", "events": ["invoice.paid"]}`).want(http.StatusCreated).text("id")
	hook := path + "/webhooks/" + hookID
	d.connect(appID, "biz_1")
	recorded, err := d.Events.Record(t.Context(), events.Draft{Type: "invoice.paid", BusinessID: "biz_1", Data: map[string]any{"id": "inv_1"}})
	d.must(err)
	d.run()
	d.must(d.Hooks.Settle(t.Context()))
	listed := d.ann("GET " + hook + "/deliveries").data()
	if len(listed) != 1 || listed[0]["eventId"] != recorded[0].ID {
		t.Fatalf("listed %v", listed)
	}
	one := hook + "/deliveries/" + listed[0]["id"].(string)
	d.fail(one)

	refused := func(code string) {
		t.Helper()
		d.ann("POST "+one+"/redeliver").wantCode(http.StatusBadRequest, code)
	}
	status := func(s partner.AppStatus) { d.must(d.oauth.SetAppStatus(t.Context(), appID, s)) }
	d.ann("PATCH "+hook, `{"enabled": false}`).want(http.StatusOK)
	refused("WEBHOOK_NOT_ACTIVE")
	d.ann("POST "+hook+"/test").wantCode(http.StatusBadRequest, "WEBHOOK_NOT_ACTIVE") // TST-02
	status(partner.AppSuspended)
	refused("APP_NOT_ACTIVE")
	d.ann("POST "+hook+"/test").wantCode(http.StatusBadRequest, "APP_NOT_ACTIVE")
	status(partner.AppActive)
	d.ann("PATCH "+hook, `{"enabled": true}`).want(http.StatusOK)
	d.ann("PATCH "+path, `{"scopes": ["events:read"]}`).want(http.StatusOK)
	refused("EVENT_SCOPE_MISSING")
	d.ann("PATCH "+path, `{"scopes": ["events:read", "invoices:read"]}`).want(http.StatusOK)
	d.must(d.oauth.SetInstallationScopes(t.Context(), appID, "biz_1", identity.MustScopes("events:read")))
	refused("EVENT_SCOPE_MISSING")
	d.must(d.oauth.Uninstall(t.Context(), appID, "biz_1", "usr_1"))
	refused("APP_NOT_INSTALLED")

	other, _ := d.newApp(confidentialApp)
	otherHook := d.ann("POST "+other+"/webhooks", `{"url": "`+endpoint.URL+`"}`).want(http.StatusCreated).text("id")
	for _, absent := range []string{
		hook + "/deliveries/dlv_absent", path + "/webhooks/whk_absent/deliveries/" + listed[0]["id"].(string),
		other + "/webhooks/" + otherHook + "/deliveries/" + listed[0]["id"].(string), // another webhook's
		other + "/webhooks/" + hookID + "/deliveries/" + listed[0]["id"].(string),    // of another app
	} {
		d.ann("GET " + absent).want(http.StatusNotFound)
		d.ann("POST " + absent + "/redeliver").want(http.StatusNotFound)
	}
	d.ann("GET " + path + "/webhooks/whk_absent/deliveries").want(http.StatusNotFound)
	d.ann("POST " + path + "/webhooks/whk_absent/test").want(http.StatusNotFound)
	d.ann("DELETE " + hook).want(http.StatusNoContent)
	d.ann("GET " + one).want(http.StatusNotFound)
	d.ann("POST " + one + "/redeliver").want(http.StatusNotFound)
}

// DLV-09: the 100 most recent ones, newest first.
func TestListedDeliveries_DLV09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	hook := path + "/webhooks/" + d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/"}`).want(http.StatusCreated).text("id")
	var want []string
	for range 101 {
		d.must(d.clock.Advance(time.Millisecond)) // by which deliveries are sorted
		want = append([]string{d.ann("POST " + hook + "/test").want(http.StatusAccepted).text("id")}, want...)
	}
	var got []string
	for _, one := range d.ann("GET " + hook + "/deliveries").data() {
		got = append(got, one["id"].(string))
	}
	if diff := cmp.Diff(want[:100], got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
