package pages

import (
	"net/url"
	"slices"

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
		{"GET", "/apps/new", (*visit).showNewApp},
		{"POST", "/apps/new", (*visit).createApp},
	}
}

type appsView struct {
	Organizations []console.Organization
	Apps          []appRow
	Pager         look.Pager
}

type appRow struct {
	partner.App
	Organization string
	Badge        look.Badge
}

// showApps lists the apps of all organizations of the person.
func (v *visit) showApps() error {
	after := v.r.URL.Query().Get("after")
	page, err := v.cfg.Console.Apps(v.r.Context(), v.by, console.Page{After: after})
	if err != nil {
		return err
	}
	data := appsView{Organizations: v.by.Organizations(), Pager: v.pager("", after, page.NextCursor)}
	names := make(map[string]string)
	for _, o := range data.Organizations {
		names[o.ID] = o.Name
	}
	for _, app := range page.Items {
		data.Apps = append(data.Apps, appRow{App: app, Organization: names[app.OrganizationID], Badge: site.AppBadge(app)})
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
