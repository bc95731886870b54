package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// response is an event as the API shows it.
type response struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	BusinessID string          `json:"businessId"`
	Created    int64           `json:"created"` // Unix seconds
	Data       json.RawMessage `json:"data"`
}

// Get serves GET /events/{id} behind a guard with the scope events:read.
func (l *Log) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	eventID := r.PathValue("id")
	e, err := l.find(r, p.BusinessID, eventID, l.oldest())
	if err != nil && !errors.Is(err, errNotFound) {
		return err
	}
	definition, ok := l.cfg.Catalog.Lookup(e.Type) // none when it was not found
	if !ok || !definition.IsVisible(e.AppID, viewer(p)) {
		return codes.EventNotFound.New(eventID)
	}
	shown, err := responseOf(e, definition, p.Version)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, shown)
}

// oldest returns when the oldest event that counts was recorded at the earliest, as
// exact as the store keeps it.
func (l *Log) oldest() time.Time {
	return l.cfg.Clock.Now().Add(-l.cfg.Retention).Truncate(time.Millisecond)
}

// errNotFound means that the business has no such event, or that it is too old.
var errNotFound = errors.New("event not found")

// find returns an event of a business that is not too old; errNotFound.
func (l *Log) find(r *http.Request, businessID, eventID string, since time.Time) (partner.Event, error) {
	if !id.Valid(id.Event, eventID) {
		return partner.Event{}, errNotFound
	}
	found, err := l.cfg.Store.Events(r.Context(), eventstore.Query{BusinessID: businessID, EventID: eventID})
	switch {
	case err != nil:
		return partner.Event{}, apierror.Failed("events", err)
	case len(found) == 0 || found[0].CreatedAt.Before(since):
		return partner.Event{}, errNotFound
	}
	return found[0], nil
}

// viewer returns an app that calls with a token: installed, or the token would not be
// valid, and with the scopes that are left of the app's, the installation's and the
// token's.
func viewer(p identity.Principal) Viewer {
	return Viewer{AppID: p.AppID, AppScopes: p.Scopes, IsInstalled: true, InstallationScopes: p.Scopes}
}

func responseOf(e partner.Event, d Definition, version string) (response, error) {
	data, err := d.DataIn(version, e.Data)
	if err != nil {
		return response{}, fmt.Errorf("events: %s: %w", e.ID, err)
	}
	return response{ID: e.ID, Type: e.Type, APIVersion: version, BusinessID: e.BusinessID, Created: e.CreatedAt.Unix(), Data: data}, nil
}

// caller returns the app of the request. It returns an error for people with a session.
func caller(r *http.Request) (identity.Principal, error) {
	p, _ := identity.PrincipalFrom(r.Context())
	if p.AppID == "" {
		return p, codes.EventLogForConnectedApps.New()
	}
	return p, nil
}
