package pages

import (
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

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
