package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// fieldsOf are the rules of an app's fields, as JSON by their keys.
func (o *harness) fieldsOf(app partner.App) map[string]string {
	o.Helper()
	fields, err := o.console.Fields(o.Context(), o.actor(ann), app.ID)
	o.must(err)
	all := map[string]string{}
	for _, field := range fields {
		text, err := apierror.EncodeJSON(struct {
			Type  valuestore.Type `json:"type"`
			Label string          `json:"label,omitempty"`
			valuestore.Rules
		}{field.Type, field.Label, field.Rules})
		o.must(err)
		all[field.ResourceType+" "+field.Key] = string(text)
	}
	return all
}

// fieldID is that of the app's one field.
func (o *harness) fieldID(app partner.App) string {
	o.Helper()
	fields, err := o.console.Fields(o.Context(), o.actor(ann), app.ID)
	o.must(err)
	return fields[0].ID
}

// APD-06: fields of all types, each with its rules; a form sends all that there are.
func TestDeclareFields_APD06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	all := "/apps/" + app.ID + "/fields"
	o.get(all).want(http.StatusOK).shows("No fields yet")
	empty := []string{"label", "", "min_length", "", "max_length", "", "min", "", "max", "", "decimals", "", "from", "", "to", "", "choices", "\r\n"}
	for _, form := range [][]string{
		{"resource_type", "invoice", "key", "text", "type", "TEXT", "label", " Tracking <b>code</b> ", "min_length", "1", "max_length", "40"},
		{"resource_type", "customer", "key", "number", "type", "NUMBER", "min", "-0.50", "max", "1e3", "decimals", "2"},
		{"resource_type", "payment", "key", "bool", "type", "BOOLEAN"},
		{"resource_type", "account", "key", "date", "type", "DATE", "from", "2026-01-01", "to", "2026-12-31"},
		{"resource_type", "supplier", "key", "url", "type", "URL", "max_length", "100"},
		{"resource_type", "journal_entry", "key", "choice", "type", "CHOICE", "choices", " post \r\n\r\ncourier & <i>\r\n"},
	} {
		o.later().post(all+"/new", append(form, empty...)...).wantTo(all + "?done=field-declared").shows("The field was declared.")
	}
	want := map[string]string{
		"invoice text":         `{"type":"TEXT","label":"Tracking <b>code</b>","minLength":1,"maxLength":40}`,
		"customer number":      `{"type":"NUMBER","min":-0.50,"max":1e3,"decimals":2}`,
		"payment bool":         `{"type":"BOOLEAN"}`,
		"account date":         `{"type":"DATE","from":"2026-01-01","to":"2026-12-31"}`,
		"supplier url":         `{"type":"URL","maxLength":100}`,
		"journal_entry choice": `{"type":"CHOICE","choices":["post","courier & <i>"]}`,
	}
	if diff := cmp.Diff(want, o.fieldsOf(app)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	o.get(all).shows("text", "Tracking <b>code</b>", "at least 1 characters, at most 40 characters", "from -0.50, up to 1e3, decimals: 2",
		"from 2026-01-01, until 2026-12-31", "at most 100 characters", "one of post, courier & <i>").lacks("<i>", "<b>")
	o.did(app, slices.Repeat([]string{"app_data_field.created"}, 6)...)
}

// APD-06, CON-06: what is refused is said, all of it, and what was entered stays.
func TestFieldRefused_APD06_CON06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	all := "/apps/" + app.ID + "/fields"
	got := o.post(all+"/new", "resource_type", "payment", "key", "1 key", "type", "TEXT", "label", hostile, "min_length", "many", "max_length", "0",
		"min", "5", "decimals", "x", "from", "2026-02-30", "choices", "a\nb").want(http.StatusBadRequest)
	got.alerts("key must be a letter and up to 63 letters, digits, dots, hyphens and underscores", "min is not a rule of TEXT", "decimals is not a rule of TEXT",
		"from is not a rule of TEXT", "choices is not a rule of TEXT", "minLength must be a whole number from 0 to 4096", "maxLength must be a whole number from 1 to 4096").
		lacks("<script>alert")
	for _, kept := range []string{"1 key", hostile, "many", "0", "5", "x", "2026-02-30"} {
		if !slices.Contains(got.values("value"), kept) {
			t.Errorf("%q was not kept: %q", kept, got.values("value"))
		}
	}
	if !strings.Contains(got.Body, "<option selected>payment") || !strings.Contains(got.Body, ">a\nb</textarea>") {
		t.Errorf("not kept: %s", got.Body)
	}
	number := func(pairs ...string) response {
		return o.post(all+"/new", append([]string{"resource_type", "invoice", "key", "n", "type", "NUMBER"}, pairs...)...).want(http.StatusBadRequest)
	}
	number("min", "1_0").alerts("min must be a number of at most 40 digits before and after the decimal point")
	number("min", "2", "max", "1").alerts("min must not be greater than max")
	number("decimals", "99999999999999999999").alerts("decimals must be a whole number from 0 to 40")
	const choices = "choices takes 1 to 50 different texts of 1 to 60 characters"
	for _, text := range []string{"", " \n ", "a\na ", strings.Repeat("x", 61)} {
		o.post(all+"/new", "resource_type", "invoice", "key", "c", "type", "CHOICE", "choices", text).want(http.StatusBadRequest).alerts(choices)
	}
	o.post(all+"/new", "resource_type", "invoice", "key", "t", "type", "TEXT").want(http.StatusSeeOther)
	o.post(all+"/new", "resource_type", "invoice", "key", "t", "type", "URL").alerts("key t is declared for invoice already")
	if len(o.fieldsOf(app)) != 1 {
		t.Errorf("there are %v", o.fieldsOf(app))
	}
}

// APD-06: a change sets the properties that the form contains and removes those that it
// leaves empty; the page warns before a deletion that the values are deleted too.
func TestChangeField_APD06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	all := "/apps/" + app.ID + "/fields"
	for _, test := range []struct {
		declared []string
		shown    []string // the names of its rules
		change   []string
		want     string
	}{
		{[]string{"type", "TEXT", "label", "L", "min_length", "1", "max_length", "9"}, []string{"min_length", "max_length"}, []string{"max_length", "8"}, `{"type":"TEXT","maxLength":8}`},
		{[]string{"type", "NUMBER", "min", "1", "max", "2.50"}, []string{"min", "max", "decimals"}, []string{"label", "N", "max", "2.50", "decimals", "0"}, `{"type":"NUMBER","label":"N","max":2.50,"decimals":0}`},
		{[]string{"type", "BOOLEAN", "label", "L"}, nil, []string{"label", "M"}, `{"type":"BOOLEAN","label":"M"}`},
		{[]string{"type", "DATE", "from", "2026-01-01"}, []string{"from", "to"}, []string{"to", "2026-01-02"}, `{"type":"DATE","to":"2026-01-02"}`},
		{[]string{"type", "URL", "max_length", "5"}, []string{"max_length"}, nil, `{"type":"URL"}`},
		{[]string{"type", "CHOICE", "choices", "a\nb"}, []string{"choices"}, []string{"choices", "b\r\nc"}, `{"type":"CHOICE","choices":["b","c"]}`},
	} {
		o.later().post(all+"/new", append([]string{"resource_type", "invoice", "key", "k"}, test.declared...)...).want(http.StatusSeeOther)
		one := all + "/" + o.fieldID(app)
		page := o.get(one).want(http.StatusOK).shows("Its values in all businesses are deleted")
		names := slices.DeleteFunc(page.values("name"), func(name string) bool {
			return slices.Contains([]string{"viewport", "color-scheme", "robots", "q", "label", "version"}, name)
		})
		if !slices.Equal(names, test.shown) {
			t.Errorf("%s has the fields %q", test.declared[1], names)
		}
		o.later().post(one, test.change...).wantTo(all + "?done=field-changed").shows("The field was changed.")
		if got := o.fieldsOf(app)["invoice k"]; got != test.want {
			t.Errorf("changed to %s, want %s", got, test.want)
		}
		o.later().post(one+"/delete").wantTo(all+"?done=field-deleted").shows("The field and its values were deleted.", "No fields yet")
		o.get(one).want(http.StatusNotFound)
	}
	o.did(app, "app_data_field.deleted", "app_data_field.updated", "app_data_field.created")
}

func TestChangeFieldRefused_CON06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	all := "/apps/" + app.ID + "/fields"
	o.post(all+"/new", "resource_type", "invoice", "key", "k", "type", "CHOICE", "choices", "a").want(http.StatusSeeOther)
	one := all + "/" + o.fieldID(app)
	got := o.post(one, "label", strings.Repeat("x", 121), "choices", "a").want(http.StatusBadRequest).alerts("label must be a text of at most 120 characters")
	if !slices.Contains(got.values("value"), strings.Repeat("x", 121)) {
		t.Error("the label was not kept")
	}
	o.post(one, "choices", "<i>\n<i>").want(http.StatusBadRequest).alerts("choices takes 1 to 50 different texts of 1 to 60 characters").shows("<i> <i>").lacks("<i>")
	o.refuses(app, []string{"/fields", "/fields/new", "/fields/" + o.fieldID(app)}, []string{"/fields/new", "/fields/" + o.fieldID(app), "/fields/" + o.fieldID(app) + "/delete"})
	other := o.newApp()
	for _, path := range []string{"/apps/" + other.ID + "/fields/" + o.fieldID(app), all + "/adf_absent"} {
		o.get(path).want(http.StatusNotFound)
		o.post(path, "label", "x").want(http.StatusNotFound)
		o.post(path + "/delete").want(http.StatusNotFound)
	}
}

// A console without app data says so, and takes no fields.
func TestWithoutAppData(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	bare, err := console.New(console.Config{Store: o.store, Host: o.host, OAuth: o.oauth, Webhooks: o.Hooks, Analytics: o.Calls, Clock: o.clock})
	o.must(err)
	o.pages, err = pages.New(pages.Config{Console: bare, SignIn: o.host.SignIn})
	o.must(err)
	all := "/apps/" + app.ID + "/fields"
	o.get(all).want(http.StatusOK).shows("This service does not let apps attach data")
	o.get(all + "/new").want(http.StatusNotFound)
	o.get(all + "/adf_1").want(http.StatusNotFound)
	o.post(all+"/new", "key", "k").want(http.StatusNotFound)
	o.post(all + "/adf_1").want(http.StatusNotFound)
	o.post(all + "/adf_1/delete").want(http.StatusNotFound)
}
