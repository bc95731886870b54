package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

func (p *Pages) explorerRoutes() []route {
	routes := []route{
		{"GET", "/apps/{appId}/events", (*visit).showEvents},
		{"GET", "/apps/{appId}/events/{eventId}", (*visit).showEvent},
	}
	if p.cfg.RecordEvent != nil { // for development
		routes = append(routes, route{"POST", "/apps/{appId}/events/record", (*visit).recordAppEvent})
	}
	return routes
}

const (
	eventsTitle = "Events"
	eventTitle  = "Event"
)

// eventFields are the fields of the filter. Their names are those of the JSON API.
var eventFields = formFields{{Name: "type", Label: "Event"}, {Name: "businessId", Label: "Business id"}}

type eventsView struct {
	AppID      string
	IsReadable bool // the app has events:read
	Filter     look.Chips
	IsFiltered bool
	Names      []string // of the events that the filter offers
	Events     []appEventRow
	Pager      look.Pager
	Record     recordView
	Recordable []string // the events that the app can see
}

type appEventRow struct {
	console.AppEvent
	Business look.Named
	Sent     []sentRow
}

// sentRow is a delivery that an event caused.
type sentRow struct {
	partner.Delivery
	Badge look.Badge
	URL   string // of the webhook
}

// appEventRows returns events with the names of their businesses and the addresses of the
// webhooks that they were sent to.
func (v *visit) appEventRows(all []console.AppEvent) ([]appEventRow, error) {
	addresses, err := v.webhookAddresses()
	if err != nil {
		return nil, err
	}
	names, err := v.named(idsOf(all, func(e console.AppEvent) string { return e.BusinessID }))
	if err != nil {
		return nil, err
	}
	rows := make([]appEventRow, 0, len(all))
	for _, e := range all {
		row := appEventRow{AppEvent: e, Business: names[e.BusinessID]}
		for _, d := range e.Deliveries {
			row.Sent = append(row.Sent, sentRow{d, deliveryBadge(d.Status), addresses[d.WebhookID]})
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// showEvents lists the events that the app can read, filtered by the query.
func (v *visit) showEvents() error {
	view, err := v.explorer()
	if err != nil {
		if !site.IsStatus(err, http.StatusBadRequest) {
			return err
		}
		return v.again(err, "events", eventsTitle, view)
	}
	return v.show("events", eventsTitle, view)
}

// explorer returns the page of the events. If its error is a validation error, the view is the
// form with what is wrong.
func (v *visit) explorer() (eventsView, error) {
	q := v.r.URL.Query()
	filter := console.EventFilter{Type: trimmed(q, "type"), BusinessID: trimmed(q, "businessId")}
	view := eventsView{AppID: v.app.ID, IsReadable: v.app.Scopes.Has("events:read"), IsFiltered: filter != console.EventFilter{}, Names: v.eventNames()}
	var err error
	if view.Record, view.Recordable, err = v.recordableEvents(); err != nil {
		return view, err
	}
	page, refused := v.cfg.Console.Events(v.r.Context(), v.by, v.app.ID, filter, console.Page{After: q.Get("after"), Limit: perPage})
	if refused != nil && !site.IsStatus(refused, http.StatusBadRequest) {
		return view, refused
	}
	marked := v.mend(refused, bodies.Form(q), eventFields)
	var chips []look.Chip
	for _, one := range eventFields {
		problem := marked.Problem(one.Name)
		chips = append(chips, look.Chip{Name: one.Name, Label: one.Label, Value: trimmed(q, one.Name), Problem: problem.Text, IsFirst: problem.IsFirst})
	}
	chips[0].List = "event-names"
	view.Filter = v.withClear(path("apps", v.app.ID, "events"), url.Values{"type": {filter.Type}, "businessId": {filter.BusinessID}}, chips)
	if refused != nil {
		return view, refused
	}
	view.Events, err = v.appEventRows(page.Items)
	view.Pager = v.site.Pager(path("apps", v.app.ID, "events"), q, page.NextCursor)
	return view, err
}

type eventView struct {
	AppID string
	Event appEventRow
	Data  []piece // indented and coloured
}

// showEvent shows one event, its data and the deliveries that it caused.
func (v *visit) showEvent() error {
	event, err := v.cfg.Console.Event(v.r.Context(), v.by, v.app.ID, v.r.PathValue("eventId"))
	if err != nil {
		return err
	}
	rows, err := v.appEventRows([]console.AppEvent{event})
	if err != nil {
		return err
	}
	v.heading = event.Type
	return v.show("event", eventTitle, eventView{AppID: v.app.ID, Event: rows[0], Data: colored(event.Data)})
}

// recordableEvents returns where events can be recorded, and which of them the app can see.
func (v *visit) recordableEvents() (recordView, []string, error) {
	record, err := v.recordable(partner.Webhook{AppID: v.app.ID})
	var names []string
	for _, d := range v.cfg.Console.EventCatalog() {
		if d.Scope == "" || v.app.Scopes.Has(d.Scope) {
			names = append(names, d.Name)
		}
	}
	return record, names, err
}

// recordAppEvent records the sample of an event that the app can see.
func (v *visit) recordAppEvent() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	record, names, err := v.recordableEvents()
	if err != nil {
		return err
	}
	draft, err := v.sampleOf(form.Get("event"), form.Get("business"), names, record.Businesses)
	if err != nil {
		view, shown := v.explorer()
		if shown != nil {
			return shown
		}
		return v.again(err, "events", eventsTitle, view)
	}
	if err := v.cfg.RecordEvent(v.r.Context(), draft); err != nil {
		return err
	}
	return v.to(path("apps", v.app.ID, "events"), "event-recorded")
}

// sampleOf returns the sample of an event of a business, both of which must be among those that
// are offered. Its error is one of apierror.
func (v *visit) sampleOf(name, business string, names, businesses []string) (events.Draft, error) {
	catalog := v.cfg.Console.EventCatalog()
	i := slices.IndexFunc(catalog, func(d events.Definition) bool { return d.Name == name })
	if i < 0 || !slices.Contains(names, name) {
		return events.Draft{}, apierror.InvalidAt("event", "must be one of those that are offered")
	}
	if !slices.Contains(businesses, business) {
		return events.Draft{}, apierror.InvalidAt("business", "must be one that has connected the app")
	}
	draft := events.Draft{Type: name, BusinessID: business, Data: catalog[i].Sample}
	if catalog[i].Audience == events.AudienceApp {
		draft.AppID = v.app.ID
	}
	return draft, nil
}
