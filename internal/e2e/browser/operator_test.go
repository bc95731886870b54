package browser_test

import (
	"net/http"
	"net/url"
	"testing"
)

// OPS-01, OPS-02: the whole life of a partner app through pages: it is registered in the
// console, submitted, changes are requested, it is submitted again and approved, connected
// to a business, suspended, reactivated and deactivated.
func TestLifeOfAnApp(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	dev, olga, otto := open(t), s.staff(t, "olga"), s.staff(t, "otto")
	clientID, secret := s.register(dev, "Dunning")
	dev.submit("Listing", ".side")
	dev.fill("Slug", "dunning")
	dev.fill("Summary", "Reminds of invoices.")
	dev.fill("Description", "It sends reminders.")
	dev.submit("Save draft")
	dev.submit("Submit for review")

	olga.submit("Reviews", ".side")
	otto.submit("Reviews", ".side")
	olga.inspect("operator-reviews")
	for _, b := range []*tab{olga, otto} { // the first is the listing, the second one the app
		b.submit("Dunning", "td:first-child")
	}
	olga.submit("Start review")
	olga.sees("You are now reviewing it.")
	otto.submit("Start review")
	if otto.status() != http.StatusConflict || otto.alert() != "Olga Brandt has taken this revision or decided about it" {
		t.Fatalf("OPS-02 two operators: %d %s", otto.status(), otto.where())
	}
	otto.inspect("operator-conflict")
	olga.inspect("operator-in-review")
	olga.fill("Note", "Say who it is for.")
	olga.submit("Request changes")
	olga.sees("The developers were asked for changes.")

	dev.submit("Listing", ".side")
	dev.sees("Say who it is for.")
	dev.fill("Summary", "Reminds customers of invoices.")
	dev.submit("Save draft")
	dev.submit("Submit for review")
	otto.submit("Reviews", ".side")
	otto.submit("Dunning", "td:first-child")
	otto.submit("Start review")
	otto.fill("Note", "Thank you.")
	otto.submit("Approve")
	otto.sees("It was approved, and counts from now on.")
	dev.submit("Listing", ".side")
	dev.sees("Live")
	dev.sees("Thank you.")

	ada := open(t)
	ada.visit(s.authorize(url.Values{"client_id": {clientID}}))
	ada.signIn("ada@example.com", "demo-ada")
	ada.choose("Moreau Mill")
	ada.submit("Allow")
	token := s.redeem(ada, clientID, secret)
	calls := func(want int) {
		t.Helper()
		if status, body := s.send(request{method: "GET", path: "/profile", token: token}); status != want {
			t.Fatalf("a call: %d %s, want %d", status, body, want)
		}
	}
	calls(http.StatusOK)

	olga.submit("Apps", ".side")
	olga.fill("Search", "dunning")
	olga.submit("Search apps")
	olga.submit("Dunning", "tbody")
	olga.inspect("operator-app")
	olga.press("Suspend the app…")
	olga.fill("Reason for the suspension", "It sends too many reminders.")
	olga.submit("Suspend")
	olga.sees("The app was suspended.")
	calls(http.StatusUnauthorized)
	dev.submit("Overview", ".side")
	dev.sees("It sends too many reminders.")
	dev.inspect("suspended")

	olga.press("Reactivate the app…")
	olga.fill("Reason for the reactivation", "It was corrected.")
	olga.submit("Reactivate")
	olga.sees("The app was reactivated.")
	calls(http.StatusOK)

	olga.press("Deactivate the app…")
	olga.fill("Reason for the deactivation", "Its maker asked for it.")
	olga.inspect("operator-deactivate")
	olga.submit("Deactivate for good")
	olga.sees("This app is deactivated, which is final.")
	calls(http.StatusUnauthorized)
	dev.submit("Overview", ".side")
	dev.sees("Its maker asked for it.")
	olga.submit("In the audit log")
	for _, entry := range []string{"App created", "Listing approved", "App suspended", "App reactivated", "App deactivated"} {
		olga.sees(entry)
	}
}

// register signs a developer in and creates an app. The browser then shows its overview.
func (s *service) register(b *tab, name string) (clientID, secret string) {
	s.t.Helper()
	b.visit(s.App + "/developer/apps/new")
	b.signIn("dev@example.com", "demo-dev")
	b.fill("Name", name)
	b.fill("Redirect URIs", s.partner.origin+"/callback")
	b.choose("profile:read")
	b.choose("invoices:read")
	b.submit("Create app")
	clientID, secret = get[string](b, `words(document.querySelector(".facts code"))`), b.secret()
	b.submit("Continue")
	return clientID, secret
}

// staff signs an operator in and opens the operator's start page. Before the sign-in that
// page is not found.
func (s *service) staff(t *testing.T, name string) *tab {
	t.Helper()
	b := open(t)
	if status := b.visit(s.App + "/operator"); status != http.StatusNotFound {
		t.Errorf("OPS-01 without a session: %d", status)
	}
	b.visit(s.App + "/login")
	b.signIn(name+"@example.com", "demo-"+name)
	b.submit("Operator", ".top")
	return b
}

// OPS-04: an operator can erase a user with scripts disabled.
func TestOperatorWithoutScript(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.enter(open(t).withoutScript(), "usr_olga", "")
	b.visit(s.App + "/operator/people")
	b.fill("Search", "usr_ben")
	b.submit("Search people")
	b.submit("Ben Okafor", "table")
	b.pick("Status", "Restricted")
	b.fill("Reason", "A request")
	b.submit("Set status")
	b.sees("The status of the user was changed.")
	b.press("Erase…")
	b.fill("Id of the user", "usr_ben")
	b.submit("Erase for good")
	b.sees("Consents ended")

	b.submit("Trusted documents", ".side")
	b.fill("Host", "agent.example")
	b.submit("Trust this host")
	b.press("Remove agent.example")
	b.submit("Remove it")
	b.sees("No host is trusted.")
	b.submit("Audit log", ".side")
	b.fill("Action", "user.erased")
	b.submit("Filter")
	b.sees("User erased")
}
