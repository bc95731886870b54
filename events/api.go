package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

// answer is an event as the API shows it.
type answer struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	APIVersion string          `json:"apiVersion"`
	BusinessID string          `json:"businessId"`
	Created    int64           `json:"created"` // Unix seconds
	Data       json.RawMessage `json:"data"`
}

type page struct {
	Events  []answer `json:"events"`
	HasMore bool     `json:"hasMore"`
}

// List serves GET /events behind a guard with the scope events:read: what the app
// may see of the business that it calls for, oldest first, after a cursor.
func (l *Log) List(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	asked, err := l.parseQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	// First of all, so that a reader sees what it has just written.
	if err := l.cfg.Store.NumberEvents(r.Context(), p.BusinessID); err != nil {
		return fault(err)
	}
	q := Query{BusinessID: p.BusinessID, AppID: p.AppID, Since: l.oldest(), Limit: asked.limit + 1}
	if q.After, err = l.place(r, p.BusinessID, asked, q.Since); err != nil {
		return err
	}
	q.Types, q.AppTypes = l.visible(p, asked.types)
	found, err := l.cfg.Store.Events(r.Context(), q)
	if err != nil {
		return fault(err)
	}
	hasMore := len(found) > asked.limit
	if hasMore {
		found = found[:asked.limit]
	}
	shown := page{Events: make([]answer, len(found)), HasMore: hasMore}
	for i, e := range found {
		definition, _ := l.cfg.Catalog.Lookup(e.Type)
		if shown.Events[i], err = answerOf(e, definition, p.Version); err != nil {
			return err
		}
	}
	return apierror.WriteJSON(w, http.StatusOK, shown)
}

// place is where the cursor stands: the app need not be able to see it. One that
// has no number was committed since the request came; nobody can have been given
// it as a cursor.
func (l *Log) place(r *http.Request, businessID string, asked query, since time.Time) (int64, error) {
	if !asked.hasAfter {
		return 0, nil
	}
	e, err := l.find(r, businessID, asked.after, since)
	if errors.Is(err, ErrNotFound) || err == nil && e.Number == 0 {
		return 0, apierror.New(apierror.UnknownCursor, asked.after)
	}
	return e.Number, err
}

// Get serves GET /events/{id} behind a guard with the scope events:read.
func (l *Log) Get(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	eventID := r.PathValue("id")
	e, err := l.find(r, p.BusinessID, eventID, l.oldest())
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	definition, ok := l.cfg.Catalog.Lookup(e.Type) // none when it was not found
	if !ok || definition.Judge(e.AppID, viewer(p)) != Visible {
		return apierror.New(apierror.EventNotFound, eventID)
	}
	shown, err := answerOf(e, definition, p.Version)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, shown)
}

// oldest is when the oldest event that counts was recorded at the earliest, as
// exact as the store keeps it.
func (l *Log) oldest() time.Time {
	return l.cfg.Clock.Now().Add(-Retention).Truncate(time.Millisecond)
}

// find returns an event of a business that is not too old; [ErrNotFound].
func (l *Log) find(r *http.Request, businessID, eventID string, since time.Time) (Event, error) {
	if !id.Valid(id.Event, eventID) {
		return Event{}, ErrNotFound
	}
	e, err := l.cfg.Store.Event(r.Context(), businessID, eventID)
	switch {
	case errors.Is(err, ErrNotFound):
		return Event{}, err
	case err != nil:
		return Event{}, fault(err)
	case e.CreatedAt.Before(since):
		return Event{}, ErrNotFound
	}
	return e, nil
}

// visible are the types that the app may see, all or among those asked for.
func (l *Log) visible(p identity.Principal, asked []string) (ofBusiness, ofApp []string) {
	for _, d := range l.cfg.Catalog.definitions {
		switch {
		case asked != nil && !slices.Contains(asked, d.Name):
		case d.Audience == AudienceApp && d.Judge(p.AppID, viewer(p)) == Visible:
			ofApp = append(ofApp, d.Name)
		case d.Audience != AudienceApp && d.Judge("", viewer(p)) == Visible:
			ofBusiness = append(ofBusiness, d.Name)
		}
	}
	return ofBusiness, ofApp
}

// viewer is an app that calls with a token: installed, or the token would not be
// valid, and with the scopes that are left of the app's, the installation's and the
// token's.
func viewer(p identity.Principal) Viewer {
	return Viewer{AppID: p.AppID, AppScopes: p.Scopes, IsInstalled: true, InstallationScopes: p.Scopes}
}

func answerOf(e Event, d Definition, version string) (answer, error) {
	data, err := d.DataIn(version, e.Data)
	if err != nil {
		return answer{}, fmt.Errorf("events: %s: %w", e.ID, err)
	}
	return answer{ID: e.ID, Type: e.Type, APIVersion: version, BusinessID: e.BusinessID, Created: e.CreatedAt.Unix(), Data: data}, nil
}

// caller is the app. A guard that lets people in as well has none for them.
func caller(r *http.Request) (identity.Principal, error) {
	p, _ := identity.PrincipalFrom(r.Context())
	if p.AppID == "" {
		return p, apierror.New(apierror.EventLogForConnectedApps)
	}
	return p, nil
}

func fault(err error) error {
	if errors.Is(err, storage.ErrBusy) {
		return apierror.Unavailable(fmt.Errorf("events: %w", err))
	}
	return apierror.Internal(fmt.Errorf("events: %w", err))
}
