package sqlstore

import (
	"context"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// businessesPerPage is how many businesses one statement of AppEvents reads.
const businessesPerPage = 64

// AppEvents implements consolestore.Store. It reads the numbers of all events that match, which
// are in one narrow index, and the events themselves only for the page.
func (s *Store) AppEvents(ctx context.Context, q consolestore.EventQuery) ([]partner.Event, error) {
	var all []partner.Event
	for businesses := range slices.Chunk(q.BusinessIDs, businessesPerPage) {
		found, err := s.appEvents(ctx, q, businesses)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b partner.Event) int { return strings.Compare(b.ID, a.ID) })
	return all[:min(len(all), q.Limit)], nil
}

func (s *Store) appEvents(ctx context.Context, q consolestore.EventQuery, businesses []string) ([]partner.Event, error) {
	var t statement
	list := func(values []string) string {
		marks := make([]string, len(values))
		for i, value := range values {
			marks[i] = t.arg(value)
		}
		return strings.Join(marks, ", ")
	}
	var branches []string
	for _, one := range []struct {
		appID string
		types []string
	}{{"", q.Types}, {q.AppID, q.AppTypes}} {
		if len(one.types) == 0 {
			continue
		}
		// The order is that of an expression, so that no database walks through the ids of all
		// events, past those of other businesses.
		branch := "SELECT event_id, number FROM (SELECT event_id, number FROM partnerkit_event_number WHERE business_id IN (" + list(businesses) + ") AND app_id = " + t.arg(one.appID) +
			" AND type IN (" + list(one.types) + ") AND event_id >= " + t.arg(id.Floor(id.Event, q.Since))
		if q.Before != "" {
			branch += " AND event_id < " + t.arg(q.Before)
		}
		branches = append(branches, branch+" ORDER BY event_id || '' DESC LIMIT "+t.arg(q.Limit)+") AS one")
	}
	if len(branches) == 0 {
		return nil, nil
	}
	return s.readEvents(ctx, "SELECT "+eventColumns+", page.number FROM (SELECT event_id, number FROM ("+strings.Join(branches, " UNION ALL ")+
		") AS seen ORDER BY event_id || '' DESC LIMIT "+t.arg(q.Limit)+") AS page JOIN partnerkit_event e ON e.id = page.event_id ORDER BY e.id DESC", t.args...)
}

// EventDeliveries implements consolestore.Store.
func (s *Store) EventDeliveries(ctx context.Context, appID string, eventIDs []string) ([]partner.Delivery, error) {
	if len(eventIDs) == 0 {
		return nil, nil
	}
	found, err := s.readHeads(ctx, "SELECT "+deliveryHead+" FROM "+deliveryTables+` JOIN partnerkit_webhook w ON w.id = d.webhook_id
		WHERE w.app_id = $1 AND w.deleted_at IS NULL AND d.event_id IN (`+places(1, len(eventIDs))+")", append([]any{appID}, anys(eventIDs)...))
	return found, wrap("deliveries of events", err)
}
