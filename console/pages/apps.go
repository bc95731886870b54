package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/optional"
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

func settingsRoutes() []route {
	return []route{
		{"GET", "/apps/{appId}/settings", (*visit).showSettings},
		{"POST", "/apps/{appId}/settings", (*visit).saveSettings},
	}
}

const settingsTitle = "Settings"

type settingsView struct {
	App      partner.App
	Badge    look.Badge
	Standing string
	Waits    bool // something of the app waits for a review
	ReadOnly bool
	Scopes   []scopeChoice
	Versions []string
	// ConnectionPage is where the business of a custom connection approves it; empty if the
	// app cannot have one.
	ConnectionPage string
	Form           filled
}

func (v *visit) settings(form filled) settingsView {
	view := settingsView{
		App: v.app, Badge: site.AppBadge(v.app), Standing: standing(v.app), Waits: waits(v.app), ReadOnly: v.isReadOnly(),
		Scopes: v.scopes(form.Form["scopes"]), Versions: v.cfg.Console.Versions(), Form: form,
	}
	if v.cfg.Console.OffersCustomConnection(v.app) {
		view.ConnectionPage = v.cfg.Console.ConnectionPage(v.app)
	}
	if pinned := v.app.PinnedVersion; pinned != "" && !slices.Contains(view.Versions, pinned) {
		view.Versions = append(view.Versions, pinned) // a retired one
	}
	return view
}

// isReadOnly reports that nothing of the app can be changed any more.
func (v *visit) isReadOnly() bool { return v.app.Status == partner.AppDeactivated }

// standing describes what the service allows an app to do.
func standing(app partner.App) string {
	switch {
	case app.Status == partner.AppDeactivated:
		return "Deactivated permanently: it cannot be connected, and its tokens are invalid."
	case app.Status == partner.AppSuspended:
		return "Suspended: its tokens and webhooks do not work until the suspension is lifted."
	case !app.Reviewed:
		return "Not reviewed yet: only sandbox businesses of your organization can connect it."
	}
	if waits(app) {
		return "Reviewed, but not all that it is now: any business can connect what was reviewed."
	}
	return "Reviewed: any business can connect it."
}

// waits reports whether a reviewed app has changes that no review covers.
func waits(app partner.App) bool {
	return app.Reviewed && app.IsUsable() && !app.Unreviewed().IsEmpty()
}

func (v *visit) showSettings() error {
	form := bodies.Form{
		"name": {v.app.Name}, "redirect_uris": {strings.Join(v.app.RedirectURIs, "\n")}, "scopes": v.app.Scopes.Names(),
		"app_url": {v.app.AppURL}, "pinned_version": {v.app.PinnedVersion}, "custom_business": {v.app.CustomBusinessID},
	}
	setVersion(form, v.app.Version)
	return v.show("settings", settingsTitle, v.settings(filled{Form: form}))
}

func (v *visit) saveSettings() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	change := console.AppChange{
		Name: optional.Of(form.Get("name")), RedirectURIs: optional.Of(lines(form.Get("redirect_uris"))), Scopes: optional.Of(form["scopes"]),
		AppURL:        orNull(form.Get("app_url")),
		PinnedVersion: orNull(form.Get("pinned_version")),
		Version:       sentVersion(form),
	}
	if v.cfg.Console.OffersCustomConnection(v.app) {
		change.CustomBusinessID = orNull(form.Get("custom_business"))
	}
	if _, err := v.cfg.Console.UpdateApp(v.r.Context(), v.by, v.app.ID, change); err != nil {
		err = conflict(err, form, "the app", v.app.Version)
		return v.again(err, "settings", settingsTitle, v.settings(v.mend(err, form, appFields)))
	}
	return v.to(path("apps", v.app.ID, "settings"), "app-updated")
}
