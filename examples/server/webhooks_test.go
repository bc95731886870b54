package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// receiver is a partner's endpoint: it fails the given number of times, and then accepts
// every delivery.
type receiver struct {
	mu       sync.Mutex
	failures int
	got      []received
	url      string
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, received{req.Header.Clone(), body})
		if r.failures > 0 {
			r.failures--
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) fail(times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = times
}

// take returns what arrived since the last call.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// withWebhook is the demo with the webhook of its first app at an address of ours.
func withWebhook(t *testing.T, url string) string {
	t.Helper()
	return file(t, "fixtures.json", strings.Replace(demo, "http://localhost:9090/webhooks", url, 1))
}

const hookSecret = "whsec_demo_ledgerlink_sync" //nolint:gosec // that of the demo

// move moves the clock and returns what it shows then.
func (r *harness) move(seconds int) time.Time {
	r.t.Helper()
	now := r.dev("clock", fmt.Sprintf(`{"advanceSeconds": %d}`, seconds)).want(r.t, http.StatusOK).json(r.t)["now"]
	return time.Unix(int64(now.(float64)), 0)
}

// DLV-01, SIG-01, WH-02, EVT-01, INST-05, SBX-01: an event from outside, through
// retries that the clock brings on, to the Events API.
func TestWebhooksFromOutside(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	r := start(t, "-fixtures", withWebhook(t, hook.url))
	token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read events:read")["access_token"].(string)
	r.move(0)
	if got := hook.take(); len(got) != 1 || got[0].header.Get("X-Webhook-Event") != "app.installed" {
		t.Fatalf("after the connection: %v", got)
	}

	hook.fail(2)
	eventID := r.dev("events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "inv_1"}}`).want(t, http.StatusOK).json(t)["id"].(string)
	var deliveries []received
	for _, pause := range []int{0, 60, 300} {
		now := r.move(pause)
		got := hook.take()
		if len(got) != 1 {
			t.Fatalf("%d s later: %d posts, want 1", pause, len(got))
		}
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{hookSecret}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(got[0].header.Get(signature.Header), got[0].body); err != nil {
			t.Error(err)
		}
		deliveries = append(deliveries, got[0])
	}
	if string(deliveries[0].body) != string(deliveries[2].body) || deliveries[0].header.Get("X-Webhook-Event-Id") != eventID {
		t.Errorf("the third attempt differs: %s", deliveries[2].body)
	}
	r.move(24 * 3600)
	if got := hook.take(); len(got) != 0 {
		t.Errorf("sent again after it had arrived: %v", got)
	}

	var body struct{ APIVersion, EventID string }
	if err := json.Unmarshal(deliveries[0].body, &body); err != nil || body.APIVersion != "2026-09-01" || body.EventID != eventID {
		t.Errorf("body %s: %v", deliveries[0].body, err)
	}
	fresh := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read events:read")["access_token"].(string)
	if token == fresh {
		t.Fatal("the same token again")
	}
	req := request(t, http.MethodGet, r.api+"/events?types=invoice.created", "", "")
	req.Header.Set("Authorization", "Bearer "+fresh)
	if a := do(t, http.DefaultClient, req).want(t, http.StatusOK); !strings.Contains(a.body, eventID) {
		t.Errorf("/events: %s", a.body)
	}
	r.dev("installations/uninstall", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`).want(t, http.StatusOK)
	r.move(48 * 3600)
	var names []string
	for _, got := range hook.take() {
		names = append(names, got.header.Get("X-Webhook-Event"))
		if names[len(names)-1] == "business.redact" && !strings.Contains(string(got.body), `"data":{"id":"biz_bakery"}`) {
			t.Errorf("INST-05 business.redact: %s", got.body)
		}
	}
	slices.Sort(names) // both were due after the move, and may arrive in any order
	if strings.Join(names, " ") != "app.uninstalled business.redact" {
		t.Errorf("after the uninstall: %v", names)
	}
}

// console calls the console API with a session.
func (r *harness) console(b *http.Client, method, path, body string) response {
	r.t.Helper()
	contentType := "application/json"
	if body == "" {
		contentType = ""
	}
	return do(r.t, b, request(r.t, method, r.api+"/developer/"+path, contentType, body))
}

// CON-01, RDL-01, SIG-02, TST-01: what a developer does about deliveries, over the
// console's API.
func TestConsoleFromOutside(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	r := start(t, "-fixtures", withWebhook(t, hook.url))
	r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read")
	r.move(0)
	hook.take()

	developer, stranger := r.session("usr_dev", "biz_ledgerlink_sandbox"), r.session("usr_cleo", "biz_papertrail_sandbox")
	const hookPath = "apps/app_sync/webhooks/whk_sync"
	r.console(stranger, http.MethodGet, hookPath, "").want(t, http.StatusNotFound)
	r.console(browser(t), http.MethodGet, hookPath, "").want(t, http.StatusUnauthorized)
	if a := r.console(developer, http.MethodGet, "apps/app_sync/app-data-fields", "").want(t, http.StatusOK); !strings.Contains(a.body, `"syncStatus"`) {
		t.Errorf("the demo's field is not there: %s", a.body)
	}

	hook.fail(6)
	eventID := r.dev("events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "inv_1"}}`).want(t, http.StatusOK).json(t)["id"].(string)
	for _, pause := range []int{0, 60, 300, 1800, 7200, 21600} {
		r.move(pause)
	}
	first := hook.take()
	newest := func() map[string]any {
		list := r.console(developer, http.MethodGet, hookPath+"/deliveries", "").want(t, http.StatusOK).json(t)
		return list["data"].([]any)[0].(map[string]any)
	}
	failed := newest()
	if len(first) != 6 || failed["status"] != "failed" || failed["attempts"] != 6.0 || failed["eventId"] != eventID || failed["responseCode"] != 500.0 {
		t.Fatalf("%d posts; %v", len(first), failed)
	}
	deliveryPath := hookPath + "/deliveries/" + failed["id"].(string)
	rotated := r.console(developer, http.MethodPost, hookPath+"/rotate-secret", "").want(t, http.StatusOK).json(t)
	r.console(developer, http.MethodPost, deliveryPath+"/redeliver", "").want(t, http.StatusAccepted)
	now := r.move(0)
	again := hook.take()
	if len(again) != 1 || string(again[0].body) != string(first[0].body) {
		t.Fatalf("redelivered %d times", len(again))
	}
	for _, secret := range []string{hookSecret, rotated["secret"].(string)} {
		verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{secret}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify(again[0].header.Get(signature.Header), again[0].body); err != nil {
			t.Error(err)
		}
	}
	if a := r.console(developer, http.MethodPost, deliveryPath+"/redeliver", "").want(t, http.StatusBadRequest); !strings.Contains(a.body, "DELIVERY_NOT_FAILED") {
		t.Errorf("a delivered one again: %s", a.body)
	}

	r.console(developer, http.MethodPost, hookPath+"/test", "").want(t, http.StatusAccepted)
	r.move(0)
	if got := hook.take(); len(got) != 1 || got[0].header.Values("X-Webhook-Event-Id") != nil || !strings.Contains(string(got[0].body), `"businessId":"test"`) {
		t.Errorf("the test delivery: %v", got)
	}
	audit := r.console(developer, http.MethodGet, "apps/app_sync/audit", "").want(t, http.StatusOK).body
	for _, action := range []string{"rotated", "redelivered", "consent.allowed"} {
		if !strings.Contains(audit, action) {
			t.Errorf("the audit log has no %s: %s", action, audit)
		}
	}
}
