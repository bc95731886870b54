package browser_test

import (
	"strings"
	"testing"
)

// AZ-01, AZ-03, AZ-12: a person whose role may not connect apps sees which app it is and why,
// signs in with another account without script, and returns to the same request.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_ada", "biz_bakery")
	b.visit(s.authorize(map[string][]string{"redirect_uri": {"https://evil.example/"}}))
	if b.alert() != "redirect_uri does not match any registered URI" || b.title() != "Ledgerlink Sync was not connected" {
		t.Errorf("a wrong redirect URI: %s", b.where())
	}
	b.inspect("refused-redirect")

	b = s.enter(open(t), "usr_nia", "")
	b.visit(s.authorize(nil))
	if b.status() != 403 || b.alert() != "You do not have permission to connect apps to this business" {
		t.Fatalf("a person without a business: %s", b.where())
	}
	b.inspect("refused-permission")
	b.submit("Use another account")
	b.inspect("another-account")
	b.signIn("ada@example.com", "demo-ada")
	b.sees("Moreau Bakery")
	b.submit("Allow")
	if b.title() != "Back at the partner" || !strings.Contains(b.at(), "code=") {
		t.Errorf("allowed: %s", b.where())
	}
}

// The API page finds operations by a plain form, and a link to one opens it.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s, b := serve(t), open(t)
	b.visit(s.App + "/openapi")
	b.fill("Search operations and shapes", "enter code device")
	b.submit("Search")
	b.sees("Enter the code of a device")
	b.inspect("openapi-search")
	b.visit(get[string](b, `[...document.querySelectorAll("main a")].find((a) => a.hash === "#showDevice").href`))
	b.await(`document.querySelector("section:target")?.id === "showDevice"`)
}

// A page that refreshes itself shows that it is paused when its user is signed out.
func TestPaused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	b.visit(s.App + "/developer/apps/app_sync/webhooks/whk_sync")
	if n := get[int](b, `[...document.querySelectorAll(".pause[role=status]")].filter((e) => e.checkVisibility()).length`); n > 0 {
		t.Error("the page says that it is paused, and is not")
	}
	get[int](b, `fetch("/logout", {method: "POST", redirect: "manual"}).then(() => 1)`)
	b.await(`words(document.querySelector(".pause")) === "Updates are paused: you are signed out. Reload the page to sign in."`)
}
