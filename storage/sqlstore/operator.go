package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// openReviews are the revisions of listings and the submissions of apps that wait for a
// decision.
const openReviews = ` FROM (
		SELECT id, app_id, name, state, reviewer_id, submitted_at FROM partnerkit_listing_revision WHERE is_latest
		UNION ALL SELECT id, app_id, '', state, reviewer_id, submitted_at FROM partnerkit_submission
	) r JOIN partnerkit_app a ON a.id = r.app_id
	WHERE r.state IN ('submitted', 'in_review') AND a.status <> 'DEACTIVATED'`

// Reviews implements consolestore.Store.
func (s *Store) Reviews(ctx context.Context, afterTime time.Time, afterID string, limit int) ([]consolestore.QueuedReview, error) {
	var all []consolestore.QueuedReview
	err := storage.Each(ctx, s, s.sql.of(`SELECT a.id, a.name, a.organization_id, r.id, r.name, r.state, r.reviewer_id, r.submitted_at`+openReviews+` AND (r.submitted_at, r.id) > ($1, $2)
		ORDER BY r.submitted_at, r.id LIMIT $3`), []any{ms(afterTime), afterID, limit}, func(scan func(...any) error) error {
		var one consolestore.QueuedReview
		var submitted int64
		err := scan(&one.AppID, &one.AppName, &one.OrganizationID, &one.ID, &one.ListingName, &one.State, &one.ReviewerID, &submitted)
		one.SubmittedAt = fromMS(submitted)
		all = append(all, one)
		return err
	})
	return all, wrap("reviews", err)
}

// TrustedDocuments implements consolestore.Store.
func (s *Store) TrustedDocuments(ctx context.Context) ([]consolestore.TrustedDocument, error) {
	var all []consolestore.TrustedDocument
	err := storage.Each(ctx, s, s.sql.of("SELECT id, host, created_at FROM partnerkit_trusted_document ORDER BY id"), nil, func(scan func(...any) error) error {
		var one consolestore.TrustedDocument
		var created int64
		err := scan(&one.ID, &one.Host, &created)
		one.CreatedAt = fromMS(created)
		all = append(all, one)
		return err
	})
	return all, wrap("trusted documents", err)
}

// AddTrustedDocument implements consolestore.Store. The unique host decides between two at once.
func (s *Store) AddTrustedDocument(ctx context.Context, d consolestore.TrustedDocument) error {
	n, err := s.exec(ctx, "INSERT INTO partnerkit_trusted_document (id, host, created_at) VALUES ($1, $2, $3) ON CONFLICT (host) DO NOTHING", d.ID, d.Host, ms(d.CreatedAt))
	if err == nil && n == 0 {
		err = consolestore.ErrTrusted
	}
	return wrap("add trusted document", err)
}

// RemoveTrustedDocument implements consolestore.Store.
func (s *Store) RemoveTrustedDocument(ctx context.Context, documentID string) (consolestore.TrustedDocument, error) {
	var removed consolestore.TrustedDocument
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var created int64
		err := tx.one(ctx, "DELETE FROM partnerkit_trusted_document WHERE id = $1 RETURNING id, host, created_at", []any{documentID}, &removed.ID, &removed.Host, &created)
		removed.CreatedAt = fromMS(created)
		return notFound(err)
	})
	return removed, wrap("remove trusted document", err)
}

// Figures implements consolestore.Store.
func (s *Store) Figures(ctx context.Context, since time.Time) (consolestore.Figures, error) {
	f := consolestore.Figures{Apps: make(map[partner.AppStatus]int)}
	err := storage.Each(ctx, s, s.sql.of("SELECT status, COUNT(*) FROM partnerkit_app GROUP BY status"), nil, func(scan func(...any) error) error {
		var status partner.AppStatus
		var n int
		err := scan(&status, &n)
		f.Apps[status] = n
		return err
	})
	if err != nil {
		return f, wrap("figures of apps", err)
	}
	for _, one := range []struct {
		query string
		args  []any
		into  []any
	}{
		{"SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(errors), 0), COALESCE(SUM(rate_limited), 0) FROM partnerkit_calls WHERE hour_at >= $1",
			[]any{since.UnixMilli()}, []any{&f.Calls, &f.Errors, &f.RateLimited}},
		{"SELECT COUNT(*) FROM partnerkit_installation WHERE status = 'ACTIVE'", nil, []any{&f.Installations}},
		{"SELECT COUNT(*), COALESCE(SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END), 0) FROM partnerkit_delivery WHERE id >= $1",
			[]any{id.Floor(id.Delivery, since)}, []any{&f.Deliveries, &f.FailedDeliveries}},
		{"SELECT COUNT(*) FROM partnerkit_delivery_queue", nil, []any{&f.QueuedDeliveries}},
		{"SELECT COUNT(*) FROM partnerkit_webhook WHERE warned_at >= failing_since AND deleted_at IS NULL", nil, []any{&f.FailingWebhooks}},
		{"SELECT COUNT(*)" + openReviews, nil, []any{&f.Reviews}},
	} {
		if err := s.read(ctx, one.query, one.args, one.into...); err != nil {
			return f, wrap("figures", err)
		}
	}
	return f, nil
}

// CallHours implements consolestore.Store.
func (s *Store) CallHours(ctx context.Context, since time.Time) ([]analytics.Hour, error) {
	var hours []analytics.Hour
	err := storage.Each(ctx, s, s.sql.of("SELECT hour_at, CAST(SUM(calls) AS BIGINT), CAST(SUM(errors) AS BIGINT), CAST(SUM(rate_limited) AS BIGINT)"+latencySums+
		" FROM partnerkit_calls WHERE hour_at >= $1 GROUP BY hour_at ORDER BY hour_at"), []any{since.UnixMilli()}, func(scan func(...any) error) error {
		var hour analytics.Hour
		var at int64
		l := &hour.Latency
		err := scan(&at, &hour.Calls, &hour.Errors, &hour.RateLimited, &l[0], &l[1], &l[2], &l[3], &l[4], &l[5], &l[6], &l[7], &l[8], &l[9], &l[10], &l[11])
		hour.Start = fromMS(at)
		hours = append(hours, hour)
		return err
	})
	return hours, wrap("call hours", err)
}

// WebhookHealth implements consolestore.Store.
func (s *Store) WebhookHealth(ctx context.Context, appID string, limit int) ([]consolestore.WebhookHealth, error) {
	return s.webhookHealth(ctx, "w.app_id = $2", limit, appID)
}

// FailingWebhooks implements consolestore.Store.
func (s *Store) FailingWebhooks(ctx context.Context, limit int) ([]consolestore.WebhookHealth, error) {
	return s.webhookHealth(ctx, "w.warned_at >= w.failing_since", limit)
}

// webhookHealth lists the webhooks of a condition, whose arguments begin with the limit.
func (s *Store) webhookHealth(ctx context.Context, where string, args ...any) ([]consolestore.WebhookHealth, error) {
	var all []consolestore.WebhookHealth
	err := storage.Each(ctx, s, s.sql.of("SELECT w.id, w.app_id, w.url, w.enabled, "+failingSince+" FROM partnerkit_webhook w WHERE w.deleted_at IS NULL AND "+where+" ORDER BY w.id LIMIT $1"), args,
		func(scan func(...any) error) error {
			var one consolestore.WebhookHealth
			var failing sql.NullInt64
			err := scan(&one.ID, &one.AppID, &one.URL, &one.Enabled, &failing)
			one.FailingSince = fromNullMS(failing)
			all = append(all, one)
			return err
		})
	return all, wrap("webhook health", err)
}
