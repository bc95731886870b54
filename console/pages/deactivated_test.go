package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

// Of a deactivated app all can be read. Pages offer nothing else, and forms that were
// open before are refused with what stands there.
func TestDeactivatedApp(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, by := o.newApp(embedded), o.actor(ann)
	field, err := o.console.DeclareField(t.Context(), by, app.ID, appdata.Declaration{
		ResourceType: optional.Of("invoice"), Key: optional.Of("k"), Type: optional.Of(valuestore.Text),
	})
	o.must(err)
	extension, err := o.console.AddExtension(t.Context(), by, app.ID, console.NewExtension{ResourceType: "invoice", Path: "/", Label: "Page"})
	o.must(err)
	function, err := o.console.AddFunction(t.Context(), by, app.ID, console.NewFunction{Name: "Function", Source: "export default f"})
	o.must(err)
	_, err = o.console.CreateListing(t.Context(), by, app.ID, consolestore.ListingContent{Slug: "sync"})
	o.must(err)
	icon := o.newAsset(app, consolestore.AssetIcon)
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))

	own := "/apps/" + app.ID
	for path, shown := range map[string]string{
		"": "This app is deactivated", "/fields": "k", "/fields/new": "deactivated", "/fields/" + field.ID: "invoice", "/listing": "sync",
		"/extensions": "Page", "/extensions/new": "deactivated", "/extensions/" + extension.ID: "Page",
		"/functions": "Function", "/functions/new": "deactivated", "/functions/" + function.ID: "export default f", "/analytics": "No calls", "/audit": "App created",
	} {
		page := o.get(own+path).want(http.StatusOK).shows(shown).lacks("<button class=\"primary\"", "<details class=\"ask")
		if strings.Contains(page.Body, "<fieldset>") {
			t.Errorf("%s can be filled in", path)
		}
	}
	o.get(own + "/assets/" + icon).want(http.StatusOK)
	const refusal = "the app is deactivated and read-only"
	for _, path := range []string{
		"/fields/new", "/fields/" + field.ID, "/fields/" + field.ID + "/delete", "/listing", "/listing/submit", "/assets/" + icon + "/delete",
		"/extensions/new", "/extensions/" + extension.ID, "/extensions/" + extension.ID + "/delete", "/functions/new", "/functions/" + function.ID + "/delete",
	} {
		o.post(own+path, "label", "x").want(http.StatusBadRequest).alerts(refusal)
	}
	o.upload(app, ann, "icon", o.png(128, 128)).want(http.StatusBadRequest).alerts(refusal)
}
