package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// WH-04: with -verify-webhooks a new webhook waits for its endpoint, the console says what to do,
// and the developer sends the challenge again. The webhook of the fixtures is verified. Without
// the flag there is nothing of it.
func TestVerifyWebhooks_WH04(t *testing.T) {
	t.Parallel()
	var answers atomic.Bool
	var delivered atomic.Int64
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent struct{ Data struct{ Challenge string } }
		if err == nil {
			err = json.Unmarshal(body, &sent)
		}
		switch {
		case err != nil:
			t.Error(err)
		case r.Header.Get("X-Webhook-Event") != "webhook.verification":
			delivered.Add(1)
		case answers.Load():
			_ = json.NewEncoder(w).Encode(map[string]string{"challenge": sent.Data.Challenge})
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(hook.Close)
	r := start(t, "-db", demoDatabase(t), "-verify-webhooks")
	developer := r.signIn("dev@example.com", "demo-dev")
	hooks := r.api + "/developer/apps/app_sync/webhooks"
	send := func(method, url, body string) response {
		return do(t, developer, request(t, method, url, "application/json", body))
	}
	if got := get(t, developer, hooks+"/whk_sync").want(t, http.StatusOK).json(t); got["verified"] != true {
		t.Errorf("the webhook of the fixtures: %v", got)
	}
	made := send(http.MethodPost, hooks, `{"url": "`+hook.URL+`", "events": ["invoice.created"]}`).want(t, http.StatusCreated).json(t)
	if made["verified"] != false {
		t.Errorf("a new webhook: %v", made)
	}
	one := hooks + "/" + made["id"].(string)
	page := r.app + strings.TrimPrefix(one, r.api)
	r.dev("events", `{"businessId": "biz_bakery", "type": "invoice.created", "data": {"id": "inv_1"}}`).want(t, http.StatusOK)
	if code := send(http.MethodPost, one+"/test", "").want(t, http.StatusBadRequest).json(t)["code"]; code != "WEBHOOK_NOT_VERIFIED" {
		t.Errorf("a test: %v", code)
	}
	eventually(t, "the page shows why the challenge failed", func() bool {
		return strings.Contains(get(t, developer, page).want(t, http.StatusOK).body, "answered with status 418")
	})
	if body := get(t, developer, page).body; !strings.Contains(body, "This webhook is not verified") || !strings.Contains(body, page[len(r.app):]+"/verify") || strings.Contains(body, ">Send a test</button>") {
		t.Errorf("the page does not say what to do:\n%s", body)
	}
	if body := get(t, developer, r.app+"/developer/apps/app_sync/webhooks").body; strings.Count(body, "not verified") != 1 {
		t.Error("the list does not show which webhook is not verified")
	}
	r.move(0)
	if n := delivered.Load(); n != 0 {
		t.Errorf("%d deliveries to a webhook that is not verified", n)
	}

	answers.Store(true)
	post(t, developer, page+"/verify", url.Values{}).want(t, http.StatusSeeOther)
	eventually(t, "the webhook is verified", func() bool { return get(t, developer, one).json(t)["verified"] == true })
	if body := get(t, developer, page).body; strings.Contains(body, "not verified") || !strings.Contains(body, ">Send a test</button>") {
		t.Error("the page still wants a challenge")
	}
	send(http.MethodPost, one+"/verify", "").want(t, http.StatusAccepted)
	send(http.MethodPost, hooks+"/whk_absent/verify", "").want(t, http.StatusNotFound)
	for range 8 { // with the two from before
		a := send(http.MethodPost, one+"/verify", "")
		if a.StatusCode == http.StatusTooManyRequests {
			break
		}
		a.want(t, http.StatusAccepted)
	}
	if a := send(http.MethodPost, one+"/verify", "").want(t, http.StatusTooManyRequests); a.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}

	plain := start(t)
	developer = plain.signIn("dev@example.com", "demo-dev")
	got := get(t, developer, plain.api+"/developer/apps/app_sync/webhooks/whk_sync").want(t, http.StatusOK).json(t)
	if _, ok := got["verified"]; ok {
		t.Errorf("without the flag: %v", got)
	}
	do(t, developer, request(t, http.MethodPost, plain.api+"/developer/apps/app_sync/webhooks/whk_sync/verify", "application/json", "")).want(t, http.StatusNotFound)
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
