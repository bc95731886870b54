package sqlstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

var _ events.Store = (*Store)(nil)

// record adds events in the transaction of what they tell about.
func (t *tx) record(ctx context.Context, recorded []events.Event) error {
	rows := make([][]any, len(recorded))
	for i, e := range recorded {
		rows[i] = []any{e.ID, e.Type, e.BusinessID, nullText(e.AppID), string(e.Data), ms(e.CreatedAt)}
		t.hint(events.TopicRecorded)
	}
	return t.insertMany(ctx, "INSERT INTO partnerkit_event (id, type, business_id, app_id, data, created_at) VALUES", rows)
}

// RecordEvents implements events.Recorder: by itself or, on a store that WithTx
// returned, in the host's transaction.
func (s *Store) RecordEvents(ctx context.Context, recorded ...events.Event) error {
	return wrap("record events", s.write(ctx, func(ctx context.Context, tx *tx) error { return tx.record(ctx, recorded) }))
}

const eventColumns = "id, type, business_id, app_id, data, created_at, number"

// readEvents runs a query for eventColumns.
func (s *Store) readEvents(ctx context.Context, query string, args ...any) ([]events.Event, error) {
	var found []events.Event
	err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
		var row eventRow
		err := scan(row.dest()...)
		found = append(found, row.value())
		return err
	})
	return found, wrap("events", err)
}

// Events implements events.Store. Each type is looked up by itself, in an index
// that has its events by number, and no further than the page goes: what a page
// costs depends on how many types there are, and not on how many events.
func (s *Store) Events(ctx context.Context, q events.Query) ([]events.Event, error) {
	if q.EventID != "" {
		return s.readEvents(ctx, "SELECT "+eventColumns+" FROM partnerkit_event WHERE id = $1 AND business_id = $2", q.EventID, q.BusinessID)
	}
	since := ""
	if !q.Since.IsZero() {
		since = id.Floor(id.Event, q.Since)
	}
	args := []any{q.BusinessID, q.After, since, q.Limit}
	bind := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	var branches []string
	branch := func(name, whose string) {
		branches = append(branches, `SELECT id, number FROM (SELECT id, number FROM partnerkit_event
			WHERE business_id = $1 AND `+whose+" AND type = "+bind(name)+" AND number > $2 AND id >= $3 ORDER BY number LIMIT $4) AS one")
	}
	for _, name := range q.Types {
		branch(name, "app_id IS NULL")
	}
	if len(q.AppTypes) > 0 {
		whose := "app_id = " + bind(q.AppID)
		for _, name := range q.AppTypes {
			branch(name, whose)
		}
	}
	if len(branches) == 0 {
		return nil, nil
	}
	return s.readEvents(ctx, "SELECT "+eventColumns+` FROM partnerkit_event WHERE id IN (
			SELECT id FROM (`+strings.Join(branches, " UNION ALL ")+`) AS seen ORDER BY number LIMIT $4
		) ORDER BY number`, args...)
}

// purgeEvents deletes storage.PurgeEvents.
func (s *Store) purgeEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "DELETE FROM partnerkit_event WHERE id IN (SELECT id FROM partnerkit_event WHERE id < $1 ORDER BY id LIMIT $2)",
		id.Floor(id.Event, before), limit)
	return int(n), wrap("purge events", err)
}

// eventRow is one of partnerkit_event.
type eventRow struct {
	event   events.Event
	appID   sql.NullString
	data    string
	created int64
	number  sql.NullInt64
}

func (r *eventRow) dest() []any {
	return []any{&r.event.ID, &r.event.Type, &r.event.BusinessID, &r.appID, &r.data, &r.created, &r.number}
}

func (r *eventRow) value() events.Event {
	r.event.AppID, r.event.Data = r.appID.String, []byte(r.data)
	r.event.CreatedAt, r.event.Number = fromMS(r.created), r.number.Int64
	return r.event
}
