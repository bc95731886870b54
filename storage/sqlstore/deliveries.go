package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// deliveryColumns are those of deliveries d, each with the attempt a that arrived, if
// one has: then that says how the delivery stands, and its own row is as it was before.
const (
	deliveryColumns = "d.id, d.webhook_id, d.app_id, d.event_id, d.event_type, d.business_id, d.body, " + deliveryState
	// deliveryHead is without the body, which a list leaves out.
	deliveryHead  = "d.id, d.webhook_id, d.app_id, d.event_id, d.event_type, d.business_id, NULL, " + deliveryState
	deliveryState = `CASE WHEN a.id IS NULL THEN d.status ELSE 'delivered' END, COALESCE(a.number, d.attempts), COALESCE(a.response_code, d.response_code),
		CASE WHEN a.id IS NULL THEN d.last_error END, CASE WHEN a.id IS NULL THEN d.next_attempt_at END, d.created_at`
	deliveryTables  = "partnerkit_delivery d" + deliveryArrived
	deliveryArrived = " LEFT JOIN partnerkit_attempt a ON a.delivery_id = d.id AND a.response_code BETWEEN 200 AND 299"
)

// deliveryRow is where a row of deliveryColumns is scanned to.
type deliveryRow struct {
	delivery      webhooks.Delivery
	event, failed sql.NullString
	code, next    sql.NullInt64
	created       int64
}

func (r *deliveryRow) dest() []any {
	d := &r.delivery
	return []any{
		&d.ID, &d.WebhookID, &d.AppID, &r.event, &d.EventType, &d.BusinessID, &d.Body, (*string)(&d.Status), &d.Attempts,
		&r.code, &r.failed, &r.next, &r.created,
	}
}

func (r *deliveryRow) value() webhooks.Delivery {
	d := r.delivery
	d.EventID, d.LastError, d.ResponseCode = r.event.String, r.failed.String, int(r.code.Int64)
	d.NextAttemptAt, d.CreatedAt = fromNullMS(r.next), fromMS(r.created)
	return d
}

// Deliveries implements webhooks.DeliveryStore.
func (s *Store) Deliveries(ctx context.Context, appID, webhookID string, limit int) ([]webhooks.Delivery, error) {
	if _, err := s.Webhook(ctx, appID, webhookID); err != nil {
		return nil, wrap("deliveries", err)
	}
	var all []webhooks.Delivery
	err := storage.Each(ctx, s, s.sql.of("SELECT "+deliveryHead+` FROM (
			SELECT id, webhook_id, app_id, event_id, event_type, business_id, status, attempts, response_code, last_error, next_attempt_at, created_at
			FROM partnerkit_delivery WHERE webhook_id = $1 ORDER BY id || '' DESC LIMIT $2) AS d`+deliveryArrived+" ORDER BY d.id DESC"), []any{webhookID, limit},
		func(scan func(...any) error) error {
			var row deliveryRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			all = append(all, row.value())
			return nil
		})
	return all, wrap("deliveries", err)
}

// Delivery implements webhooks.DeliveryStore.
func (s *Store) Delivery(ctx context.Context, appID, webhookID, deliveryID string) (webhooks.Delivery, []webhooks.Attempt, error) {
	var row deliveryRow
	err := s.read(ctx, "SELECT "+deliveryColumns+" FROM "+deliveryTables+` JOIN partnerkit_webhook w ON w.id = d.webhook_id
		WHERE d.id = $3 AND d.webhook_id = $2 AND w.app_id = $1 AND w.deleted_at IS NULL`, []any{appID, webhookID, deliveryID}, row.dest()...)
	if err != nil {
		return webhooks.Delivery{}, nil, wrap("delivery", noWebhook(err))
	}
	attempts, err := s.attempts(ctx, deliveryID)
	return row.value(), attempts, wrap("delivery", err)
}

func (s *Store) attempts(ctx context.Context, deliveryID string) ([]webhooks.Attempt, error) {
	var all []webhooks.Attempt
	err := storage.Each(ctx, s, s.sql.of(`SELECT id, number, signature, started_at, took_ms, response_code, error, answer
		FROM partnerkit_attempt WHERE delivery_id = $1 ORDER BY id`), []any{deliveryID},
		func(scan func(...any) error) error {
			var a webhooks.Attempt
			var started, took int64
			var code sql.NullInt64
			var failed sql.NullString
			if err := scan(&a.ID, &a.Number, &a.Signature, &started, &took, &code, &failed, &a.Answer); err != nil {
				return err
			}
			a.StartedAt, a.Duration = fromMS(started), time.Duration(took)*time.Millisecond
			a.ResponseCode, a.Error = int(code.Int64), failed.String
			all = append(all, a)
			return nil
		})
	return all, err
}
