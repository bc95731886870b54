package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// addFault adds a fault of the next calls of a route.
func (r *harness) addFault(body string) {
	r.t.Helper()
	if a := r.dev("faults", body); a.StatusCode != http.StatusCreated || !strings.HasPrefix(a.json(r.t)["id"].(string), "flt_") {
		r.t.Fatalf("POST /dev/faults %s: %d %s", body, a.StatusCode, a.body)
	}
}

// faults returns the faults that wait.
func (r *harness) faults() []any {
	r.t.Helper()
	return do(r.t, http.DefaultClient, request(r.t, http.MethodGet, r.api+"/dev/faults", "", "")).json(r.t)["data"].([]any)
}

// SAND-02: the next calls of a route get a status, in the shape of their errors.
func TestFaults_SAND02_status(t *testing.T) {
	t.Parallel()
	r := start(t)
	ada := r.session("usr_ada", "biz_bakery")
	token := r.connect(ada, "biz_bakery", "invoices:read")["access_token"].(string)
	r.addFault(`{"route": "GET /invoices", "times": 2, "status": 503}`)
	r.addFault(`{"route": "GET /invoices", "status": 418}`)
	r.addFault(`{"route": "GET /invoices/{id}", "status": 409}`)
	r.addFault(`{"route": "POST /oauth/token", "status": 500}`)

	for _, want := range []int{503, 503, 418, 200, 200} {
		a := r.call(http.MethodGet, "/invoices", token)
		if a.StatusCode != want || want != 200 && a.json(t)["statusCode"] != float64(want) {
			t.Errorf("GET /invoices: %d %s, want %d", a.StatusCode, a.body, want)
		}
		if want == 503 && a.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After: %q", a.Header.Get("Retry-After"))
		}
	}
	for _, want := range []int{409, 404} {
		if a := r.call(http.MethodGet, "/invoices/inv_1", token); a.StatusCode != want {
			t.Errorf("GET /invoices/inv_1: %d %s, want %d", a.StatusCode, a.body, want)
		}
	}
	if a := r.oauth("token", url.Values{}); a.StatusCode != 500 || a.json(t)["error"] != "server_error" {
		t.Errorf("POST /oauth/token: %d %s", a.StatusCode, a.body)
	}
	if a := r.oauth("token", url.Values{}); a.StatusCode != http.StatusBadRequest {
		t.Errorf("POST /oauth/token afterwards: %d %s", a.StatusCode, a.body)
	}
	if left := r.faults(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// SAND-02: a call whose response is lost has done its work.
func TestFaults_SAND02_lost_response(t *testing.T) {
	t.Parallel()
	r := start(t)
	ada := r.session("usr_ada", "biz_bakery")
	tokens := r.connect(ada, "biz_bakery", "invoices:read")
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}
	r.addFault(`{"route": "POST /oauth/token", "times": 1, "loseResponse": true}`)

	req := request(t, http.MethodPost, r.api+"/oauth/token", "application/x-www-form-urlencoded", refresh.Encode())
	req.SetBasicAuth(syncID, syncSecret)
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatalf("a response: %d", res.StatusCode)
	}
	// The token was rotated, so that presenting it again is a replay.
	if a := r.oauth("token", refresh); a.StatusCode != http.StatusBadRequest || a.json(t)["error"] != "invalid_grant" {
		t.Errorf("the same refresh token: %d %s", a.StatusCode, a.body)
	}
}

// SAND-02: for deliveries a status is recorded without sending, and a lost response is sent and
// not seen.
func TestFaults_SAND02_deliveries(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t)
	r := start(t, "-fixtures", withWebhook(t, hook.url))
	r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read")
	r.move(0)
	hook.take()
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	r.addFault(`{"route": "webhook", "status": 429}`)
	r.addFault(`{"route": "webhook", "loseResponse": true}`)
	r.dev("events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "inv_1"}}`).want(t, http.StatusOK)
	for _, attempt := range []struct {
		after, received int
		status          string
		code            any
	}{{0, 0, "retrying", 429.0}, {60, 1, "retrying", nil}, {300, 1, "delivered", 200.0}} {
		r.move(attempt.after)
		if got := len(hook.take()); got != attempt.received {
			t.Errorf("%s: %d requests, want %d", attempt.status, got, attempt.received)
		}
		row := r.console(developer, http.MethodGet, "apps/app_sync/webhooks/whk_sync/deliveries", "").want(t, http.StatusOK).json(t)["data"].([]any)[0].(map[string]any)
		if row["status"] != attempt.status || row["responseCode"] != attempt.code {
			t.Errorf("delivery %v, want %v", row, attempt)
		}
	}
}

// SAND-02: bad input is named, and faults can be removed.
func TestFaults_SAND02_input(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, test := range []struct{ body, says string }{
		{`{"status": 500}`, "route must be"},
		{`{"route": "GET /nothing", "status": 500}`, "route must be"},
		{`{"route": "POST /dev/clock", "status": 500}`, "route must be"},
		{`{"route": "/invoices", "status": 500}`, "route must be"},
		{`{"route": "GET /invoices"}`, "status, delayMs or loseResponse is missing"},
		{`{"route": "GET /invoices", "status": 200}`, "status must be from 400 to 599"},
		{`{"route": "webhook", "status": 600}`, "status must be from 200 to 599"},
		{`{"route": "GET /invoices", "status": 500, "times": 0}`, "times must be from 1 to 1000"},
		{`{"route": "GET /invoices", "delayMs": -1}`, "delayMs must be from 0 to 60000"},
		{`{"route": "GET /invoices", "status": 500, "loseResponse": true}`, "loseResponse cannot stand beside status"},
		{`{"route": "GET /invoices", "state": 500}`, "state is not a known member"},
	} {
		if a := r.dev("faults", test.body); a.StatusCode != http.StatusBadRequest || !strings.Contains(a.body, test.says) {
			t.Errorf("%s: %d %s, want %q", test.body, a.StatusCode, a.body, test.says)
		}
	}
	r.addFault(`{"route": "GET /invoices", "times": 3, "delayMs": 5}`)
	if all := r.faults(); len(all) != 1 || all[0].(map[string]any)["times"] != 3.0 || all[0].(map[string]any)["delayMs"] != 5.0 {
		t.Errorf("faults: %v", all)
	}
	if a := do(t, http.DefaultClient, request(t, http.MethodDelete, r.api+"/dev/faults", "application/json", "")); a.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE /dev/faults: %d %s", a.StatusCode, a.body)
	}
	if all := r.faults(); len(all) != 0 {
		t.Errorf("left: %v", all)
	}
}
