package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// prints shows the page as it is printed, or as it is on the screen again.
func (b *tab) prints(media string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media}); err != nil {
		b.t.Fatal(err)
	}
	b.await("matchMedia(" + quote(media) + ").matches")
}

// comesToSee opens a page again until it shows a text.
func (b *tab) comesToSee(address, text string) {
	b.t.Helper()
	eventually(b.t, text, func() bool {
		b.visit(address)
		return get[bool](b, "words(document.body).includes("+quote(text)+")")
	})
}

// CAT-02, DLV-11: what a developer needs on most days: the commands of the quick start,
// a failing webhook says so, and events without their scope are pointed out.
// On paper a page has its content and nothing to press.
func TestDailyTools_CAT02_DLV11(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.visit(s.App + "/developer/apps/app_sync/start")
	dev.press("Connect with your own code")
	dev.sees("echo \"" + s.App + "/oauth/authorize?response_type=code&client_id=ledgerlink-sync&")
	dev.sees("curl -s " + s.API + "/oauth/token")
	dev.press("Python", "#quick-start")
	dev.sees("import hashlib, hmac")
	dev.isWalkable("quick-start")

	s.furnish() // it connects the app, and the partner's server fails
	dev.comesToSee(s.App+"/developer/apps/app_sync", "1 of 1 webhooks is failing")
	dev.submit("See the webhooks")
	dev.comesToSee(s.App+"/developer/apps/app_sync/webhooks/whk_sync", "This webhook has been failing since")
	dev.sees("Your server answered 500 Internal Server Error")

	dev.prints("print")
	for _, hidden := range []string{".top nav", ".side", ".trail", ".clock", "main button"} {
		if get[bool](dev, `[...document.querySelectorAll(`+quote(hidden)+`)].some((e) => e.checkVisibility())`) {
			t.Errorf("%s is printed", hidden)
		}
	}
	for _, shown := range []string{"h1", ".facts", ".note.warn", "#deliveries tbody tr"} {
		if !get[bool](dev, `!!document.querySelector(`+quote(shown)+`)?.checkVisibility()`) {
			t.Errorf("%s is not printed", shown)
		}
	}
	dev.prints("screen")

	cleo := s.enter(open(t), "usr_cleo", "biz_papertrail_sandbox")
	var hook struct{ ID string }
	s.call(request{method: http.MethodPost, path: "/developer/apps/app_beta/webhooks", cookie: s.session("usr_cleo", ""), body: map[string]any{
		"url": s.partner.origin + "/webhooks/beta", "events": []string{"invoice.paid", "account.created"},
	}}, &hook)
	cleo.visit(s.App + "/developer/apps/app_beta/webhooks/" + hook.ID)
	cleo.sees("Some of the chosen events do not arrive")
	cleo.sees("invoice.paid needs invoices:read")
	cleo.inspect("webhook-scope-missing")
}
