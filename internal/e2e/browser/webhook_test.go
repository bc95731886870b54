package browser_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// secret is what a page shows this once.
func (b *tab) secret() string {
	b.t.Helper()
	return get[string](b, `words(document.querySelector(".secret code"))`)
}

// isShownOnce checks that a page shows a secret only once: reloading it or going back shows
// the secret no more and sends no form again.
func (b *tab) isShownOnce(secret string) {
	b.t.Helper()
	at := b.at()
	b.visit(at)
	if strings.Contains(b.where(), secret) {
		b.t.Errorf("a secret is shown twice at %s", at)
	}
}

// attempts of a delivery, oldest first, after the first n that came to a path.
func (s *service) attempts(path string, n, want int) []received {
	s.t.Helper()
	eventually(s.t, "a delivery to "+path, func() bool { return len(s.partner.arrived(path)) >= n+want })
	all := s.partner.arrived(path)[n:]
	if len(all) != want {
		s.t.Fatalf("%d deliveries, want %d", len(all), want)
	}
	return all
}

// WH-01, TST-01, TST-02, DLV-01, RDL-01, SIG-02, SBX-01: the life of a webhook on its
// pages. What happens meanwhile appears by itself.
func TestWebhook(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")

	b.visit(s.App + "/developer")
	b.submit("Ledgerlink CLI")
	b.submit("Webhooks", ".side")
	b.sees("No webhooks yet")
	b.submit("Add the first one")
	b.fill("URL", s.partner.origin+"/webhooks/new")
	b.choose("invoice.created")
	b.choose("customer.created")
	b.submit("Create webhook")
	secret := b.secret()
	b.inspect("webhook-secret")
	b.isShownOnce(secret)
	hook := b.at()
	b.inspect("webhook-unused")

	// A test arrives, and the page that follows it says so.
	b.submit("Send a test")
	b.follows("Delivered")
	first := s.attempts("/webhooks/new", 0, 1)[0]
	verify(t, first, secret)
	var body struct {
		Type, BusinessID string
		EventID          *string
		Data             struct{ Test bool }
	}
	if err := json.Unmarshal([]byte(first.Body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Type != "invoice.created" || body.BusinessID != "test" || body.EventID != nil || !body.Data.Test || first.Header.Get("X-Webhook-Event-Id") != "" {
		t.Errorf("not a test: %s", first.Body)
	}
	b.inspect("delivery-delivered")

	// The list grows while a page shows it.
	s.partner.responses(http.StatusInternalServerError, `{"error": "the disk is full"}`)
	b.visit(hook)
	get[any](b, "void (window.stays = true)")
	other := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	other.visit(hook)
	other.submit("Send a test")
	b.await(`window.stays && words(document.querySelector("#deliveries tbody tr")).startsWith("Retrying")`)

	// Retries come when their time has come.
	other.follows("Retrying")
	other.sees("the disk is full")
	for i, step := range []string{"1 min", "5 min", "30 min", "2 h", "6 h"} {
		other.submit(step, ".clock")
		s.attempts("/webhooks/new", 1, i+2)
	}
	other.follows("Failed")
	other.inspect("delivery-failed")
	failed := s.attempts("/webhooks/new", 1, 6)
	for name, query := range map[string]string{
		"": "", "-filtered": "?status=failed&since=2020-01-01", "-none": "?businessId=nope", "-refused": "?eventId=x&since=soon&event=nope&status=lost",
	} {
		b.visit(hook + "/deliveries" + query)
		b.press("Send all failed ones again…")
		b.inspect("deliveries" + name)
	}

	// It is sent again, the same in all but its signature.
	s.partner.responses(http.StatusOK, "thanks")
	other.submit("Send it again")
	other.follows("Delivered")
	again := s.attempts("/webhooks/new", 7, 1)[0]
	verify(t, again, secret)
	if again.Body != failed[0].Body || again.Header.Get("X-Webhook-Id") != failed[0].Header.Get("X-Webhook-Id") {
		t.Errorf("redelivered as %s, was %s", again.Body, failed[0].Body)
	}

	// Two secrets sign for a day.
	b.visit(hook)
	b.press("Rotate the secret")
	b.submit("Rotate it")
	rotated := b.secret()
	b.countsDown()
	b.inspect("webhook-rotated")
	b.submit("I have copied it")
	b.sees("2 active secrets")
	b.countsDown()
	b.submit("Send a test")
	b.follows("Delivered")
	both := s.attempts("/webhooks/new", 8, 1)[0]
	verify(t, both, secret)
	verify(t, both, rotated)
	b.submit("24 h", ".clock")
	b.visit(hook)
	b.sees("1 active secret")

	// Switched off it takes no test; deleted it is gone.
	b.press("Change the webhook")
	b.choose("On: deliveries are sent.")
	b.inspect("webhook-change")
	b.submit("Save")
	b.sees("Nothing can be sent while the webhook is off.")
	b.inspect("webhook-off")
	b.press("Delete the webhook")
	b.submit("Delete it")
	b.sees("The webhook was deleted.")
	if status := b.visit(hook); status != http.StatusNotFound {
		t.Errorf("a deleted webhook: %d", status)
	}
	if n := len(s.partner.arrived("/webhooks/new")); n != 9 {
		t.Errorf("%d deliveries in all, want 9", n)
	}
}

// follows waits until the page of a delivery shows a status without being reloaded.
func (b *tab) follows(status string) {
	b.t.Helper()
	get[any](b, "void (window.stays = true)")
	b.await(`window.stays && words(document.querySelector("#delivery .badge.dot")) === ` + quote(status))
}

// countsDown waits until what is left has become less by itself.
func (b *tab) countsDown() {
	b.t.Helper()
	left := get[string](b, `words(document.querySelector("[data-countdown]"))`)
	if !strings.HasPrefix(left, "23:5") && left != "24:00:00" {
		b.t.Errorf("%s is left of 24 hours", left)
	}
	b.await(`words(document.querySelector("[data-countdown]")) < ` + quote(left))
}

// verify checks a signature as a receiver does, with a tolerance that accepts the moved
// clocks of the tests.
func verify(t *testing.T, one received, secret string) {
	t.Helper()
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{secret}, Tolerance: 1000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(one.Header.Get("X-Webhook-Signature"), []byte(one.Body)); err != nil {
		t.Errorf("%s: %v", one.Header.Get("X-Webhook-Signature"), err)
	}
}
