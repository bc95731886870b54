package pages

import (
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func appRoutes() []route {
	return []route{
		{"GET /apps", (*visit).listApps},
		{"GET /apps/{appId}", (*visit).showApp},
		{"POST /apps/{appId}/status", (*visit).setAppStatus},
		{"GET /apps/{appId}/usage.csv", func(v *visit) error { return v.exportUsage("text/csv") }},
		{"GET /apps/{appId}/usage.jsonl", func(v *visit) error { return v.exportUsage("application/jsonl") }},
		{"GET /apps/{appId}/assets/{assetId}", (*visit).showAsset},
	}
}

type appsView struct {
	Query    string
	Statuses []choice
	Apps     []appRow
	Pager    look.Pager
}

// choice is an option of a select element.
type choice struct {
	Value, Text string
	Chosen      bool
}

type appRow struct {
	partner.App
	Badge        look.Badge
	Organization look.Named
}

// listApps lists all apps, or those that a search finds.
func (v *visit) listApps() error {
	query := v.r.URL.Query()
	filter := operator.AppFilter{Query: query.Get("query"), Status: partner.AppStatus(query.Get("status"))}
	data := appsView{Query: filter.Query, Statuses: statusChoices(filter.Status)}
	page, err := v.cfg.Operator.Apps(v.r.Context(), v.by, filter, console.Page{After: query.Get("after")})
	if err != nil {
		return v.again(err, "apps", appsTitle, data)
	}
	for _, app := range page.Items {
		data.Apps = append(data.Apps, appRow{app, site.AppBadge(app), look.Named{ID: app.OrganizationID}})
	}
	data.Pager = v.site.Pager("/apps", query, page.NextCursor)
	return v.show("apps", appsTitle, data)
}

// exportUsage responds with the usage of an app as a file. The parameters are those of the JSON.
func (v *visit) exportUsage(format string) error {
	r := v.r.Clone(v.r.Context())
	r.Header.Set("Accept", format)
	return v.cfg.Operator.ServeUsage(v.w, r, v.by, v.r.PathValue("appId"))
}

const appsTitle = "Apps"

func statusChoices(chosen partner.AppStatus) []choice {
	all := []choice{
		{Text: "All"},
		{Value: string(partner.AppActive), Text: "Active"},
		{Value: string(partner.AppSuspended), Text: "Suspended"},
		{Value: string(partner.AppDeactivated), Text: "Deactivated"},
	}
	for i := range all {
		all[i].Chosen = all[i].Value == string(chosen)
	}
	return all
}

type appView struct {
	operator.AppDetails
	Badge      look.Badge
	Revision   look.Badge // of the latest revision of the listing
	Hooks      webhooksTable
	Log        entriesTable
	Businesses []businessRow
	Uses       []limitRow
	Chart      look.Chart // calls by day
	P50, P95   string
	Actions    []statusAction
}

// statusAction is a form that changes the status of an app.
type statusAction struct {
	Status  partner.AppStatus
	Title   string
	Text    string
	IsFinal bool
	Reason  reasonField
}

// reasonField is a text area for a reason.
type reasonField struct{ ID, Label, Hint, Value string }

// appPage holds an app and the entries in the form of its status.
func (v *visit) appPage(form bodies.Form) (appView, error) {
	details, err := v.cfg.Operator.App(v.r.Context(), v.by, v.r.PathValue("appId"))
	if err != nil {
		return appView{}, err
	}
	v.trail = v.appTrail(details.App, false)
	view := appView{AppDetails: details, Badge: site.AppBadge(details.App), Actions: actionsFor(details.Status)}
	days := make([]site.Period, 0, len(details.Calls.Days))
	for _, day := range details.Calls.Days {
		start, _ := time.Parse(time.DateOnly, day.Date)
		days = append(days, site.Period{Start: start, Counts: day.Counts})
	}
	view.Chart = site.CallChart("Calls by day", "Day", site.DayPoints(days, "Day"), days)
	view.P50, view.P95 = "–", "–"
	if totals := details.Calls.Totals; totals.Calls > 0 {
		view.P50, view.P95 = latency(totals.P50MS), latency(totals.P95MS)
	}
	if err := v.nameParts(&view); err != nil {
		return appView{}, err
	}
	if details.Review.Listing != nil {
		view.Revision = site.RevisionBadge(details.Review.Listing.Revision.State)
	}
	for i := range view.Actions {
		action := &view.Actions[i]
		action.Reason.ID, action.Reason.Hint = "reason-"+string(action.Status), "The developers of the app see it."
		if form.Get("status") == string(action.Status) {
			action.Reason.Value = form.Get("reason")
		}
	}
	return view, nil
}

// businessRow is an installation, and limitRow a limit, with the name of the business.
type businessRow struct {
	partner.Installation
	Business look.Named
}

type limitRow struct {
	console.LimitUse
	Business look.Named
}

// maxRows is how many rows the tables of an app have. The audit log has the others.
const maxRows = 20

// nameParts fills the tables of an app, with names.
func (v *visit) nameParts(view *appView) error {
	var ids operator.NamedIDs
	for _, one := range view.Installations {
		ids.Businesses = append(ids.Businesses, one.BusinessID)
	}
	for _, one := range view.Limits {
		ids.Businesses = append(ids.Businesses, one.BusinessID)
	}
	names, err := v.cfg.Operator.Names(v.r.Context(), v.by, ids)
	if err != nil {
		return err
	}
	for _, one := range view.Installations[:min(maxRows, len(view.Installations))] {
		view.Businesses = append(view.Businesses, businessRow{one, look.Named{ID: one.BusinessID, Name: names.Businesses[one.BusinessID]}})
	}
	for _, one := range view.Limits[:min(maxRows, len(view.Limits))] {
		view.Uses = append(view.Uses, limitRow{one, look.Named{ID: one.BusinessID, Name: names.Businesses[one.BusinessID]}})
	}
	view.Hooks.IsOfOne, view.Log.IsOfOne = true, true
	if view.Hooks.Webhooks, err = v.webhookRows(view.Webhooks); err != nil {
		return err
	}
	view.Log.Entries, err = v.auditRows(view.History[:min(maxRows, len(view.History))])
	return err
}

// latency writes a number of milliseconds.
func latency(ms float64) string {
	return site.Milliseconds(time.Duration(ms * float64(time.Millisecond)))
}

// appTrail leads to an app, or to the list for the page of the app itself.
func (v *visit) appTrail(app partner.App, isPart bool) []look.Link {
	trail := []look.Link{{Text: appsTitle, Href: v.site.Href("apps")}}
	if isPart {
		trail = append(trail, look.Link{Text: app.Name, Href: v.site.Href("apps", app.ID)})
	}
	return trail
}

// actionsFor returns the actions for an app of a status.
func actionsFor(status partner.AppStatus) []statusAction {
	deactivate := statusAction{
		Status: partner.AppDeactivated, Title: "Deactivate", IsFinal: true, Reason: reasonField{Label: "Reason for the deactivation"},
		Text: "The app loses all access and its tokens end. This is final: the app can never be active again.",
	}
	switch status {
	case partner.AppActive:
		return []statusAction{{
			Status: partner.AppSuspended, Title: "Suspend", Reason: reasonField{Label: "Reason for the suspension"},
			Text: "The tokens of the app are rejected until it is reactivated. Businesses stay connected.",
		}, deactivate}
	case partner.AppSuspended:
		return []statusAction{{
			Status: partner.AppActive, Title: "Reactivate", Reason: reasonField{Label: "Reason for the reactivation"},
			Text: "The app regains its previous access.",
		}, deactivate}
	}
	return nil
}

func (v *visit) showApp() error {
	data, err := v.appPage(nil)
	if err != nil {
		return err
	}
	return v.show("app", data.Name, data)
}

// doneWith returns the notice after a change of an app's status.
var doneWith = map[partner.AppStatus]string{
	partner.AppActive: "app-reactivated", partner.AppSuspended: "app-suspended", partner.AppDeactivated: "app-deactivated",
}

func (v *visit) setAppStatus() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	appID, status := v.r.PathValue("appId"), partner.AppStatus(form.Get("status"))
	_, err = v.cfg.Operator.SetAppStatus(v.r.Context(), v.by, appID, status, site.UnixLines(form.Get("reason")))
	if err == nil {
		return v.to(doneWith[status], "apps", appID)
	}
	data, failed := v.appPage(form)
	if failed != nil {
		return failed
	}
	return v.again(err, "app", data.Name, data)
}

func (v *visit) showAsset() error {
	asset, err := v.cfg.Operator.Asset(v.r.Context(), v.by, v.r.PathValue("appId"), v.r.PathValue("assetId"))
	if err != nil {
		return err
	}
	console.WriteImage(v.w, asset)
	return nil
}
