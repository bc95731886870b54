package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

// embedded gives an app an App URL.
func embedded(n *console.NewApp) {
	url := "https://partner.example/app"
	n.AppURL = &url
}

// CON-05: an extension from its first day to its last.
func TestExtensions_CON05(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(embedded)
	all := "/apps/" + app.ID + "/extensions"
	o.get(all).want(http.StatusOK).shows("No extensions yet", "Add the first one")
	o.get(all+"/new").want(http.StatusOK).shows("https://partner.example/app", "customer (needs customers:read)").lacks("invoice (needs")
	o.later().post(all+"/new", "label", hostile, "resource_type", "invoice", "path", " /shipments?a=<b> ").
		wantTo(all+"?done=extension-added").shows("The extension was added.", hostile, "invoice", "/shipments?a=<b>").lacks("<script>alert", "<b>")
	kept, err := o.console.Extensions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	one := all + "/" + kept[0].ID
	page := o.get(one).want(http.StatusOK).shows(hostile).lacks("<script>alert")
	if !slices.Contains(page.values("value"), "/shipments?a=<b>") {
		t.Errorf("the form has %q", page.values("value"))
	}
	o.later().post(one, "label", "Shipment", "resource_type", "invoice", "path", "other").wantTo(all+"?done=extension-changed").shows("The extension was changed.", "Shipment", "other")
	o.later().post(one+"/delete").wantTo(all+"?done=extension-deleted").shows("The extension was deleted.", "No extensions yet")
	o.get(one).want(http.StatusNotFound)
	o.did(app, "extension.deleted", "extension.updated", "extension.added", "app.created")
}

// CON-05: each refusal shows with what was entered.
func TestExtensionRefused_CON05(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, bare := o.newApp(embedded), o.newApp()
	all := "/apps/" + app.ID + "/extensions"
	o.post(all+"/new", "label", "First", "resource_type", "invoice", "path", "/").want(http.StatusSeeOther)
	kept, err := o.console.Extensions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	one := all + "/" + kept[0].ID
	for _, path := range []string{all + "/new", one} {
		for _, test := range []struct{ label, resourceType, path, alert string }{
			{"Kept <i>", "customer", "/kept", "an extension of customer needs the app to request customers:read"},
			{"Kept <i>", "invoice", "//evil.example/kept", "the path //evil.example/kept does not lead to a page of the App URL's origin"},
			{"Kept <i>", "invoice", `\kept`, `the path \kept does not lead to a page of the App URL's origin`},
			{"", "invoice", "/kept", "label must not be empty"},
			{strings.Repeat("l", 81), "invoice", "/kept", "label must have at most 80 characters"},
		} {
			got := o.post(path, "label", test.label, "resource_type", test.resourceType, "path", test.path).want(http.StatusBadRequest).alerts(test.alert).lacks("<i>")
			if values := got.values("value"); !slices.Contains(values, test.label) || !slices.Contains(values, test.path) || !strings.Contains(got.Body, `value="`+test.resourceType+`" selected`) {
				t.Errorf("%s: not kept: %q", path, values)
			}
		}
	}
	o.get("/apps/"+bare.ID+"/extensions").shows("The app has no App URL yet", "Set the App URL")
	o.get("/apps/" + bare.ID + "/extensions/new").shows("The app has no App URL yet")
	o.refuses(app, []string{"/extensions", "/extensions/new", "/extensions/" + kept[0].ID}, []string{"/extensions/new", "/extensions/" + kept[0].ID, "/extensions/" + kept[0].ID + "/delete"})
	for _, path := range []string{"/apps/" + bare.ID + "/extensions/" + kept[0].ID, all + "/ext_absent"} {
		o.get(path).want(http.StatusNotFound)
		o.post(path, "label", "x").want(http.StatusNotFound)
		o.post(path + "/delete").want(http.StatusNotFound)
	}
}
