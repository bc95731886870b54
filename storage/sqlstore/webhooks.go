package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const webhookColumns = "w.id, w.app_id, w.url, w.events, w.enabled, w.secret, w.previous_secret, w.previous_expires_at, w.created_at, w.updated_at, " + failingSince + ", w.disabled_at, w.disabled_reason, w.unverified_since, w.challenge_error, w.version"

// liveWebhook is one of an app that is not deleted.
const liveWebhook = "SELECT " + webhookColumns + " FROM partnerkit_webhook w WHERE w.id = $2 AND w.app_id = $1 AND w.deleted_at IS NULL"

// webhookRow scans a row of webhookColumns.
type webhookRow struct {
	webhook          partner.Webhook
	events           string
	previousExpires  sql.NullInt64
	created, updated int64

	failing, disabled, unverified sql.NullInt64
	reason, challengeError        sql.NullString
}

func (r *webhookRow) dest() []any {
	w := &r.webhook
	return []any{
		&w.ID, &w.AppID, &w.URL, &r.events, &w.Enabled, &w.Secret, &w.Previous, &r.previousExpires, &r.created, &r.updated,
		&r.failing, &r.disabled, &r.reason, &r.unverified, &r.challengeError, &w.Version,
	}
}

func (r *webhookRow) value() (partner.Webhook, error) {
	var err error
	r.webhook.PreviousExpiresAt, r.webhook.CreatedAt, r.webhook.UpdatedAt = fromNullMS(r.previousExpires), fromMS(r.created), fromMS(r.updated)
	r.webhook.Health = partner.WebhookHealth{FailingSince: fromNullMS(r.failing), DisabledAt: fromNullMS(r.disabled), DisabledReason: r.reason.String}
	r.webhook.UnverifiedSince, r.webhook.ChallengeError = fromNullMS(r.unverified), r.challengeError.String
	r.webhook.Events, err = parseList(r.events)
	return r.webhook, err
}

// CreateWebhook implements webhookstore.Store. A concurrent insert for the same app
// waits for the app's row, so that the count stays correct.
func (s *Store) CreateWebhook(ctx context.Context, w partner.Webhook, limit int) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var one int
		if err := tx.one(ctx, "SELECT 1 FROM partnerkit_app WHERE id = $1"+tx.dialect.ForUpdate, []any{w.AppID}, &one); err != nil {
			return noWebhook(err)
		}
		var has int
		if err := tx.one(ctx, "SELECT COUNT(*) FROM partnerkit_webhook WHERE app_id = $1 AND deleted_at IS NULL", []any{w.AppID}, &has); err != nil {
			return err
		}
		if has >= limit {
			return webhookstore.ErrTooMany
		}
		n, err := tx.exec(ctx, `INSERT INTO partnerkit_webhook (id, app_id, url, events, enabled, secret, previous_secret, previous_expires_at, created_at, updated_at, version, unverified_since)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`,
			w.ID, w.AppID, w.URL, list(w.Events), w.Enabled, w.Secret, w.Previous, nullMS(w.PreviousExpiresAt), ms(w.CreatedAt), ms(w.UpdatedAt), w.Version, nullMS(w.UnverifiedSince))
		if err == nil && n == 0 {
			return webhookstore.ErrTaken
		}
		return err
	})
	return wrap("create webhook", err)
}

// Webhook implements webhookstore.Store.
func (s *Store) Webhook(ctx context.Context, appID, webhookID string, healthAt time.Time) (partner.Webhook, error) {
	found, err := s.liveWebhooks(ctx, healthAt, "w.app_id = $1 AND w.id = $2", appID, webhookID)
	if err == nil && len(found) == 0 {
		err = partner.ErrNotFound
	}
	if err != nil {
		return partner.Webhook{}, wrap("webhook", err)
	}
	return found[0], nil
}

// Webhooks implements webhookstore.Store.
func (s *Store) Webhooks(ctx context.Context, appID string, healthAt time.Time) ([]partner.Webhook, error) {
	all, err := s.liveWebhooks(ctx, healthAt, "w.app_id = $1 ORDER BY w.created_at, w.id", appID)
	return all, wrap("webhooks", err)
}

// AllWebhooks implements webhookstore.Store.
func (s *Store) AllWebhooks(ctx context.Context, after string, limit int) ([]partner.Webhook, error) {
	all, err := s.liveWebhooks(ctx, time.Time{}, "w.id > $1 ORDER BY w.id LIMIT $2", after, limit)
	return all, wrap("webhooks", err)
}

func (s *Store) liveWebhooks(ctx context.Context, healthAt time.Time, which string, args ...any) ([]partner.Webhook, error) {
	var all []partner.Webhook
	err := storage.Each(ctx, s, s.sql.of("SELECT "+webhookColumns+" FROM partnerkit_webhook w WHERE w.deleted_at IS NULL AND "+which), args,
		func(scan func(...any) error) error {
			var row webhookRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	if err == nil && !healthAt.IsZero() {
		err = s.rateAttempts(ctx, all, healthAt)
	}
	return all, err
}

// UpdateWebhook implements webhookstore.Store.
func (s *Store) UpdateWebhook(ctx context.Context, appID, webhookID string, change func(partner.Webhook) (partner.Webhook, error)) (partner.Webhook, error) {
	var changed partner.Webhook
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var row webhookRow
		if err := tx.one(ctx, liveWebhook+tx.dialect.ForUpdate, []any{appID, webhookID}, row.dest()...); err != nil {
			return noWebhook(err)
		}
		before, err := row.value()
		if err != nil {
			return err
		}
		next, err := change(before)
		if err != nil {
			return err
		}
		next.ID, next.AppID, next.CreatedAt, next.Health = before.ID, before.AppID, before.CreatedAt, before.Health
		if next.Enabled && !before.Enabled {
			next.Health = partner.WebhookHealth{}
			if _, err := tx.exec(ctx, `UPDATE partnerkit_webhook SET health_epoch = health_epoch + 1, failing_since = NULL, failed_count = 0, warned_at = NULL,
				disabled_at = NULL, disabled_reason = NULL WHERE id = $1`, next.ID); err != nil {
				return err
			}
		}
		changed = next
		_, err = tx.exec(ctx, `UPDATE partnerkit_webhook SET url = $2, events = $3, enabled = $4, secret = $5, previous_secret = $6, previous_expires_at = $7,
			updated_at = $8, version = $9, unverified_since = $10, challenge_error = $11 WHERE id = $1`,
			next.ID, next.URL, list(next.Events), next.Enabled, next.Secret, next.Previous, nullMS(next.PreviousExpiresAt), ms(next.UpdatedAt), next.Version,
			nullMS(next.UnverifiedSince), nullText(next.ChallengeError))
		return err
	})
	return changed, wrap("update webhook", err)
}

// DeleteWebhook implements webhookstore.Store. It marks the row; what is
// queued sees that before it is sent.
func (s *Store) DeleteWebhook(ctx context.Context, appID, webhookID string, now time.Time) error {
	n, err := s.exec(ctx, "UPDATE partnerkit_webhook SET deleted_at = $3 WHERE id = $2 AND app_id = $1 AND deleted_at IS NULL", appID, webhookID, ms(now))
	if err == nil && n == 0 {
		err = partner.ErrNotFound
	}
	return wrap("delete webhook", err)
}

// noWebhook turns an empty result into the error of the interface.
func noWebhook(err error) error {
	if errors.Is(err, storage.ErrNoRows) {
		return partner.ErrNotFound
	}
	return err
}
