package pages

import (
	"net/http"
	"strconv"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
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
	Deliveries []deliveryRow
	Pager      look.Pager
}

type deliveryRow struct {
	partner.Delivery
	Badge    look.Badge
	Business look.Named
}

// deliveryBadges are the statuses of a delivery.
var deliveryBadges = map[partner.DeliveryStatus]look.Badge{
	partner.DeliveryQueued: {Kind: "info", Text: "Queued"}, partner.DeliveryRetrying: {Kind: "warn", Text: "Retrying"},
	partner.DeliveryDelivered: {Kind: "ok", Text: "Delivered"}, partner.DeliveryFailed: {Kind: "bad", Text: "Failed"},
}

// businesses returns businesses by id, with their names.
func (v *visit) businesses(ids []string) (map[string]look.Named, error) {
	names, err := v.cfg.Operator.Names(v.r.Context(), v.by, operator.NamedIDs{Businesses: ids})
	all := make(map[string]look.Named, len(ids))
	for _, id := range ids {
		all[id] = look.Named{ID: id, Name: names.Businesses[id]}
	}
	return all, err
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
	var ids []string
	for _, d := range page.Deliveries {
		ids = append(ids, d.BusinessID)
	}
	names, err := v.businesses(ids)
	if err != nil {
		return err
	}
	rows := make([]deliveryRow, 0, len(page.Deliveries))
	for _, d := range page.Deliveries {
		rows = append(rows, deliveryRow{d, deliveryBadges[d.Status], names[d.BusinessID]})
	}
	return v.show("deliveries", app.Name+": deliveries", deliveriesView{rows, v.site.Pager(site.Path("apps", app.ID, "deliveries"), v.r.URL.Query(), page.Next)})
}

type requestsView struct {
	Requests []requestRow
	Pager    look.Pager
}

type requestRow struct {
	callstore.Request
	Badge    look.Badge
	Business look.Named
}

// statusBadge shows the status of a response.
func statusBadge(status int) look.Badge {
	badge := look.Badge{Kind: "ok", Text: strconv.Itoa(status)}
	switch {
	case status >= http.StatusInternalServerError:
		badge.Kind = "bad"
	case status >= http.StatusBadRequest:
		badge.Kind = "warn"
	}
	return badge
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
	var ids []string
	for _, one := range found.Items {
		ids = append(ids, one.BusinessID)
	}
	names, err := v.businesses(ids)
	if err != nil {
		return err
	}
	rows := make([]requestRow, 0, len(found.Items))
	for _, one := range found.Items {
		rows = append(rows, requestRow{one, statusBadge(one.Status), names[one.BusinessID]})
	}
	return v.show("requests", app.Name+": requests", requestsView{rows, v.site.Pager(site.Path("apps", app.ID, "requests"), v.r.URL.Query(), found.NextCursor)})
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
