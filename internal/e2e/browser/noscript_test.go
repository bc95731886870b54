package browser_test

import (
	"net/http"
	"strings"
	"testing"
)

// Everything that matters works with scripts switched off: signing in, consent,
// a webhook from its creation to its deletion, uninstalling.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := open(t).withoutScript()
	b.visit(s.App + "/developer/apps/app_sync/webhooks/new")
	b.signIn("dev@example.com", "demo-dev")
	b.fill("URL", s.partner.origin+"/webhooks/quiet")
	b.choose("invoice.created")
	b.submit("Create webhook")
	secret := b.secret()
	if n := get[int](b, `[...document.querySelectorAll("[data-copy]")].filter((e) => e.checkVisibility()).length`); n > 0 {
		t.Errorf("%d buttons that only a script serves", n)
	}
	b.submit("I have copied it")

	s.partner.responses(http.StatusServiceUnavailable, "later")
	b.submit("Send a test")
	delivery := strings.Split(b.at(), "?")[0]
	reloads := func(status string) {
		t.Helper()
		eventually(t, status, func() bool {
			b.visit(delivery)
			return get[string](b, `words(document.querySelector("#delivery .badge.dot"))`) == status
		})
	}
	reloads("Retrying")
	for i, step := range []string{"1 min", "5 min", "30 min", "2 h", "6 h"} {
		b.submit(step, ".clock")
		s.attempts("/webhooks/quiet", 0, i+2)
	}
	reloads("Failed")
	s.partner.responses(http.StatusOK, "thanks")
	b.submit("Send it again")
	reloads("Delivered")
	verify(t, s.attempts("/webhooks/quiet", 6, 1)[0], secret)

	b.submit("Webhook", ".trail")
	b.press("Delete the webhook")
	b.submit("Delete it")
	b.sees("The webhook was deleted.")

	b = open(t).withoutScript()
	b.visit(s.authorize(nil))
	b.signIn("ada@example.com", "demo-ada")
	b.choose("Moreau Mill")
	b.submit("Allow")
	s.tokens(b)
	b.visit(s.App + "/businesses")
	b.choose("Moreau Mill")
	b.submit("Continue")
	b.press("Uninstall…")
	b.submit("Uninstall")
	b.sees("No apps are connected")
}
