package console

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// eventsScope is the scope of installations whose events an app can read.
const eventsScope = "events:read"

// EventFilter selects events of an app. Zero fields select everything.
type EventFilter struct {
	Type       string
	BusinessID string
}

// AppEvent is an event that an app can read, with the deliveries that it caused.
type AppEvent struct {
	partner.Event
	Deliveries []partner.Delivery
}

// maxEventRounds is how often Events reads on because the installations of the app have
// different scopes, and an event that was read is not visible in its business.
const maxEventRounds = 20

// Events lists the events that an app can read, newest first: in businesses that have granted it
// events:read, those that the Events API shows it. Data is in the shape of the version that the
// app has pinned. Its error is one of apierror: 404, 403 for a console token, or what is wrong
// with the filter and the page.
func (c *Console) Events(ctx context.Context, by Actor, appID string, f EventFilter, p Page) (Paged[AppEvent], error) {
	var none Paged[AppEvent]
	app, err := c.eventReader(ctx, by, appID)
	if err != nil {
		return none, err
	}
	var v apierror.Validation
	if _, ok := c.cfg.Events.Lookup(f.Type); !ok && f.Type != "" {
		v.Add("type", "must be an event of the catalog")
	}
	if !text.IsStorable(f.BusinessID) {
		v.Add("businessId", "must be UTF-8 without NUL")
	}
	if p.After != "" && !id.Valid(id.Event, p.After) {
		v.Add("after", "must be the nextCursor of a page")
	}
	if err := v.Err(); err != nil {
		return none, err
	}
	viewers, err := c.viewers(ctx, app, f.BusinessID)
	if err != nil {
		return none, err
	}
	q := c.eventQuery(app, viewers, f.Type)
	q.Before, q.Limit = p.After, p.limit()+1
	var found []partner.Event
	for range maxEventRounds {
		read, err := c.cfg.Store.AppEvents(ctx, q)
		if err != nil {
			return none, err
		}
		for _, e := range read {
			if c.isVisible(e, viewers[e.BusinessID]) {
				found = append(found, e)
			}
		}
		if len(read) < q.Limit || len(found) > p.limit() {
			break
		}
		q.Before = read[len(read)-1].ID
	}
	page := cut(found, p.limit(), func(e partner.Event) string { return e.ID })
	items, err := c.withDeliveries(ctx, app, page.Items)
	return Paged[AppEvent]{items, page.NextCursor}, err
}

// Event returns an event that an app can read; see [Console.Events]. Its error is one of
// apierror, 404 if there is none.
func (c *Console) Event(ctx context.Context, by Actor, appID, eventID string) (AppEvent, error) {
	app, err := c.eventReader(ctx, by, appID)
	if err != nil {
		return AppEvent{}, err
	}
	if !id.Valid(id.Event, eventID) {
		return AppEvent{}, apierror.NotFound("event")
	}
	viewers, err := c.viewers(ctx, app, "")
	if err != nil {
		return AppEvent{}, err
	}
	// The query of a list that begins with the event.
	q := c.eventQuery(app, viewers, "")
	q.Before, q.Limit = eventID+"z", 1
	found, err := c.cfg.Store.AppEvents(ctx, q)
	if err != nil {
		return AppEvent{}, err
	}
	if len(found) == 0 || found[0].ID != eventID || !c.isVisible(found[0], viewers[found[0].BusinessID]) {
		return AppEvent{}, apierror.NotFound("event")
	}
	all, err := c.withDeliveries(ctx, app, found)
	if err != nil {
		return AppEvent{}, err
	}
	return all[0], nil
}

// eventReader returns the app if the actor may read its events. What businesses do is not for
// scripts that only manage apps.
func (c *Console) eventReader(ctx context.Context, by Actor, appID string) (partner.App, error) {
	app, err := c.App(ctx, by, appID)
	if err == nil && by.token != "" {
		err = apierror.Forbidden("A console token cannot read events")
	}
	return app, err
}

// viewers returns the app as it stands before the events of each business, or of one, that has
// granted it events:read.
func (c *Console) viewers(ctx context.Context, app partner.App, businessID string) (map[string]events.Viewer, error) {
	if !app.Scopes.Has(eventsScope) {
		return nil, nil
	}
	installations, err := c.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: app.ID, BusinessID: businessID})
	if err != nil {
		return nil, err
	}
	viewers := make(map[string]events.Viewer)
	for _, one := range installations {
		if !one.Scopes.Has(eventsScope) {
			continue
		}
		viewers[one.BusinessID] = events.Viewer{AppID: app.ID, AppScopes: app.Scopes, IsInstalled: true, InstallationScopes: one.Scopes}
		if len(viewers) > maxNumbered {
			continue // the planner numbers the events of the others within a moment
		}
		if _, err := c.cfg.Store.NumberEvents(ctx, one.BusinessID); err != nil {
			return nil, err
		}
	}
	return viewers, nil
}

// maxNumbered is in how many businesses the latest events are numbered before they are read, so
// that somebody who has just recorded one sees it.
const maxNumbered = 50

// eventQuery asks for all events that an app can see in one of the businesses.
func (c *Console) eventQuery(app partner.App, viewers map[string]events.Viewer, eventType string) consolestore.EventQuery {
	q := consolestore.EventQuery{AppID: app.ID, Since: c.cfg.Clock.Now().Add(-c.cfg.EventRetention).Truncate(time.Millisecond)}
	for businessID := range viewers {
		q.BusinessIDs = append(q.BusinessIDs, businessID)
	}
	slices.Sort(q.BusinessIDs)
	for _, d := range c.cfg.Events.All() {
		switch {
		case eventType != "" && d.Name != eventType, d.Scope != "" && !app.Scopes.Has(d.Scope):
		case d.Audience == events.AudienceApp:
			q.AppTypes = append(q.AppTypes, d.Name)
		default:
			q.Types = append(q.Types, d.Name)
		}
	}
	return q
}

func (c *Console) isVisible(e partner.Event, viewer events.Viewer) bool {
	definition, ok := c.cfg.Events.Lookup(e.Type)
	return ok && viewer.IsInstalled && definition.IsVisible(e.AppID, viewer)
}

// withDeliveries adds what is shown with events, and turns their data into the shape of the
// app's version.
func (c *Console) withDeliveries(ctx context.Context, app partner.App, found []partner.Event) ([]AppEvent, error) {
	deliveries, err := c.cfg.Store.EventDeliveries(ctx, app.ID, jsonapi.Convert(found, func(e partner.Event) string { return e.ID }))
	if err != nil {
		return nil, err
	}
	all := make([]AppEvent, len(found))
	for i, e := range found {
		definition, _ := c.cfg.Events.Lookup(e.Type)
		// A shape that cannot be made is the host's mistake, and no reason to show no event.
		if data, err := definition.DataIn(app.PinnedVersion, e.Data); err == nil {
			e.Data = data
		}
		all[i] = AppEvent{Event: e}
		for _, d := range slices.Backward(deliveries) {
			if d.EventID == e.ID {
				all[i].Deliveries = append(all[i].Deliveries, d)
			}
		}
	}
	return all, nil
}

type appEventPayload struct {
	ID         string                 `json:"id"`
	Type       string                 `json:"type"`
	BusinessID string                 `json:"businessId"`
	Created    int64                  `json:"created"` // Unix seconds
	Data       json.RawMessage        `json:"data"`
	Deliveries []eventDeliveryPayload `json:"deliveries"`
}

type eventDeliveryPayload struct {
	ID        string                 `json:"id"`
	WebhookID string                 `json:"webhookId"`
	Status    partner.DeliveryStatus `json:"status"`
}

func newAppEventPayload(e AppEvent) appEventPayload {
	return appEventPayload{
		ID: e.ID, Type: e.Type, BusinessID: e.BusinessID, Created: e.CreatedAt.Unix(), Data: e.Data,
		Deliveries: jsonapi.Convert(e.Deliveries, func(d partner.Delivery) eventDeliveryPayload {
			return eventDeliveryPayload{d.ID, d.WebhookID, d.Status}
		}),
	}
}

func (c *Console) listAppEvents(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	q.Only("type", "businessId", "after", "limit")
	f := EventFilter{Type: q.Text("type"), BusinessID: q.Text("businessId")}
	p := Page{After: q.Text("after"), Limit: q.Number("limit", MaxLimit, DefaultLimit)}
	if err := q.Err(); err != nil {
		return err
	}
	page, err := c.Events(r.Context(), by, r.PathValue("appId"), f, p)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(page.Items, page.NextCursor, newAppEventPayload))
}
