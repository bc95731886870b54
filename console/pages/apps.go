package pages

import (
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
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
	oauthserver.App
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
		data.Apps = append(data.Apps, appRow{App: app, Organization: names[app.OrganizationID], Badge: appBadge(app)})
	}
	return v.show("apps", "Apps", data)
}

// pager leads on from a page of a list at a path.
func (v *visit) pager(path, after, next string) (p look.Pager) {
	if after != "" {
		p.First = v.listAt(path, "")
	}
	if next != "" {
		p.Next = v.listAt(path, next)
	}
	return p
}

// listAt is the address of a list, after an entry of it.
func (v *visit) listAt(path, after string) string {
	if after == "" {
		return v.cfg.Prefix + path
	}
	return v.cfg.Prefix + path + "?" + url.Values{"after": {after}}.Encode()
}

func appBadge(app oauthserver.App) look.Badge {
	switch {
	case app.Status == oauthserver.AppSuspended:
		return look.Badge{Kind: "bad", Text: "Suspended"}
	case app.Status == oauthserver.AppDeactivated:
		return look.Badge{Text: "Deactivated"}
	case !app.Reviewed:
		return look.Badge{Kind: "info", Text: "Sandbox only"}
	}
	return look.Badge{Kind: "ok", Text: "Live"}
}

type newAppView struct {
	Organizations []console.Organization
	Scopes        []scopeChoice
	Form          apierror.Form
}

type scopeChoice struct {
	identity.Scope
	Checked bool
}

func (v *visit) newApp(form apierror.Form) newAppView {
	return newAppView{Organizations: v.by.Organizations(), Scopes: v.scopes(form["scopes"]), Form: form}
}

// scopes are those that an app may request, with the chosen ones checked.
func (v *visit) scopes(chosen []string) []scopeChoice {
	scopes := v.cfg.Console.Scopes()
	all := make([]scopeChoice, 0, len(scopes))
	for _, scope := range scopes {
		all = append(all, scopeChoice{Scope: scope, Checked: slices.Contains(chosen, scope.Name)})
	}
	return all
}

func (v *visit) showNewApp() error {
	return v.show("app_new", newAppTitle, v.newApp(apierror.Form{"type": {string(oauthserver.Confidential)}}))
}

const newAppTitle = "New app"

// createApp makes an app and shows its secret, this once.
func (v *visit) createApp() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	created, err := v.cfg.Console.CreateApp(v.r.Context(), v.by, console.NewApp{
		Name: form.Get("name"), Type: oauthserver.ClientType(form.Get("type")), OrganizationID: form.Get("organization_id"),
		RedirectURIs: lines(form.Get("redirect_uris")), Scopes: form["scopes"], AppURL: ifGiven(form.Get("app_url")),
	})
	if err != nil {
		return v.again(err, "app_new", newAppTitle, v.newApp(form))
	}
	v.app = created.App
	return v.show("app_created", created.App.Name, createdView{App: created.App, Secret: created.Secret})
}

type createdView struct {
	App    oauthserver.App
	Secret string // empty for a public app
}
