package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

func appRoutes() []route {
	return []route{
		{"GET", "", (*visit).showApps},
		{"GET", "/apps", (*visit).showApps},
		{"GET", "/apps/new", (*visit).showNewApp},
		{"POST", "/apps/new", (*visit).createApp},
	}
}

type appsView struct {
	Organizations []console.Organization
	HasApps       bool
	Query         appsQuery
	Columns       []column
	Apps          []appRow
	Pager         look.Pager
}

// column is a column of a table with a link that sorts by it.
type column struct {
	look.Link
	Sorted string // ascending or descending; empty: by another one
}

type appRow struct {
	partner.App
	Organization string
	Badge        look.Badge
}

// appsPerPage is how many apps the table shows.
const appsPerPage = 100

// showApps lists the apps of all organizations of the person.
func (v *visit) showApps() error {
	apps, err := v.cfg.Console.AllApps(v.r.Context(), v.by)
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	data := appsView{Organizations: v.by.Organizations(), HasApps: len(apps) > 0, Query: appsQuery{Query: trimmed(q, "query"), Sort: q.Get("sort")}}
	names := make(map[string]string)
	for _, o := range data.Organizations {
		names[o.ID] = o.Name
	}
	rows := make([]appRow, 0, len(apps))
	for _, app := range apps {
		rows = append(rows, appRow{App: app, Organization: names[app.OrganizationID], Badge: site.AppBadge(app)})
	}
	rows = data.Query.arrange(rows)
	// The place of the first one: apps have no cursor that every order keeps.
	first, err := strconv.Atoi(q.Get("after"))
	if err != nil || first < 0 || first > len(rows) {
		first = 0
	}
	last, next := min(first+appsPerPage, len(rows)), ""
	if last < len(rows) {
		next = strconv.Itoa(last)
	}
	data.Apps, data.Pager = rows[first:last], v.site.Pager(path("apps"), q, next)
	sorted := cmp.Or(data.Query.Sort, "name")
	for _, one := range sorts {
		c := column{Link: look.Link{Text: one.Text}}
		target := one.Href
		switch sorted {
		case one.Href:
			c.Sorted, target = "ascending", "-"+one.Href
		case "-" + one.Href:
			c.Sorted = "descending"
		}
		c.Href = v.site.ListAt(path("apps"), url.Values{"query": {data.Query.Query}, "sort": {target}}, "")
		data.Columns = append(data.Columns, c)
	}
	return v.show("apps", "Apps", data)
}

// pager leads on from a page of a list at a path.
func (v *visit) pager(path, after, next string) look.Pager {
	return v.site.Pager(path, url.Values{"after": {after}}, next)
}

type newAppView struct {
	Organizations []console.Organization
	Scopes        []scopeChoice
	Form          filled
}

type scopeChoice struct {
	identity.Scope
	Checked bool
}

// appFields are the fields of the forms of an app.
var appFields = formFields{
	{Name: "name", Label: "Name"}, {Name: "type", Label: "Type"}, organizationField,
	{Name: "redirect_uris", Member: "redirectUris", Label: "Redirect URIs", Entry: lineEntry},
	{Name: "scopes", Label: "Scopes"}, {Name: "app_url", Member: "appUrl", Label: "App URL"},
	{Name: "custom_business", Member: "customBusinessId", Label: "Custom connection"},
	{Name: "pinned_version", Member: "pinnedVersion", Label: "API version"},
}

func (v *visit) newApp(form filled) newAppView {
	return newAppView{Organizations: v.by.Organizations(), Scopes: v.scopes(form.Form["scopes"]), Form: form}
}

// scopes returns the scopes that an app may request, with the chosen ones checked.
func (v *visit) scopes(chosen []string) []scopeChoice {
	scopes := v.cfg.Console.Scopes()
	all := make([]scopeChoice, 0, len(scopes))
	for _, scope := range scopes {
		all = append(all, scopeChoice{Scope: scope, Checked: slices.Contains(chosen, scope.Name)})
	}
	return all
}

func (v *visit) showNewApp() error {
	return v.show("app_new", newAppTitle, v.newApp(filled{Form: bodies.Form{"type": {string(partner.Confidential)}}}))
}

const newAppTitle = "New app"

// createApp makes an app and shows its secret, this once.
func (v *visit) createApp() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	created, err := v.cfg.Console.CreateApp(v.r.Context(), v.by, console.NewApp{
		Name: form.Get("name"), Type: partner.ClientType(form.Get("type")), OrganizationID: form.Get("organization_id"),
		RedirectURIs: lines(form.Get("redirect_uris")), Scopes: form["scopes"], AppURL: ifGiven(form.Get("app_url")),
	})
	if err != nil {
		return v.again(err, "app_new", newAppTitle, v.newApp(v.mend(err, form, appFields)))
	}
	v.app = created.App
	return v.show("app_created", created.App.Name, createdView{App: created.App, Secret: created.Secret})
}

type createdView struct {
	App    partner.App
	Secret string // empty for a public app
}
