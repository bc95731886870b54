package console

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// Found is something of an app that an id names.
type Found struct {
	App partner.App
	// ID is the id of a webhook, a delivery, an event, a call of the request log, an
	// installation or a business.
	ID        string
	WebhookID string // of a delivery
}

// mostSearched is in how many apps of the actor a request id is looked for.
const mostSearched = 200

// Find returns what an id names, as far as the actor may see it: a webhook, a delivery, an event,
// a call by its id or the id of its request, an installation, or the apps that a business has
// connected.
func (c *Console) Find(ctx context.Context, by Actor, recordID string) ([]Found, error) {
	if len(recordID) > maxBusinessID || !text.IsStorable(recordID) {
		return nil, nil
	}
	for _, kind := range []id.Kind{id.Webhook, id.Delivery, id.Event, id.Request, id.Installation} {
		if !id.Valid(kind, recordID) {
			continue
		}
		owner, err := c.cfg.Store.Owner(ctx, recordID)
		if err != nil {
			return nil, err
		}
		found, err := c.findOwned(ctx, by, kind, recordID, owner)
		if err == nil && len(found) == 0 && kind == id.Request {
			found, err = c.findRequest(ctx, by, recordID)
		}
		return found, err
	}
	return c.findBusiness(ctx, by, recordID)
}

// findOwned checks that the actor may see a record.
func (c *Console) findOwned(ctx context.Context, by Actor, kind id.Kind, recordID string, owner consolestore.Owner) ([]Found, error) {
	if kind == id.Event {
		return c.findEvent(ctx, by, recordID, owner.BusinessID)
	}
	if owner.AppID == "" {
		return nil, nil
	}
	app, err := c.App(ctx, by, owner.AppID)
	found := Found{App: app, ID: recordID}
	switch {
	case err != nil:
	case kind == id.Webhook:
		_, err = c.Webhook(ctx, by, app.ID, recordID)
	case kind == id.Delivery:
		found.WebhookID = owner.WebhookID
		_, _, err = c.Delivery(ctx, by, app.ID, owner.WebhookID, recordID)
	case kind == id.Request:
		_, err = c.Request(ctx, by, app.ID, recordID)
	}
	return ifThere(found, err)
}

// findEvent returns the event once for each of the actor's apps that can read it.
func (c *Console) findEvent(ctx context.Context, by Actor, eventID, businessID string) ([]Found, error) {
	if businessID == "" || by.token != "" {
		return nil, nil
	}
	connected, err := c.findBusiness(ctx, by, businessID)
	if err != nil {
		return nil, err
	}
	var all []Found
	for _, one := range connected {
		_, err := c.Event(ctx, by, one.App.ID, eventID)
		found, err := ifThere(Found{App: one.App, ID: eventID}, err)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// findBusiness returns the actor's apps that a business has connected.
func (c *Console) findBusiness(ctx context.Context, by Actor, businessID string) ([]Found, error) {
	if businessID == "" {
		return nil, nil
	}
	installations, err := c.cfg.Store.Installations(ctx, partner.InstallationQuery{BusinessID: businessID})
	if err != nil {
		return nil, err
	}
	var all []Found
	for _, one := range installations {
		app, err := c.App(ctx, by, one.AppID)
		found, err := ifThere(Found{App: app, ID: businessID}, err)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// findRequest returns the call with the id of a request of ours. The id has the time of the
// request, so that a small part of each log is read.
func (c *Console) findRequest(ctx context.Context, by Actor, requestID string) ([]Found, error) {
	at, ok := id.Time(id.Request, requestID)
	if !ok {
		return nil, nil
	}
	apps, err := c.AllApps(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, app := range apps[:min(len(apps), mostSearched)] {
		calls, err := c.cfg.Analytics.Requests(ctx, callstore.RequestQuery{
			AppID: app.ID, RequestID: requestID, Since: at.Add(-time.Minute), Until: at.Add(10 * time.Minute), Before: string(id.Request) + "z", Limit: 1,
		})
		if err != nil {
			return nil, err
		}
		if len(calls) > 0 {
			return []Found{{App: app, ID: calls[0].ID}}, nil
		}
	}
	return nil, nil
}

// ifThere returns what was found, or nothing if the error says that the actor may not see it.
func ifThere(found Found, err error) ([]Found, error) {
	if refused, ok := errors.AsType[*apierror.Error](err); ok && refused.Status() == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Found{found}, nil
}

// AllApps returns all apps of the actor's organizations, newest first, at most a thousand.
func (c *Console) AllApps(ctx context.Context, by Actor) ([]partner.App, error) {
	var all []partner.App
	for p := (Page{Limit: MaxLimit}); len(all) < 1000; {
		page, err := c.Apps(ctx, by, p)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if p.After = page.NextCursor; p.After == "" {
			break
		}
	}
	return all, nil
}
