package pages_test

import (
	"html"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console/consolestore"
)

// CON-13: of two tabs the second one learns that the first has saved meanwhile, and keeps what was
// entered. Saving it again is a decision, and replaces the first.
func TestTwoTabs_CON13(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	own := "/apps/" + app.ID
	hook := own + "/webhooks/" + o.newWebhook(app, "https://partner.example/hook", "invoice.paid").ID
	o.post(own+"/fields/new", "resource_type", "invoice", "key", "k", "type", "TEXT").want(http.StatusSeeOther)
	field := own + "/fields/" + o.fieldID(app)
	_, err := o.console.CreateListing(t.Context(), o.actor(ann), app.ID, consolestore.ListingContent{Slug: "sync"})
	o.must(err)
	for _, test := range []struct {
		what, at, entry string
		rest            []string
	}{
		{"the app", own + "/settings", "name", []string{"redirect_uris", "https://partner.example/", "scopes", "invoices:read"}},
		{"the webhook", hook, "url", []string{"events", "invoice.paid", "enabled", "on"}},
		{"the field", field, "label", nil},
		{"the listing", own + "/listing", "summary", []string{"slug", "sync"}},
	} {
		entry := func(text string) string {
			text += "-" + test.entry
			if test.entry == "url" {
				return "https://partner.example/" + text
			}
			return text
		}
		read := hidden(t, o.get(test.at).Body)
		send := func(text, version string) response {
			return o.post(test.at, append(test.rest, test.entry, entry(text), "version", version)...)
		}
		send("First", read).want(http.StatusSeeOther)
		again := send("Second", read).want(http.StatusConflict).shows("somebody else has changed "+test.what, "What you entered is below and is not saved")
		if !slices.Contains(again.values("value"), entry("Second")) {
			t.Errorf("%s: what was entered is lost: %s", test.what, again.Body)
		}
		if page := o.get(test.at).Body; !strings.Contains(page, entry("First")) || strings.Contains(page, entry("Second")) {
			t.Errorf("%s was replaced: %s", test.what, page)
		}
		// A mistake does not make the form one of the last version.
		if test.entry != "label" {
			broken := o.post(test.at, append(test.rest, test.entry, strings.Repeat("é", 300), "version", read)...)
			if broken.Status == http.StatusBadRequest && hidden(t, broken.Body) != read {
				t.Errorf("%s: after a mistake the form has another version", test.what)
			}
		}
		send("Second", hidden(t, again.Body)).want(http.StatusSeeOther)
		if page := o.get(test.at).Body; !strings.Contains(page, entry("Second")) {
			t.Errorf("%s was not replaced: %s", test.what, page)
		}
		send("Third", "nonsense").want(http.StatusConflict)
	}
}

// hidden returns the version in the form of a page.
func hidden(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `name="version" value="`)
	version, _, _ := strings.Cut(rest, `"`)
	if !found || version == "" {
		t.Fatalf("no version in %s", page)
	}
	return html.UnescapeString(version)
}
