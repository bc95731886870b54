package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// deliveryColumns are the columns of deliveries d, each joined with its successful attempt
// a, if there is one. Then the attempt determines the state of the delivery, whose own row
// still holds the state before that attempt.
const (
	deliveryColumns = "d.id, d.webhook_id, d.app_id, d.event_id, d.event_type, d.business_id, d.body, " + deliveryState
	// deliveryHead is without the body, which a list leaves out.
	deliveryHead   = "d.id, d.webhook_id, d.app_id, d.event_id, d.event_type, d.business_id, NULL, " + deliveryState
	deliveryStatus = "CASE WHEN a.id IS NULL THEN COALESCE(d.status, 'queued') ELSE 'delivered' END"
	deliveryState  = deliveryStatus + `, COALESCE(a.number, d.attempts), COALESCE(a.response_code, d.response_code),
		CASE WHEN a.id IS NULL THEN d.last_error END, CASE WHEN a.id IS NULL THEN d.next_attempt_at END, d.round, d.sequence, d.created_at`
	deliveryTables  = "partnerkit_delivery d" + deliveryArrived
	deliveryArrived = " LEFT JOIN partnerkit_attempt a ON a.delivery_id = d.id AND " + arrived
	arrived         = "a.response_code BETWEEN 200 AND 299"
)

// deliveryRow scans a row of deliveryColumns.
type deliveryRow struct {
	delivery             partner.Delivery
	event, failed        sql.NullString
	code, next, sequence sql.NullInt64
	created              int64
}

func (r *deliveryRow) dest() []any {
	d := &r.delivery
	return []any{
		&d.ID, &d.WebhookID, &d.AppID, &r.event, &d.EventType, &d.BusinessID, &d.Body, (*string)(&d.Status), &d.Attempts,
		&r.code, &r.failed, &r.next, &d.Round, &r.sequence, &r.created,
	}
}

func (r *deliveryRow) value() partner.Delivery {
	d := r.delivery
	d.EventID, d.LastError, d.ResponseCode, d.Sequence = r.event.String, r.failed.String, int(r.code.Int64), r.sequence.Int64
	d.NextAttemptAt, d.CreatedAt = fromNullMS(r.next), fromMS(r.created)
	return d
}

// Delivery implements webhookstore.Store.
func (s *Store) Delivery(ctx context.Context, appID, webhookID, deliveryID string) (partner.Delivery, []partner.Attempt, error) {
	var row deliveryRow
	err := s.read(ctx, "SELECT "+deliveryColumns+" FROM "+deliveryTables+` JOIN partnerkit_webhook w ON w.id = d.webhook_id
		WHERE d.id = $3 AND d.webhook_id = $2 AND w.app_id = $1 AND w.deleted_at IS NULL`, []any{appID, webhookID, deliveryID}, row.dest()...)
	if err != nil {
		return partner.Delivery{}, nil, wrap("delivery", noWebhook(err))
	}
	attempts, err := s.attempts(ctx, deliveryID)
	return row.value(), attempts, wrap("delivery", err)
}

func (s *Store) attempts(ctx context.Context, deliveryID string) ([]partner.Attempt, error) {
	var all []partner.Attempt
	err := storage.Each(ctx, s, s.sql.of(`SELECT id, round, number, signature, started_at, took_ms, response_code, error, response_headers, answer
		FROM partnerkit_attempt WHERE delivery_id = $1 ORDER BY id`), []any{deliveryID},
		func(scan func(...any) error) error {
			var a partner.Attempt
			var started, took int64
			var code sql.NullInt64
			var failed, header sql.NullString
			if err := scan(&a.ID, &a.Round, &a.Number, &a.Signature, &started, &took, &code, &failed, &header, &a.ResponseBody); err != nil {
				return err
			}
			if header.Valid {
				if err := json.Unmarshal([]byte(header.String), &a.ResponseHeader); err != nil {
					return err
				}
			}
			a.StartedAt, a.Duration = fromMS(started), time.Duration(took)*time.Millisecond
			a.ResponseCode, a.Error = int(code.Int64), failed.String
			all = append(all, a)
			return nil
		})
	return all, err
}
