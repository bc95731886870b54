package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

// CON-06: a function is uploaded, shown as text, and deleted.
func TestFunctions_CON06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	all := "/apps/" + app.ID + "/functions"
	o.get(all).want(http.StatusOK).shows("No functions yet")
	const source = "\nexport const handler = () => `</code></pre><script>alert(\"x\")</script>`;\n"
	o.later().post(all+"/new", "name", "Round <b>", "source", strings.ReplaceAll(source, "\n", "\r\n")).
		wantTo(all+"?done=function-added").shows("The function was uploaded.", "Round <b>").lacks("<b>")
	kept, err := o.console.Functions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	if kept[0].Source != source {
		t.Errorf("kept %q", kept[0].Source)
	}
	one := all + "/" + kept[0].ID
	o.get(one).want(http.StatusOK).shows("Round <b>", `export const handler = () => `+"`</code></pre><script>alert(\"x\")</script>`;").lacks("<script>alert", "<b>")
	o.later().post(one+"/delete").wantTo(all+"?done=function-deleted").shows("The function was deleted.", "No functions yet")
	o.get(one).want(http.StatusNotFound)
	o.did(app, "function.deleted", "function.added")
}

// CON-06: a source without a handler is rejected with the reason, and stays in the form.
func TestFunctionRefused_CON06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, other := o.newApp(), o.newApp()
	all := "/apps/" + app.ID + "/functions"
	const lead = "the source is not an ES module that exports a handler: "
	for _, test := range []struct{ name, source, alert string }{
		{"kept", "export const other = '<i>';", lead + "there is no export named handler, and no default one"},
		{"kept", "export const <i>", lead + `line 1, column 14: Expected identifier but found "<"`},
		{"kept", "", lead + "there is no export named handler, and no default one"},
		{"", "export default f // <i>", "name must not be empty"},
		{"kept", "export default f //" + strings.Repeat("x", console.MaxFunctionSource), "source must have at most 65536 bytes"},
	} {
		got := o.post(all+"/new", "name", test.name, "source", test.source).want(http.StatusBadRequest).alerts(test.alert).shows(test.source).lacks("<i>")
		if !slices.Contains(got.values("value"), test.name) {
			t.Errorf("the name was not kept")
		}
	}
	o.post(all+"/new", "name", "one", "source", "export default () => 1").want(http.StatusSeeOther)
	kept, err := o.console.Functions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	o.refuses(app, []string{"/functions", "/functions/new", "/functions/" + kept[0].ID}, []string{"/functions/new", "/functions/" + kept[0].ID + "/delete"})
	for _, path := range []string{"/apps/" + other.ID + "/functions/" + kept[0].ID, all + "/fnc_absent"} {
		o.get(path).want(http.StatusNotFound)
		o.post(path + "/delete").want(http.StatusNotFound)
	}
}
