package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

// purgeDeliveries deletes storage.PurgeDeliveries. Ids sort by time, so old deliveries are
// the first rows of the table, and so are their attempts. The queue key of a delivery is
// its next attempt. Queue rows are deleted first, in the same lock order as the recording
// of an attempt. A queue row that was moved meanwhile is deleted together with its
// delivery.
func (s *Store) purgeDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	var purged int
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		_, err := tx.exec(ctx, `DELETE FROM partnerkit_delivery_queue WHERE (webhook_id, due_at, delivery_id) IN (
			SELECT webhook_id, next_attempt_at, id FROM partnerkit_delivery WHERE id < $1 ORDER BY id LIMIT $2)`, id.Floor(id.Delivery, before), limit)
		if err != nil {
			return err
		}
		gone, err := tx.deleteDeliveries(ctx, before, limit)
		if err != nil {
			return err
		}
		if err := tx.forget(ctx, gone); err != nil {
			return err
		}
		n, err := tx.exec(ctx, `DELETE FROM partnerkit_webhook WHERE id IN (SELECT w.id FROM partnerkit_webhook w
			WHERE w.deleted_at < $1 AND NOT EXISTS (SELECT 1 FROM partnerkit_delivery d WHERE d.webhook_id = w.id) LIMIT $2)`, ms(before), limit-len(gone))
		purged = len(gone) + int(n)
		return err
	})
	return purged, wrap("purge deliveries", err)
}

type goneDelivery struct {
	id, webhook string
	due         sql.NullInt64
}

func (t *tx) deleteDeliveries(ctx context.Context, before time.Time, limit int) ([]goneDelivery, error) {
	var gone []goneDelivery
	err := storage.Each(ctx, t.on, t.sql.of(`DELETE FROM partnerkit_delivery WHERE id IN (
			SELECT id FROM partnerkit_delivery WHERE id < $1 ORDER BY id LIMIT $2) RETURNING id, webhook_id, next_attempt_at`),
		[]any{id.Floor(id.Delivery, before), limit},
		func(scan func(...any) error) error {
			var d goneDelivery
			if err := scan(&d.id, &d.webhook, &d.due); err != nil {
				return err
			}
			gone = append(gone, d)
			return nil
		})
	return gone, err
}

// forget deletes the rows that depend on deleted deliveries.
func (t *tx) forget(ctx context.Context, gone []goneDelivery) error {
	last, places := "", make([][]any, 0, len(gone))
	for _, d := range gone {
		last = max(last, d.id)
		if d.due.Valid {
			places = append(places, []any{d.webhook, d.due.Int64, d.id})
		}
	}
	err := chunks(places, func(part [][]any) error {
		_, err := t.on.Exec(ctx, t.sql.many("DELETE FROM partnerkit_delivery_queue WHERE (webhook_id, due_at, delivery_id) IN (", ")",
			len(part), table("TEXT", "BIGINT", "TEXT")), flat(part)...)
		return err
	})
	if err != nil {
		return err
	}
	for { // the LIMIT makes PostgreSQL scan the index regardless of its statistics
		n, err := t.exec(ctx, `DELETE FROM partnerkit_attempt WHERE (delivery_id, id) IN (
			SELECT delivery_id, id FROM partnerkit_attempt WHERE delivery_id <= $1 ORDER BY delivery_id, id LIMIT 500)`, last)
		if err != nil || n < 500 {
			return err
		}
	}
}
