package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
)

// WH-01, CON-02: a developer adds a webhook and sees its secret once.
func TestNewWebhook_WH01(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/webhooks"
	o.get(at).want(http.StatusOK).shows("No webhooks yet", "Add the first one")
	form := o.get(at+"/new").want(http.StatusOK).shows("Invoice invoices:read", "invoice.paid An invoice was paid in full", "Credit note", "The app itself", "Privacy")
	if got, want := strings.Count(form.Body, `name="events"`), len(events.DefaultCatalog().All()); got != want {
		t.Errorf("%d events to choose from, want %d", got, want)
	}
	// CAT-02: the form shows which events cannot arrive before they are chosen.
	if told := strings.Count(form.text(), "not among the app's scopes"); told == 0 || strings.Contains(form.text(), "Invoice invoices:read not among") {
		t.Errorf("told %d times of scopes that the app lacks", told)
	}

	// What was entered stays, and nothing is made of it.
	page := o.post(at+"/new", "url", "http://partner.example/<hook>", "events", "invoice.paid", "events", "nonsense").want(http.StatusBadRequest)
	page.alerts("url must use https", `events[1] "nonsense" is not in the catalog`)
	if !slices.Contains(page.values("value"), "http://partner.example/<hook>") || !slices.Equal(page.checked(), []string{"invoice.paid"}) {
		t.Errorf("what was entered is lost: %s", page.Body)
	}
	o.get(at).shows("No webhooks yet")

	made := o.post(at+"/new", "url", "https://partner.example/hook", "events", "invoice.paid", "events", "app.installed").want(http.StatusOK)
	hook := o.webhooks(app)[0]
	o.onlyOnce(made, made.values("data-copy")[0], at+"/"+hook.ID)
	o.did(app, "webhook.created", "app.created")
	if !hook.Enabled || !slices.Equal(hook.Events, []string{"invoice.paid", "app.installed"}) {
		t.Errorf("the webhook is %+v", hook)
	}
	o.get(at).shows("https://partner.example/hook", "Working", "none yet")
}

func (o *harness) webhooks(app partner.App) []partner.Webhook {
	o.Helper()
	all, err := o.console.Webhooks(o.Context(), o.actor(ann), app.ID)
	o.must(err)
	return all
}

// WH-01: URL, events and the switch can be changed; a form with mistakes is shown
// again, opened.
func TestChangeWebhook_WH01(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid", "invoice.created")
	at := "/apps/" + app.ID + "/webhooks/" + hook.ID
	page := o.get(at).want(http.StatusOK).shows("https://partner.example/hook", "invoice.paid", "Nothing has been sent yet", "1 active secret")
	if checked := page.checked(); !slices.Equal(checked, []string{"invoice.created", "invoice.paid", "on"}) || strings.Contains(page.Body, "<details class=\"ask calm\" open") {
		t.Errorf("checked are %q", checked)
	}

	page = o.post(at, "url", "ftp://partner.example/", "events", "app.installed").want(http.StatusBadRequest).alerts("url must use https")
	if checked := page.checked(); !slices.Equal(checked, []string{"app.installed"}) || !slices.Contains(page.values("value"), "ftp://partner.example/") ||
		!strings.Contains(page.Body, "<details class=\"ask calm\" open") {
		t.Errorf("what was entered is lost: %s", page.Body)
	}
	page.shows("https://partner.example/hook") // what it still is

	// A test sends the first event, so the order of the events must not change to the page's.
	o.post(at, "url", "https://partner.example/new", "events", "app.installed", "events", "invoice.created", "events", "invoice.paid", "enabled", "on").
		wantTo(at+"?done=webhook-updated").shows("The webhook was updated.", "https://partner.example/new", "Working")
	now := o.webhooks(app)[0]
	if want := []string{"invoice.paid", "invoice.created", "app.installed"}; !slices.Equal(now.Events, want) || !now.Enabled {
		t.Errorf("the webhook is %+v", now)
	}
	o.did(app, "webhook.updated", "app.created")

	o.post(at, "url", "https://partner.example/new").wantTo(at+"?done=webhook-updated").shows("Off", "None chosen")
	// TST-02: one that is off is not tested.
	o.post(at + "/test").want(http.StatusBadRequest).alerts("the webhook is switched off").shows("Nothing has been sent yet")

	o.post(at+"/delete").wantTo("/apps/"+app.ID+"/webhooks?done=webhook-deleted").shows("The webhook was deleted.", "No webhooks yet")
	o.did(app, "webhook.deleted", "webhook.updated")
	o.get(at).want(http.StatusNotFound).alerts("webhook not found")
	o.post(at + "/delete").want(http.StatusNotFound)
}

// SIG-02, CON-01: a new secret is shown once; how long the old one still signs is
// counted by the clock of the platform.
func TestRotateSecret_SIG02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	hook := o.newWebhook(app, "https://partner.example/hook")
	at := "/apps/" + app.ID + "/webhooks/" + hook.ID
	rotated := o.post(at + "/rotate-secret").want(http.StatusOK).shows("for another 24:00:00 (2 Sep 2026, 12:00:00 UTC)")
	o.onlyOnce(rotated, rotated.values("data-copy")[0], at)
	o.did(app, "webhook.secret_rotated", "app.created")
	o.clock.Advance(90 * time.Minute)
	page := o.get(at).shows("2 active secrets", "ends in 22:30:00", "2 Sep 2026, 12:00:00 UTC")
	if left := page.values("data-countdown"); !slices.Equal(left, []string{"81000"}) {
		t.Errorf("counts down from %q", left)
	}
	o.clock.Advance(24 * time.Hour)
	o.get(at).shows("1 active secret").lacks("data-countdown")
	o.post("/apps/" + app.ID + "/webhooks/nope/rotate-secret").want(http.StatusNotFound)
}
