package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// SAND-02: the page of development orders faults and moves the clock, without a script.
func TestDevelopmentPage_SAND02(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	page := r.app + "/sandbox"
	fault := url.Values{"route": {"POST /oauth/token"}, "lose_response": {"yes"}, "times": {"2"}}
	post(t, b, page+"/faults", fault).want(t, http.StatusSeeOther)
	post(t, b, page+"/faults", url.Values{"route": {"webhook"}, "status": {"503"}, "delay_ms": {"5"}}).want(t, http.StatusSeeOther)
	body := get(t, b, page).want(t, http.StatusOK).body
	for _, want := range []string{"<code>POST /oauth/token</code>", "/sandbox/webhooks/ledgerlink-sync", "response lost", "status 503 5 ms late"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if all := r.faults(); len(all) != 2 || all[0].(map[string]any)["times"] != 2.0 {
		t.Errorf("faults: %v", all)
	}
	wrong := post(t, b, page+"/faults", url.Values{"route": {"GET /nothing"}, "status": {"x"}}).want(t, http.StatusBadRequest).body
	if !strings.Contains(wrong, "must be a number") || !strings.Contains(wrong, `value="GET /nothing"`) {
		t.Errorf("a wrong fault:\n%s", wrong)
	}
	post(t, b, page+"/faults/remove", nil).want(t, http.StatusSeeOther)
	if all := r.faults(); len(all) != 0 {
		t.Errorf("left: %v", all)
	}
	before := r.dev("clock", `{"advanceSeconds": 0}`).json(t)["now"].(float64)
	post(t, b, page+"/clock", url.Values{"seconds": {"3600"}}).want(t, http.StatusSeeOther)
	if now := r.dev("clock", `{"advanceSeconds": 0}`).json(t)["now"].(float64); now < before+3600 {
		t.Errorf("the clock went from %v to %v", before, now)
	}
	post(t, b, page+"/clock", url.Values{"seconds": {"-1"}}).want(t, http.StatusBadRequest)
	foreign := request(t, http.MethodPost, page+"/faults", "application/x-www-form-urlencoded", fault.Encode())
	foreign.Header.Set("Origin", "https://evil.example")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	do(t, b, foreign).want(t, http.StatusForbidden)
}

// SAND-02: the webhook viewer receives, verifies, shows and sends again. Outside development
// mode there are no such pages.
func TestWebhookViewer_SAND02(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	viewer := r.app + "/sandbox/webhooks/ledgerlink-sync"
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	r.console(developer, http.MethodPatch, "apps/app_sync/webhooks/whk_sync", `{"url": "`+viewer+`"}`).want(t, http.StatusOK)
	r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read")
	r.move(0)
	body := get(t, b, viewer).want(t, http.StatusOK).body
	for _, want := range []string{"app.installed", "the signature is right", "X-Webhook-Signature: t=", "&#34;businessId&#34;:&#34;biz_bakery&#34;"} {
		if !strings.Contains(body, want) {
			t.Errorf("the viewer lacks %q:\n%s", want, body)
		}
	}
	post(t, b, viewer+"/again", get(t, b, viewer).form()).want(t, http.StatusSeeOther)
	if again := get(t, b, viewer).body; strings.Count(again, "the signature is right") != 2 {
		t.Errorf("sent again:\n%s", again)
	}
	forged := `{"id": "dlv_1", "type": "invoice.paid"}`
	do(t, b, request(t, http.MethodPost, viewer, "application/json", forged)).want(t, http.StatusNoContent)
	if page := get(t, b, viewer).body; !strings.Contains(page, "no delivery of this app") {
		t.Error("a forged webhook counts as verified")
	}
	get(t, b, r.app+"/sandbox/webhooks/nobody").want(t, http.StatusNotFound)

	public := start(t, "-dev=false", "-key", developmentKey)
	get(t, b, public.app+"/sandbox").want(t, http.StatusNotFound)
	do(t, b, request(t, http.MethodPost, public.app+"/sandbox/webhooks/ledgerlink-sync", "application/json", forged)).want(t, http.StatusNotFound)
}
