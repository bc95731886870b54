package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
)

// CON-02: actions that cannot be undone ask first, and the question can be cancelled
// without script.
func TestQuestionsCanBeCancelled_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(embedded)
	own := "/apps/" + app.ID
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	o.newAsset(app, consolestore.AssetIcon)
	o.post(own+"/fields/new", "resource_type", "invoice", "key", "k", "type", "TEXT").want(http.StatusSeeOther)
	o.post(own+"/extensions/new", "label", "x", "resource_type", "invoice", "path", "/").want(http.StatusSeeOther)
	o.post(own+"/functions/new", "name", "x", "source", "export default f").want(http.StatusSeeOther)
	o.post(own + "/secrets").want(http.StatusOK)
	o.post("/tokens", "name", "x", "expires_in_days", "1").want(http.StatusOK)
	extensions, err := o.console.Extensions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	functions, err := o.console.Functions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	for path, questions := range map[string]int{
		own + "/webhooks/" + hook.ID:                 3, // one of them is the form that changes it
		own + "/webhooks/" + hook.ID + "/deliveries": 1,
		own + "/fields/" + o.fieldID(app):            1,
		own + "/extensions/" + extensions[0].ID:      1,
		own + "/functions/" + functions[0].ID:        1,
		own + "/listing":                             1,
		own + "/secrets":                             2,
		"/tokens":                                    1,
	} {
		page := o.get(path).want(http.StatusOK)
		if asked, cancelled := strings.Count(page.Body, `<details class="ask`), strings.Count(page.Body, `<span class="cancel">Cancel</span></summary>`); asked != questions || cancelled != questions {
			t.Errorf("%s: %d questions, %d of them with Cancel, want %d", path, asked, cancelled, questions)
		}
		rest := page.Body
		for {
			before, after, found := strings.Cut(rest, `class="danger`)
			if !found {
				break
			}
			if strings.LastIndex(before, `<details class="ask`) <= strings.LastIndex(before, "</details>") {
				t.Errorf("%s: a button does it without a question: %s", path, after[:min(len(after), 80)])
			}
			rest = after
		}
	}
}

// CON-02: an action that must fail is not offered, and the page says why.
func TestActionsThatMustFail_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	own := "/apps/" + app.ID
	hook := o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	at := own + "/webhooks/" + hook.ID
	delivery, err := o.Hooks.SendTest(t.Context(), app.ID, hook.ID, "")
	o.must(err)
	failed := at + "/deliveries/" + delivery.ID
	_, err = o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_delivery SET status = 'failed', next_attempt_at = NULL")
	o.must(err)
	tests, again, all := `action="`+o.prefix+at+`/test"`, `action="`+o.prefix+failed+`/redeliver"`, `action="`+o.prefix+at+`/redeliver"`
	offered := func(page response, action string) {
		t.Helper()
		if !strings.Contains(page.Body, action) {
			t.Errorf("%s: does not offer %s", page.Request, action)
		}
	}
	offered(o.get(at), tests)
	offered(o.get(failed), again)
	offered(o.get(at+"/deliveries"), all)
	o.post(at, "url", hook.URL, "events", "invoice.paid").want(http.StatusSeeOther) // switches it off
	const off = "Nothing can be sent while the webhook is off."
	o.get(at).shows(off).lacks(tests)
	o.get(failed).shows(off).lacks(again)
	o.get(at + "/deliveries").shows(off).lacks(all)
	o.post(at, "url", hook.URL, "events", "invoice.paid", "enabled", "on").want(http.StatusSeeOther)
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
	const suspended = "Nothing can be sent while the app is suspended."
	o.get(at).shows(suspended).lacks(tests)
	o.get(failed).shows(suspended).lacks(again)
	o.get(at + "/deliveries").shows(suspended).lacks(all)
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppActive))
	o.clock.Advance(o.console.DeliveriesKept())
	o.get(failed).shows("It cannot be sent again: it is older than 30 days.").lacks(again)

	// Secrets: the last valid one stays, and two are the most.
	o.get(own+"/secrets").shows("The only valid one cannot be ended: add another one first.", "Add a secret").lacks("Expire now")
	o.post(own + "/secrets").want(http.StatusOK)
	o.get(own+"/secrets").shows("2 are valid now: end one to add another.", "Expire now").lacks("Add a secret")

	// Extensions need an App URL, and a scope to read records.
	o.get(own + "/extensions/new").shows("An extension needs the App URL.").lacks("Add extension")
	reader := o.newApp(embedded)
	page := o.get("/apps/" + reader.ID + "/extensions/new").shows("Add extension")
	if !strings.Contains(page.Body, `<option value="customer" disabled>`) || strings.Contains(page.Body, `<option value="invoice" disabled>`) {
		t.Errorf("the choices are %s", page.Body)
	}
	blind := o.newApp(embedded, func(n *console.NewApp) { n.Scopes = []string{"profile:read"} })
	o.get("/apps/" + blind.ID + "/extensions/new").shows("An extension needs a scope to read records.").lacks("Add extension")

	// A listing is submitted when it is complete.
	o.post(own+"/listing", "first", "1", "slug", "sync", "summary", "Syncs.").want(http.StatusSeeOther)
	o.get(own + "/listing").shows("The draft cannot be submitted for review yet. It has no Name, no Description.").lacks("Submit for review")
}

// CON-12: what an app has as many of as it may have cannot be added to, and the page says so.
func TestFullLists_CON12(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(embedded)
	own := "/apps/" + app.ID
	for range o.console.MaxWebhooks() {
		o.newWebhook(app, "https://partner.example/hook")
	}
	for range o.console.MaxFunctions() {
		o.post(own+"/functions/new", "name", "x", "source", "export default f").want(http.StatusSeeOther)
	}
	for range console.MaxExtensions {
		o.post(own+"/extensions/new", "label", "x", "resource_type", "invoice", "path", "/").want(http.StatusSeeOther)
	}
	for i := range appdata.MaxFields {
		o.post(own+"/fields/new", "resource_type", "invoice", "key", "k"+strings.Repeat("k", i%60)+string(rune('a'+i/60)), "type", "TEXT").want(http.StatusSeeOther)
	}
	for path, text := range map[string]string{
		"/webhooks": "An app has at most 20 webhooks.", "/functions": "An app has at most 20 functions.", "/extensions": "An app has at most 50 extensions.", "/fields": "An app has at most 100 fields.",
	} {
		o.get(own + path).shows(text + " Delete one to add another.").lacks(o.prefix + own + path + "/new")
	}
	other := o.newApp()
	o.newWebhook(other, "https://partner.example/hook")
	o.get("/apps/" + other.ID + "/webhooks").shows("New webhook").lacks("at most")
}
