package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partnertest"
)

// CON-02: what is wrong with a field stands beside it in the words of the form, the first
// field with a problem has the focus, and everything that was entered is kept.
func TestProblemsBesideFields_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(func(n *console.NewApp) { n.AppURL = new("https://partner.example/app") })
	own := "/apps/" + app.ID
	o.post(own+"/fields/new", "resource_type", "invoice", "key", "n", "type", "NUMBER").want(http.StatusSeeOther)
	o.post(own+"/extensions/new", "label", "x", "resource_type", "invoice", "path", "/p").want(http.StatusSeeOther)
	extensions, err := o.console.Extensions(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	field, extension, hook := o.fieldID(app), extensions[0].ID, o.newWebhook(app, "https://partner.example/hook", "invoice.paid")
	icon := o.newAsset(app, consolestore.AssetIcon)
	o.newAsset(app, consolestore.AssetScreenshot)
	gone := map[string][]string{ // choices that do not exist are not shown again
		"new app": {"type", "organization_id"}, "console token": {"organization_id"}, "new extension": {"resource_type"}, "images of a listing": {"icon", "screenshots"},
		"new webhook": {"events"}, "webhook": {"events"},
	}
	for _, test := range []struct {
		name, path string
		by         string // empty: Ann
		form       url.Values
		problems   [][2]string // the field and its text, the first one first
	}{
		{
			"new app", "/apps/new", ben,
			url.Values{"name": {" "}, "type": {"OTHER"}, "organization_id": {"org_3"}, "redirect_uris": {"\nftp://partner.example/"}, "app_url": {"http://partner.example/"}, "scopes": {"invoices:read"}},
			[][2]string{
				{"name", "Name must have 1 to 120 characters"}, {"type", "Type must be CONFIDENTIAL or PUBLIC"},
				{"organization_id", "Organization must be an organization that you are a member of"}, {"redirect_uris", "Line 2 is not https"}, {"app_url", "App URL is not https"},
			},
		},
		{
			"no scopes", own + "/settings", "", url.Values{"name": {"Sync"}, "redirect_uris": {"https://partner.example/"}},
			[][2]string{{"scopes", "Scopes must have at least one entry"}},
		},
		{
			"too many redirect URIs", own + "/settings", "",
			url.Values{"name": {"Sync"}, "redirect_uris": {manyURIs(101)}, "scopes": {"invoices:read"}},
			[][2]string{{"redirect_uris", "An app has at most 100 redirect URIs"}},
		},
		{
			"registration", "/registration", ben, url.Values{}, [][2]string{{"organization_id", "Organization is required: you are a member of several organizations"}},
		},
		{
			"console token", "/tokens", ben, url.Values{"name": {"x"}, "organization_id": {"org_9"}, "expires_in_days": {"400"}},
			[][2]string{{"organization_id", "Organization must be an organization that you are a member of"}, {"expires_in_days", "Valid for must be a whole number from 1 to 365"}},
		},
		{
			"new field", own + "/fields/new", "", url.Values{"resource_type": {"invoice"}, "type": {"DATE"}, "key": {"1"}, "label": {strings.Repeat("x", 121)}, "from": {"2026-02-30"}, "to": {"soon"}, "min": {"5"}},
			[][2]string{
				{"key", "Key must be a letter and up to 63 letters, digits, dots, hyphens and underscores"}, {"label", "Label must be a text of at most 120 characters"},
				{"min", "Smallest is not a rule of DATE"}, {"from", "First day must be a date such as 2026-09-01"}, {"to", "Last day must be a date such as 2026-09-01"},
			},
		},
		{
			"choices", own + "/fields/new", "", url.Values{"resource_type": {"invoice"}, "type": {"CHOICE"}, "key": {"c"}, "choices": {"a\na"}},
			[][2]string{{"choices", "Choices takes 1 to 50 different texts of 1 to 60 characters"}},
		},
		{
			"field", own + "/fields/" + field, "", url.Values{"decimals": {"many"}, "max": {"1,5"}},
			[][2]string{{"max", "Largest must be a number of at most 40 digits before and after the decimal point"}, {"decimals", "Decimals must be a whole number from 0 to 40"}},
		},
		{
			"listing", own + "/listing", "", url.Values{
				"first": {"1"}, "slug": {"-"}, "name": {strings.Repeat("x", 121)}, "summary": {strings.Repeat("x", 201)}, "description": {strings.Repeat("x", 10_001)},
				"publisher": {strings.Repeat("x", 121)}, "termsUrl": {"http://partner.example/"}, "privacyUrl": {"no"}, "icon": {icon},
			},
			[][2]string{
				{"slug", "Slug must have 3 to 60 of a-z, 0-9 and hyphens, and not begin or end with a hyphen"}, {"name", "Name must have 1 to 120 characters"},
				{"summary", "Summary must have at most 200 characters"}, {"description", "Description must have at most 10000 characters"}, {"publisher", "Publisher must have at most 120 characters"},
				{"termsUrl", "Terms must be an https URL of at most 512 characters"}, {"privacyUrl", "Privacy policy must be an https URL of at most 512 characters"},
			},
		},
		{
			"images of a listing", own + "/listing", "", url.Values{"first": {"1"}, "slug": {"sync"}, "icon": {"ast_x"}, "screenshots": {"ast_y"}},
			[][2]string{{"icon", "Icon must be an icon of this app"}, {"screenshots", "Screenshot 1 must be a screenshot of this app"}},
		},
		{
			"new extension", own + "/extensions/new", "", url.Values{"label": {""}, "resource_type": {"nonsense"}, "path": {""}},
			[][2]string{
				{"label", "Label must not be empty"}, {"resource_type", "Records must be one of account, customer, invoice, journal_entry, payment, supplier"}, {"path", "Path must have 1 to 2000 bytes"},
			},
		},
		{
			"extension without its scope", own + "/extensions/" + extension, "", url.Values{"label": {"x"}, "resource_type": {"customer"}, "path": {"/p"}},
			[][2]string{{"resource_type", "An extension of customer needs the app to request customers:read"}},
		},
		{
			"extension elsewhere", own + "/extensions/" + extension, "", url.Values{"label": {"x"}, "resource_type": {"invoice"}, "path": {"//evil.example/"}},
			[][2]string{{"path", "The path //evil.example/ does not lead to a page of the App URL's origin"}},
		},
		{
			"function", own + "/functions/new", "", url.Values{"name": {" "}, "source": {strings.Repeat(" ", 64<<10+1)}},
			[][2]string{{"name", "Name must not be empty"}, {"source", "Source must have at most 65536 bytes"}},
		},
		{
			"new webhook", own + "/webhooks/new", "", url.Values{"url": {"http://partner.example/"}, "events": {"nonsense"}},
			[][2]string{{"url", "URL must use https"}, {"events", `Events "nonsense" is not in the catalog`}},
		},
		{
			"webhook", own + "/webhooks/" + hook.ID, "", url.Values{"url": {"https://partner.example/"}, "events": {"nonsense"}},
			[][2]string{{"events", `Events "nonsense" is not in the catalog`}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := o.send(ask{method: http.MethodPost, path: test.path, by: or(test.by, ann), form: test.form}).want(http.StatusBadRequest)
			var marked []string
			for i, one := range test.problems {
				page.marks(one[0], one[1])
				marked = append(marked, one[0])
				if focus := page.focused(); i == 0 && !slices.Equal(focus, []string{one[0]}) {
					t.Errorf("%s: the focus is on %q, want %q", test.name, focus, one[0])
				}
			}
			if got := page.values("id"); slices.ContainsFunc(got, func(id string) bool {
				field, isProblem := strings.CutSuffix(id, "-problem")
				return isProblem && !slices.Contains(marked, field)
			}) {
				t.Errorf("other fields have problems too: %q", got)
			}
			for _, choice := range gone[test.name] {
				test.form.Del(choice)
			}
			page.keeps(test.form)
		})
	}
}

// manyURIs returns different redirect URIs, one in each line.
func manyURIs(n int) string {
	uris := make([]string, n)
	for i := range uris {
		uris[i] = "https://partner.example/" + strconv.Itoa(i)
	}
	return strings.Join(uris, "\n")
}

// A function that the checker rejects has the reason beside its source.
func TestSourceProblem_CON06(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	page := o.post("/apps/"+app.ID+"/functions/new", "name", "x", "source", "export const other = 1").want(http.StatusBadRequest)
	page.marks("source", "The source is not an ES module that exports a handler: there is no export named handler, and no default one")
}

// SLUG_TAKEN is about the slug, LISTING_EXISTS about no field.
func TestListingProblems_CON03(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	one, other := o.newApp(), o.newApp()
	o.post("/apps/"+one.ID+"/listing", "first", "1", "slug", "taken").want(http.StatusSeeOther)
	page := o.post("/apps/"+other.ID+"/listing", "first", "1", "slug", "taken", "summary", "Mine").want(http.StatusBadRequest)
	page.marks("slug", "The slug taken belongs to another app")
	page.keeps(url.Values{"slug": {"taken"}, "summary": {"Mine"}})
	page = o.post("/apps/"+one.ID+"/listing", "first", "1", "slug", "late").want(http.StatusConflict).lacks("-problem", "autofocus")
	page.keeps(url.Values{"slug": {"late"}})
}

func or(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// marks checks that the field has a problem with this text, and points to it.
func (a response) marks(field, text string) {
	a.o.Helper()
	id := field + "-problem"
	texts := regexp.MustCompile(`<p class="problem" id="`+id+`">([^<]*)</p>`).FindAllStringSubmatch(a.Body, -1)
	if len(texts) != 1 || html.UnescapeString(texts[0][1]) != text {
		a.o.Errorf("%s: the problems of %s are %q, want %q", a.Request, field, texts, text)
	}
	for _, tag := range a.fields(field) {
		if !regexp.MustCompile(` aria-describedby="([^"]* )?` + id + `" aria-invalid="true"`).MatchString(tag) {
			a.o.Errorf("%s: %s does not point to its problem", a.Request, tag)
		}
	}
	if len(a.fields(field)) == 0 {
		a.o.Errorf("%s: there is no field %s", a.Request, field)
	}
}

// fields are the tags of the fields with a name.
func (a response) fields(name string) []string {
	return regexp.MustCompile(`<(?:input|select|textarea) [^>]*name="`+name+`"[^>]*>`).FindAllString(a.Body, -1)
}

// focused are the names of the fields with the focus.
func (a response) focused() (names []string) {
	for _, tag := range regexp.MustCompile(`<[^>]* name="(\w+)"[^>]* autofocus>`).FindAllStringSubmatch(a.Body, -1) {
		names = append(names, tag[1])
	}
	return names
}

// keeps checks that the form still has what was entered.
func (a response) keeps(form url.Values) {
	a.o.Helper()
	for name, entered := range form {
		var kept []string
		for _, tag := range a.fields(name) {
			own := response{Response: &partnertest.Response{Body: tag}}
			_, after, _ := strings.Cut(a.Body, tag)
			switch {
			case strings.HasPrefix(tag, "<textarea"):
				text, _, _ := strings.Cut(after, "</textarea>")
				kept = append(kept, strings.TrimPrefix(html.UnescapeString(text), "\n")) // as browsers do
			case strings.HasPrefix(tag, "<select"):
				options, _, _ := strings.Cut(after, "</select>")
				if option := regexp.MustCompile(`<option(?: value="([^"]*)")? selected>([^<]*)`).FindStringSubmatch(options); option != nil {
					kept = append(kept, or(option[1], option[2]))
				}
			case !strings.Contains(tag, `type="checkbox"`) && !strings.Contains(tag, `type="radio"`) || strings.Contains(tag, " checked"):
				kept = append(kept, own.values("value")...)
			}
		}
		if !slices.Equal(kept, entered) {
			a.o.Errorf("%s: %s has %q, want %q", a.Request, name, kept, entered)
		}
	}
}
