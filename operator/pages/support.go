package pages

import (
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func supportRoutes() []route {
	return []route{
		{"GET /apps/{appId}/deliveries", (*visit).showDeliveries},
		{"GET /apps/{appId}/requests", (*visit).showRequests},
		{"POST /apps/{appId}/installations/{businessId}/uninstall", (*visit).uninstall},
		{"GET /organizations/{organizationId}", (*visit).showOrganization},
	}
}

// ofApp reads the app of the path, and makes the page a part of it.
func (v *visit) ofApp() (partner.App, error) {
	details, err := v.cfg.Operator.App(v.r.Context(), v.by, v.r.PathValue("appId"))
	v.trail = v.appTrail(details.App, true)
	return details.App, err
}

type deliveriesView struct {
	Deliveries []webhooks.Delivery
	Pager      look.Pager
}

func (v *visit) showDeliveries() error {
	app, err := v.ofApp()
	if err != nil {
		return err
	}
	q, err := v.cfg.Operator.ParseDeliveryQuery(v.r)
	if err != nil {
		return err
	}
	page, err := v.cfg.Operator.Deliveries(v.r.Context(), v.by, app.ID, q)
	if err != nil {
		return err
	}
	return v.show("deliveries", app.Name+": deliveries", deliveriesView{page.Deliveries, v.site.Pager(site.Path("apps", app.ID, "deliveries"), v.r.URL.Query(), page.Next)})
}

type requestsView struct {
	Requests []analytics.Request
	Pager    look.Pager
}

func (v *visit) showRequests() error {
	app, err := v.ofApp()
	if err != nil {
		return err
	}
	filter, page, err := console.ParseRequestFilter(v.r)
	if err != nil {
		return err
	}
	found, err := v.cfg.Operator.Requests(v.r.Context(), v.by, app.ID, filter, page)
	if err != nil {
		return err
	}
	return v.show("requests", app.Name+": requests", requestsView{found.Items, v.site.Pager(site.Path("apps", app.ID, "requests"), v.r.URL.Query(), found.NextCursor)})
}

func (v *visit) uninstall() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	appID := v.r.PathValue("appId")
	_, err = v.cfg.Operator.Uninstall(v.r.Context(), v.by, appID, v.r.PathValue("businessId"), site.UnixLines(form.Get("reason")))
	if err == nil {
		return v.to("app-uninstalled", "apps", appID)
	}
	data, failed := v.appPage(nil)
	if failed != nil {
		return failed
	}
	return v.again(err, "app", data.Name, data)
}

type organizationView struct {
	console.Organization
	Apps  []appRow
	Pager look.Pager
}

// showOrganization shows the apps of an organization.
func (v *visit) showOrganization() error {
	organization, err := v.cfg.Operator.Organization(v.r.Context(), v.by, v.r.PathValue("organizationId"))
	if err != nil {
		return err
	}
	query := v.r.URL.Query()
	page, err := v.cfg.Operator.Apps(v.r.Context(), v.by, operator.AppFilter{OrganizationID: organization.ID}, console.Page{After: query.Get("after")})
	if err != nil {
		return err
	}
	data := organizationView{Organization: organization, Pager: v.site.Pager(site.Path("organizations", organization.ID), query, page.NextCursor)}
	for _, app := range page.Items {
		data.Apps = append(data.Apps, appRow{App: app, Badge: site.AppBadge(app)})
	}
	return v.show("organization", organization.Name, data)
}
