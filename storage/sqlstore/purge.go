package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// purgeDeliveries deletes storage.PurgeDeliveries. Ids sort by time, so old deliveries are
// the first rows of the table, and so are their attempts. The queue key of a delivery is
// its next attempt. Queue rows are deleted first, in the same lock order as the recording
// of an attempt. A queue row that was moved meanwhile is deleted together with its
// delivery. Where days have tables of their own, whole days are dropped instead.
func (s *Store) purgeDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	var purged int
	var last string
	after, until := s.purgedUpTo(deliveryTable), id.Floor(id.Delivery, before)
	if s.isPartitioned {
		oldestDay, err := s.dropDays(ctx, until)
		if err != nil {
			return 0, wrap("purge deliveries", err)
		}
		if oldestDay != "" {
			until = min(until, oldestDay)
		}
	}
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		purged, last = 0, ""
		old, err := tx.oldDeliveries(ctx, "SELECT "+oldColumns+" FROM partnerkit_delivery WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3", after, until, limit)
		if err != nil {
			return err
		}
		if purged = len(old); purged > 0 {
			last = old[purged-1].id
			if err := tx.deleteDeliveries(ctx, old, after); err != nil {
				return err
			}
		}
		n, err := tx.exec(ctx, `DELETE FROM partnerkit_webhook WHERE id IN (SELECT w.id FROM partnerkit_webhook w
			WHERE w.deleted_at < $1 AND NOT EXISTS (SELECT 1 FROM partnerkit_delivery d WHERE d.webhook_id = w.id) LIMIT $2)`, ms(before), limit-purged)
		purged += int(n)
		return err
	})
	if err == nil {
		s.goOn(deliveryTable, last, purged >= limit)
	}
	return purged, wrap("purge deliveries", err)
}

const (
	deliveryTable = "partnerkit_delivery"
	oldColumns    = "id, webhook_id, next_attempt_at"
)

// oldDelivery is a delivery to be deleted, and its place in the queue.
type oldDelivery struct {
	id, webhook string
	due         sql.NullInt64
}

func (t *tx) oldDeliveries(ctx context.Context, query string, args ...any) ([]oldDelivery, error) {
	var old []oldDelivery
	err := storage.Each(ctx, t.on, t.sql.of(query), args, func(scan func(...any) error) error {
		var d oldDelivery
		err := scan(&d.id, &d.webhook, &d.due)
		old = append(old, d)
		return err
	})
	return old, err
}

// deleteDeliveries deletes deliveries, which are all those behind an id, with what depends on
// them.
func (t *tx) deleteDeliveries(ctx context.Context, old []oldDelivery, after string) error {
	if err := t.leaveQueue(ctx, old); err != nil {
		return err
	}
	ids := make([]string, len(old))
	for i, d := range old {
		ids[i] = d.id
	}
	var gone []oldDelivery
	err := sets(ids, func(set []any) error {
		some, err := t.oldDeliveries(ctx, "DELETE FROM partnerkit_delivery WHERE id IN ("+places(0, len(set))+") RETURNING "+oldColumns, set...)
		gone = append(gone, some...)
		return err
	})
	if err != nil {
		return err
	}
	if err := t.leaveQueue(ctx, gone); err != nil { // those that were moved in between
		return err
	}
	for { // the LIMIT makes PostgreSQL scan the index regardless of its statistics
		n, err := t.exec(ctx, `DELETE FROM partnerkit_attempt WHERE (delivery_id, id) IN (
			SELECT delivery_id, id FROM partnerkit_attempt WHERE delivery_id > $1 AND delivery_id <= $2 ORDER BY delivery_id, id LIMIT 500)`, after, ids[len(ids)-1])
		if err != nil || n < 500 {
			return err
		}
	}
}

// leaveQueue deletes the places of deliveries in the queue.
func (t *tx) leaveQueue(ctx context.Context, old []oldDelivery) error {
	for _, d := range old {
		if !d.due.Valid {
			continue
		}
		err := t.later(ctx, "DELETE FROM partnerkit_delivery_queue WHERE shard = $1 AND webhook_id = $2 AND due_at = $3 AND delivery_id = $4",
			webhookstore.ShardOf(d.webhook, t.shards), d.webhook, d.due.Int64, d.id)
		if err != nil {
			return err
		}
	}
	return nil
}

// purgedUpTo returns the id of the last row that the purge of a table has deleted, if it
// goes on behind that: PostgreSQL would step over what was deleted and is not vacuumed yet.
func (s *Store) purgedUpTo(table string) string {
	last, _ := s.purged.Load(table)
	id, _ := last.(string)
	return id
}

// goOn notes where the purge of a table goes on: behind a row, or at the beginning once it
// came to its end.
func (s *Store) goOn(table, last string, hasMore bool) { //nolint:revive // a state, not a switch
	if !hasMore {
		last = ""
	}
	s.purged.Store(table, last)
}
