package sqlstore

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DueWebhooks implements webhooks.QueueStore. It reads one range of the queue's
// index in each shard.
func (s *Store) DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]webhooks.DueWebhook, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	names := make([]string, len(shards))
	for i, shard := range shards {
		names[i] = strconv.Itoa(shard)
	}
	due, err := s.dueWebhooks(ctx, "SELECT webhook_id, MIN(due_at) FROM partnerkit_delivery_queue WHERE shard IN ("+strings.Join(names, ", ")+`)
		AND due_at > $1 AND due_at <= $2 GROUP BY webhook_id`, ms(after), ms(until))
	return due, wrap("due webhooks", err)
}

// QueuedWebhooks implements webhooks.QueueStore. It goes from one webhook to the
// next through the key of the queue, however many deliveries each has.
func (s *Store) QueuedWebhooks(ctx context.Context) ([]webhooks.DueWebhook, error) {
	queued, err := s.dueWebhooks(ctx, `WITH RECURSIVE w (id) AS (
			SELECT MIN(webhook_id) FROM partnerkit_delivery_queue
			UNION ALL
			SELECT (SELECT MIN(q.webhook_id) FROM partnerkit_delivery_queue q WHERE q.webhook_id > w.id) FROM w WHERE w.id IS NOT NULL
		)
		SELECT w.id, (SELECT MIN(q.due_at) FROM partnerkit_delivery_queue q WHERE q.webhook_id = w.id) FROM w WHERE w.id IS NOT NULL`)
	return queued, wrap("queued webhooks", err)
}

func (s *Store) dueWebhooks(ctx context.Context, query string, args ...any) ([]webhooks.DueWebhook, error) {
	var all []webhooks.DueWebhook
	err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
		var one webhooks.DueWebhook
		var due int64
		err := scan(&one.WebhookID, &due)
		one.Due = fromMS(due)
		all = append(all, one)
		return err
	})
	return all, err
}

// DueDeliveries implements webhooks.QueueStore: an index range for each webhook,
// then the deliveries with their standing, many at a time.
func (s *Store) DueDeliveries(ctx context.Context, c webhooks.Claim) ([]webhooks.Due, error) {
	dueAt := map[string]time.Time{}
	var ids []string
	for _, w := range c.Webhooks {
		left := w.Limit
		err := eachUntil(ctx, s, s.sql.of(`SELECT delivery_id, due_at FROM partnerkit_delivery_queue
				WHERE webhook_id = $1 AND due_at >= $2 AND due_at <= $3 ORDER BY due_at, delivery_id LIMIT CAST($4 AS BIGINT)`), []any{w.WebhookID, ms(w.From), ms(c.Now), w.Limit + w.Taken},
			func(scan func(...any) error) (enough bool, err error) {
				var id string
				var at int64
				if err := scan(&id, &at); err != nil || c.IsTaken(id) {
					return false, err
				}
				left--
				ids, dueAt[id] = append(ids, id), fromMS(at)
				return left == 0, nil
			})
		if err != nil {
			return nil, wrap("due deliveries", err)
		}
	}
	all := make([]webhooks.Due, 0, len(ids))
	err := eachIn(ctx, s, s.sql.of("SELECT "+deliveryColumns+", "+gateColumns+" FROM partnerkit_delivery d"+gateJoins+" WHERE d.id IN"), ids,
		func(scan func(...any) error) error {
			var delivery deliveryRow
			var gate gateRow
			if err := scan(append(delivery.dest(), gate.dest()...)...); err != nil {
				return err
			}
			due := webhooks.Due{Delivery: delivery.value(), URL: gate.url.String, Secrets: gate.secrets()}
			due.DueAt = dueAt[due.ID]
			var err error
			due.Standing, err = gate.standing(due.AppID)
			all = append(all, due)
			return err
		})
	return all, wrap("due deliveries", err)
}
