package sqlstore

import (
	"context"
	"database/sql"
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
		err := storage.Each(ctx, s, s.sql.of(`SELECT delivery_id, due_at FROM partnerkit_delivery_queue
				WHERE webhook_id = $1 AND due_at >= $2 AND due_at <= $3 ORDER BY due_at, delivery_id LIMIT $4`), []any{w.WebhookID, ms(w.From), ms(c.Now), w.Limit + w.Taken},
			func(scan func(...any) error) error {
				var id string
				var at int64
				if err := scan(&id, &at); err != nil || left == 0 || c.IsTaken(id) {
					return err
				}
				left--
				ids, dueAt[id] = append(ids, id), fromMS(at)
				return nil
			})
		if err != nil {
			return nil, wrap("due deliveries", err)
		}
	}
	all := make([]webhooks.Due, 0, len(ids))
	err := eachIn(ctx, s, s.sql.of("SELECT d.id, d.webhook_id, d.app_id, d.event_id, d.event_type, d.business_id, d.body, d.status, d.attempts, d.created_at, "+gateColumns+
		" FROM partnerkit_delivery d"+gateJoins+" WHERE d.id IN"), ids,
		func(scan func(...any) error) error {
			var (
				due     webhooks.Due
				event   sql.NullString
				created int64
				gate    gateRow
			)
			err := scan(append([]any{
				&due.ID, &due.WebhookID, &due.AppID, &event, &due.EventType, &due.BusinessID, &due.Body, &due.Status, &due.Attempts, &created,
			}, gate.dest()...)...)
			if err != nil {
				return err
			}
			due.EventID, due.CreatedAt, due.DueAt = event.String, fromMS(created), dueAt[due.ID]
			due.URL, due.Secrets = gate.url.String, gate.secrets()
			due.Standing, err = gate.standing(due.AppID)
			all = append(all, due)
			return err
		})
	return all, wrap("due deliveries", err)
}

// gateColumns and gateJoins add to deliveries d all that decides whether one may be
// sent, and where to.
const (
	gateColumns = "w.url, w.secret, w.previous_secret, w.previous_expires_at, w.enabled, w.deleted_at, a.status, a.scopes, i.scopes"
	gateJoins   = ` LEFT JOIN partnerkit_webhook w ON w.id = d.webhook_id LEFT JOIN partnerkit_app a ON a.id = d.app_id
		LEFT JOIN partnerkit_installation i ON i.app_id = d.app_id AND i.business_id = d.business_id AND i.status = 'ACTIVE'`
)

// gateRow is where gateColumns are scanned to. What is missing has been purged.
type gateRow struct {
	url                                  sql.NullString
	secret, previous                     []byte
	previousExpires                      sql.NullInt64
	enabled                              sql.NullBool
	deleted                              sql.NullInt64
	status, appScopes, installationScope sql.NullString
}

func (r *gateRow) dest() []any {
	return []any{&r.url, &r.secret, &r.previous, &r.previousExpires, &r.enabled, &r.deleted, &r.status, &r.appScopes, &r.installationScope}
}

func (r *gateRow) secrets() webhooks.Secrets {
	return webhooks.Secrets{Secret: r.secret, Previous: r.previous, PreviousExpiresAt: fromNullMS(r.previousExpires)}
}

func (r *gateRow) standing(appID string) (webhooks.Standing, error) {
	now := webhooks.Standing{
		IsDeleted: !r.url.Valid || r.deleted.Valid, IsEnabled: r.enabled.Bool, IsAppUsable: r.status.String == "ACTIVE",
	}
	now.Viewer.AppID, now.Viewer.IsInstalled = appID, r.installationScope.Valid
	var lists []stored
	if r.appScopes.Valid {
		lists = append(lists, stored{r.appScopes.String, &now.Viewer.AppScopes})
	}
	if r.installationScope.Valid {
		lists = append(lists, stored{r.installationScope.String, &now.Viewer.InstallationScopes})
	}
	return now, decoded(lists...)
}
