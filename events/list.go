package events

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partner"
)

type page struct {
	Events  []response `json:"events"`
	HasMore bool       `json:"hasMore"`
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
	hasUnnumbered, err := l.cfg.Store.NumberEvents(r.Context(), p.BusinessID)
	if err != nil {
		return apierror.Failed("events", err)
	}
	q := eventstore.Query{BusinessID: p.BusinessID, AppID: p.AppID, Since: l.oldest(), Limit: asked.limit + 1}
	if q.After, err = l.place(r, p.BusinessID, asked, q.Since); err != nil {
		return err
	}
	q.Types, q.AppTypes = l.visible(p, asked.types)
	found, err := l.cfg.Store.Events(r.Context(), q)
	if err != nil {
		return apierror.Failed("events", err)
	}
	fit := fitting(found, asked.limit)
	hasMore := len(found) > fit || hasUnnumbered
	found = found[:fit]
	shown := page{Events: make([]response, len(found)), HasMore: hasMore}
	for i, e := range found {
		definition, _ := l.cfg.Catalog.Lookup(e.Type)
		if shown.Events[i], err = responseOf(e, definition, p.Version); err != nil {
			return err
		}
	}
	return apierror.WriteJSON(w, http.StatusOK, shown)
}

// maxPage limits the data of a page: the page ends with the event that exceeds it, and the
// reader continues from there.
const maxPage = 4 << 20

// fitting returns how many events make a page.
func fitting(found []partner.Event, limit int) int {
	size := 0
	for i, e := range found[:min(limit, len(found))] {
		if size += len(e.Data); size > maxPage {
			return i + 1
		}
	}
	return min(limit, len(found))
}

// place returns the number of the cursor's event, which the app need not be able to see.
// An event without a number was committed after the request arrived, so no client can
// have received it as a cursor.
func (l *Log) place(r *http.Request, businessID string, asked query, since time.Time) (int64, error) {
	if !asked.hasAfter {
		return 0, nil
	}
	e, err := l.find(r, businessID, asked.after, since)
	if errors.Is(err, errNotFound) || err == nil && e.Number == 0 {
		return 0, codes.UnknownCursor.New(asked.after)
	}
	return e.Number, err
}

// visible returns the types that the app may see, all or among those asked for.
func (l *Log) visible(p identity.Principal, asked []string) (ofBusiness, ofApp []string) {
	for _, d := range l.cfg.Catalog.definitions {
		switch {
		case asked != nil && !slices.Contains(asked, d.Name):
		case d.Audience == AudienceApp && d.IsVisible(p.AppID, viewer(p)):
			ofApp = append(ofApp, d.Name)
		case d.Audience != AudienceApp && d.IsVisible("", viewer(p)):
			ofBusiness = append(ofBusiness, d.Name)
		}
	}
	return ofBusiness, ofApp
}
