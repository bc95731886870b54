package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

var _ eventstore.Store = (*Store)(nil)

// record adds events, and their places in the outbox, in the transaction of what they tell
// about.
func (t *tx) record(ctx context.Context, recorded []partner.Event) error {
	rows, outbox := make([][]any, len(recorded)), make([][]any, len(recorded))
	for i, e := range recorded {
		rows[i] = []any{e.ID, e.Type, e.BusinessID, nullText(e.AppID), string(e.Data), ms(e.CreatedAt)}
		outbox[i] = []any{webhookstore.ShardOf(e.BusinessID, t.shards), e.BusinessID, 0, e.ID, ""}
		t.hint(storage.Hint{Topic: eventstore.TopicRecorded, Key: e.BusinessID, From: e.ID})
	}
	if err := t.insertMany(ctx, "INSERT INTO partnerkit_event (id, type, business_id, app_id, data, created_at) VALUES", rows); err != nil {
		return err
	}
	return t.insertMany(ctx, "INSERT INTO partnerkit_outbox (shard, business_id, number, event_id, webhook_id) VALUES", outbox)
}

// RecordEvents implements eventstore.Store: by itself or, on a store that WithTx
// returned, in the host's transaction.
func (s *Store) RecordEvents(ctx context.Context, recorded ...partner.Event) error {
	return wrap("record events", s.write(ctx, func(ctx context.Context, tx *tx) error { return tx.record(ctx, recorded) }))
}

// RecordEventsIn implements eventstore.Store.
func (s *Store) RecordEventsIn(ctx context.Context, tx storage.Tx, recorded ...partner.Event) error {
	return s.WithTx(tx).RecordEvents(ctx, recorded...)
}

// eventColumns are the columns of events e; n has their numbers.
const (
	eventColumns = "e.id, e.type, e.business_id, e.app_id, e.data, e.created_at"
	eventTables  = "partnerkit_event e LEFT JOIN partnerkit_event_number n ON n.event_id = e.id"
)

// Events implements eventstore.Store. Each type is looked up by itself, in an index
// that has its events by number, and no further than the page goes: what a page
// costs depends on how many types there are, and not on how many events.
func (s *Store) Events(ctx context.Context, q eventstore.Query) ([]partner.Event, error) {
	if q.EventID != "" {
		return s.readEvents(ctx, "SELECT "+eventColumns+", n.number FROM "+eventTables+" WHERE e.id = $1 AND e.business_id = $2", q.EventID, q.BusinessID)
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
		branches = append(branches, `SELECT event_id, number FROM (SELECT event_id, number FROM partnerkit_event_number
			WHERE business_id = $1 AND app_id = `+whose+" AND type = "+bind(name)+" AND number > $2 AND event_id >= $3 ORDER BY number LIMIT $4) AS one")
	}
	for _, name := range q.Types {
		branch(name, "''")
	}
	if q.AppID != "" && len(q.AppTypes) > 0 {
		app := bind(q.AppID)
		for _, name := range q.AppTypes {
			branch(name, app)
		}
	}
	if len(branches) == 0 {
		return nil, nil
	}
	return s.readEvents(ctx, "SELECT "+eventColumns+", page.number FROM (SELECT event_id, number FROM ("+strings.Join(branches, " UNION ALL ")+
		") AS seen ORDER BY number LIMIT $4) AS page JOIN partnerkit_event e ON e.id = page.event_id ORDER BY page.number", args...)
}

// readEvents runs a query for eventColumns and the number.
func (s *Store) readEvents(ctx context.Context, query string, args ...any) ([]partner.Event, error) {
	var found []partner.Event
	err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
		var row eventRow
		err := scan(append(row.dest(), &row.number)...)
		found = append(found, row.value())
		return err
	})
	return found, wrap("events", err)
}

// eventRow scans eventColumns.
type eventRow struct {
	event   partner.Event
	appID   sql.NullString
	data    string
	created int64
	number  sql.NullInt64
}

func (r *eventRow) dest() []any {
	return []any{&r.event.ID, &r.event.Type, &r.event.BusinessID, &r.appID, &r.data, &r.created}
}

func (r *eventRow) value() partner.Event {
	r.event.AppID, r.event.Data = r.appID.String, []byte(r.data)
	r.event.CreatedAt, r.event.Number = fromMS(r.created), r.number.Int64
	return r.event
}

// numberAtOnce is how many events NumberEvents gives numbers in one transaction, so that it
// holds the counter of a business for a short time. It ends after about numberFor.
const (
	numberAtOnce = 1000
	numberFor    = time.Second
)

// unnumbered is an event in the outbox without a number.
type unnumbered struct{ id, appID, name string }

// NumberEvents implements eventstore.Store.
func (s *Store) NumberEvents(ctx context.Context, businessID string) (hasMore bool, err error) {
	for began := time.Now(); ; {
		found, err := s.unnumbered(ctx, businessID)
		if err != nil || len(found) == 0 {
			return false, wrap("number events", err)
		}
		switch err := s.numberEvents(ctx, businessID, found); {
		case errors.Is(err, errStop): // somebody else is at it
		case err != nil || len(found) < numberAtOnce:
			return false, wrap("number events", err)
		}
		if time.Since(began) > numberFor {
			return true, nil
		}
	}
}

func (s *Store) unnumbered(ctx context.Context, businessID string) ([]unnumbered, error) {
	var found []unnumbered
	err := storage.Each(ctx, s, s.sql.of(`SELECT o.event_id, COALESCE(e.app_id, ''), COALESCE(e.type, '')
			FROM (SELECT event_id FROM partnerkit_outbox WHERE shard = $1 AND business_id = $2 AND number = 0 ORDER BY event_id LIMIT $3) AS o
			LEFT JOIN partnerkit_event e ON e.id = o.event_id ORDER BY o.event_id`),
		[]any{webhookstore.ShardOf(businessID, s.shards), businessID, numberAtOnce}, func(scan func(...any) error) error {
			var one unnumbered
			err := scan(&one.id, &one.appID, &one.name)
			found = append(found, one)
			return err
		})
	return found, err
}

// numberEvents gives events of a business its next numbers. It returns errStop, and changes
// nothing, when one of them has a number or is planned.
func (s *Store) numberEvents(ctx context.Context, businessID string, found []unnumbered) error {
	return s.write(ctx, func(ctx context.Context, tx *tx) error {
		last, err := tx.count(ctx, map[string]int64{businessID: int64(len(found))})
		if err != nil {
			return err
		}
		next := last[businessID] - int64(len(found))
		outbox, rows := make([][]any, len(found)), make([][]any, len(found))
		for i, e := range found {
			next++
			outbox[i], rows[i] = []any{e.id, next}, []any{e.id, businessID, e.appID, e.name, next}
		}
		err = chunks(outbox, func(part [][]any) error {
			n, err := tx.on.Exec(ctx, tx.sql.many("UPDATE partnerkit_outbox SET number = ", "", len(part), func(n int) string {
				rows := byKey{"event_id", n, 2}
				return rows.value(1, "BIGINT") + " WHERE shard = $" + strconv.Itoa(2*n+1) + " AND business_id = $" + strconv.Itoa(2*n+2) +
					" AND number = 0 AND event_id >= $1 AND event_id <= $" + strconv.Itoa(2*n-1) + " AND " + rows.in()
			}), append(flat(part), webhookstore.ShardOf(businessID, s.shards), businessID)...)
			if err == nil && n != int64(len(part)) {
				err = errStop
			}
			return err
		})
		if err != nil {
			return err
		}
		return tx.insertMany(ctx, insertNumbers, rows)
	})
}

const insertNumbers = "INSERT INTO partnerkit_event_number (event_id, business_id, app_id, type, number) VALUES"

// count takes numbers from the counters of businesses, which it holds until the transaction
// ends, and returns the last ones: numbers become visible in the order in which they were
// given. It goes through the businesses in one order.
func (t *tx) count(ctx context.Context, numbers map[string]int64) (last map[string]int64, err error) {
	rows := make([][]any, 0, len(numbers))
	for _, business := range slices.Sorted(maps.Keys(numbers)) {
		rows = append(rows, []any{business, numbers[business]})
	}
	last = make(map[string]int64, len(numbers))
	err = t.returnMany(ctx, "INSERT INTO partnerkit_event_counter AS c (business_id, last) VALUES", rows,
		" ON CONFLICT (business_id) DO UPDATE SET last = c.last + excluded.last RETURNING business_id, last",
		func(scan func(...any) error) error {
			var business string
			var n int64
			err := scan(&business, &n)
			last[business] = n
			return err
		})
	return last, err
}

// purgeEvents deletes storage.PurgeEvents.
func (s *Store) purgeEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	const table = "partnerkit_event"
	var ids []string
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		ids = nil
		var outbox [][]any
		err := storage.Each(ctx, tx.on, tx.sql.of(`SELECT e.id, e.business_id, n.number FROM (
				SELECT id, business_id FROM partnerkit_event WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS e
				LEFT JOIN partnerkit_event_number n ON n.event_id = e.id ORDER BY e.id`),
			[]any{s.purgedUpTo(table), id.Floor(id.Event, before), limit}, func(scan func(...any) error) error {
				var event, business string
				var number sql.NullInt64
				err := scan(&event, &business, &number)
				ids = append(ids, event)
				outbox = append(outbox, []any{webhookstore.ShardOf(business, s.shards), business, number.Int64, event})
				return err
			})
		if err != nil {
			return err
		}
		for _, table := range []string{"partnerkit_event WHERE id", "partnerkit_event_number WHERE event_id"} {
			err := sets(ids, func(set []any) error {
				_, err := tx.exec(ctx, "DELETE FROM "+table+" IN ("+places(0, len(set))+")", set...)
				return err
			})
			if err != nil {
				return err
			}
		}
		return tx.leaveOutbox(ctx, outbox)
	})
	if err == nil && len(ids) > 0 {
		s.goOn(table, ids[len(ids)-1], len(ids) == limit)
	}
	return len(ids), wrap("purge events", err)
}
