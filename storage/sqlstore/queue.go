package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DueWebhooks implements webhooks.QueueStore. It reads one range of the queue's
// index in each shard.
func (s *Store) DueWebhooks(ctx context.Context, q webhooks.DueQuery) ([]webhooks.DueWebhook, error) {
	if q.All {
		return s.queuedWebhooks(ctx)
	}
	if len(q.Shards) == 0 {
		return nil, nil
	}
	names := make([]string, len(q.Shards))
	for i, shard := range q.Shards {
		names[i] = strconv.Itoa(shard)
	}
	due, err := s.dueWebhooks(ctx, "SELECT webhook_id, MIN(due_at), MAX(due_at) FROM partnerkit_delivery_queue WHERE shard IN ("+strings.Join(names, ", ")+`)
		AND due_at > $1 AND due_at <= $2 GROUP BY webhook_id`, ms(q.After), ms(q.Until))
	return due, wrap("due webhooks", err)
}

// queuedWebhooks goes from one webhook to the next through the key of the queue, however
// many deliveries each has.
func (s *Store) queuedWebhooks(ctx context.Context) ([]webhooks.DueWebhook, error) {
	queued, err := s.dueWebhooks(ctx, `WITH RECURSIVE w (id) AS (
			SELECT MIN(webhook_id) FROM partnerkit_delivery_queue
			UNION ALL
			SELECT (SELECT MIN(q.webhook_id) FROM partnerkit_delivery_queue q WHERE q.webhook_id > w.id) FROM w WHERE w.id IS NOT NULL
		)
		SELECT w.id, (SELECT MIN(q.due_at) FROM partnerkit_delivery_queue q WHERE q.webhook_id = w.id), 0 FROM w WHERE w.id IS NOT NULL`)
	return queued, wrap("queued webhooks", err)
}

func (s *Store) dueWebhooks(ctx context.Context, query string, args ...any) ([]webhooks.DueWebhook, error) {
	var all []webhooks.DueWebhook
	err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
		var one webhooks.DueWebhook
		var due, latest int64
		err := scan(&one.WebhookID, &due, &latest)
		one.Due = fromMS(due)
		if latest > 0 {
			one.Latest = fromMS(latest)
		}
		all = append(all, one)
		return err
	})
	return all, err
}

// DueDeliveries implements webhooks.QueueStore: an index range for each webhook, then
// the doors that they go through and the deliveries themselves, many at a time.
func (s *Store) DueDeliveries(ctx context.Context, c webhooks.Claim) ([]webhooks.Due, error) {
	claimed, err := s.claimed(ctx, c)
	if err != nil || len(claimed) == 0 {
		return nil, wrap("due deliveries", err)
	}
	doors, err := s.doors(ctx, claimed)
	if err != nil {
		return nil, wrap("doors of due deliveries", err)
	}
	due, err := s.fill(ctx, claimed, doors)
	return due, wrap("due deliveries", err)
}

// claim is a place in the queue.
type claim struct {
	webhookID, deliveryID string
	due                   int64
}

// claimsAtOnce is for how many webhooks one statement reads the queue, with so many
// values each.
const (
	claimsAtOnce = 16
	claimValues  = 5
)

// claimed returns what a claim asks for, of each webhook in the order of the queue.
func (s *Store) claimed(ctx context.Context, c webhooks.Claim) ([]claim, error) {
	var all []claim
	err := chunksOf(claimsAtOnce, c.Webhooks, func(part []webhooks.WebhookClaim) error {
		found, err := s.waiting(ctx, part, c.Now)
		for i, w := range part {
			left := w.Limit
			for _, one := range found[i] {
				if left > 0 && !c.IsTaken(one.deliveryID) {
					left--
					all = append(all, one)
				}
			}
		}
		return err
	})
	return all, err
}

// waiting reads the queues of some webhooks, as far as may be needed.
func (s *Store) waiting(ctx context.Context, some []webhooks.WebhookClaim, now time.Time) ([][]claim, error) {
	args := make([]any, 0, claimValues*len(some))
	for _, w := range some {
		args = append(args, w.WebhookID, ms(w.From), w.After, ms(now), w.Limit+w.Taken)
	}
	found := make([][]claim, len(some))
	err := storage.Each(ctx, s, s.sql.many(waitingQueues, ") AS waiting", len(some), waitingText), args, func(scan func(...any) error) error {
		var which int
		var one claim
		err := scan(&which, &one.due, &one.deliveryID)
		one.webhookID = some[which].WebhookID
		found[which] = append(found[which], one)
		return err
	})
	for _, one := range found { // a union promises no order, even of ordered parts
		slices.SortFunc(one, func(a, b claim) int {
			return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.deliveryID, b.deliveryID))
		})
	}
	return found, err
}

// waitingQueues is read by one statement that begins so.
const waitingQueues = "SELECT which, due_at, delivery_id FROM ("

func waitingText(webhooks int) string {
	var text strings.Builder
	for i := range webhooks {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		at := claimValues * i
		fmt.Fprintf(&text, `SELECT %d AS which, due_at, delivery_id FROM (SELECT due_at, delivery_id FROM partnerkit_delivery_queue
			WHERE webhook_id = $%d AND (due_at, delivery_id) > ($%d, $%d) AND due_at <= $%d ORDER BY due_at, delivery_id LIMIT CAST($%d AS BIGINT)) AS q%d`,
			i, at+1, at+2, at+3, at+4, at+5, i)
	}
	return text.String()
}

// door is a webhook with its app: what all deliveries to it have in common. There is
// none of a webhook that was purged.
type door struct {
	appID       string
	url         string
	secrets     webhooks.Secrets
	standing    webhooks.Standing // without the installation
	healthEpoch int64
}

func (s *Store) doors(ctx context.Context, claimed []claim) (map[string]door, error) {
	var ids []string
	doors := map[string]door{}
	for _, one := range claimed {
		if _, ok := doors[one.webhookID]; !ok {
			ids, doors[one.webhookID] = append(ids, one.webhookID), door{standing: webhooks.Standing{IsDeleted: true}}
		}
	}
	scopes := knownScopes{}
	err := eachIn(ctx, s, s.sql.of(`SELECT w.id, w.app_id, w.url, w.secret, w.previous_secret, w.previous_expires_at, w.enabled, w.deleted_at, w.health_epoch, a.status, a.scopes
			FROM partnerkit_webhook w JOIN partnerkit_app a ON a.id = w.app_id WHERE w.id IN`), ids,
		func(scan func(...any) error) error {
			var (
				one              door
				id, status, text string
				expires, deleted sql.NullInt64
			)
			err := scan(&id, &one.appID, &one.url, &one.secrets.Secret, &one.secrets.Previous, &expires, &one.standing.IsEnabled, &deleted, &one.healthEpoch, &status, &text)
			if err != nil {
				return err
			}
			one.secrets.PreviousExpiresAt = fromNullMS(expires)
			one.standing.IsDeleted, one.standing.IsAppUsable = deleted.Valid, status == string(oauthserver.AppActive)
			one.standing.Viewer.AppID = one.appID
			one.standing.Viewer.AppScopes, err = scopes.of(text)
			doors[id] = one
			return err
		})
	return doors, err
}

// fill reads deliveries, and then whether their apps are installed. What is waiting has
// been tried before or has not, and nothing else of its last attempt matters.
func (s *Store) fill(ctx context.Context, claimed []claim, doors map[string]door) ([]webhooks.Due, error) {
	ids, at := make([]string, len(claimed)), make(map[string]int, len(claimed))
	for i, one := range claimed {
		ids[i], at[one.deliveryID] = one.deliveryID, i
	}
	all := make([]webhooks.Due, len(claimed))
	err := eachIn(ctx, s, s.sql.of("SELECT id, event_id, event_type, business_id, sequence, body, attempts, round, created_at FROM partnerkit_delivery WHERE id IN"), ids,
		func(scan func(...any) error) error {
			var (
				d        webhooks.Delivery
				event    sql.NullString
				sequence sql.NullInt64
				created  int64
			)
			if err := scan(&d.ID, &event, &d.EventType, &d.BusinessID, &sequence, &d.Body, &d.Attempts, &d.Round, &created); err != nil {
				return err
			}
			d.Sequence = sequence.Int64
			claim := claimed[at[d.ID]]
			through := doors[claim.webhookID]
			d.WebhookID, d.AppID, d.EventID, d.CreatedAt, d.NextAttemptAt = claim.webhookID, through.appID, event.String, fromMS(created), fromMS(claim.due)
			if d.Status = webhooks.Queued; d.Attempts > 0 {
				d.Status = webhooks.Retrying
			}
			all[at[d.ID]] = webhooks.Due{Delivery: d, DueAt: d.NextAttemptAt, URL: through.url, Secrets: through.secrets, Standing: through.standing, HealthEpoch: through.healthEpoch}
			return nil
		})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d webhooks.Due) bool { return d.ID == "" }) // one was purged just now
	return all, s.lookIntoBusinesses(ctx, all)
}

// lookIntoBusinesses notes which of the apps are installed, and with which scopes.
func (s *Store) lookIntoBusinesses(ctx context.Context, all []webhooks.Due) error {
	type pair struct{ app, business string }
	installed, scopes := map[pair]*identity.Scopes{}, knownScopes{}
	var pairs [][]any
	for _, d := range all {
		one := pair{d.AppID, d.BusinessID}
		if _, ok := installed[one]; !ok {
			installed[one], pairs = nil, append(pairs, []any{one.app, one.business})
		}
	}
	for part := range slices.Chunk(pairs, maxMany) {
		part = padded(part)
		err := storage.Each(ctx, s, s.sql.many(`SELECT app_id, business_id, scopes FROM partnerkit_installation
				WHERE status = 'ACTIVE' AND (app_id, business_id) IN (`, ")", len(part), table("TEXT", "TEXT")), flat(part),
			func(scan func(...any) error) error {
				var one pair
				var text string
				if err := scan(&one.app, &one.business, &text); err != nil {
					return err
				}
				read, err := scopes.of(text)
				installed[one] = &read
				return err
			})
		if err != nil {
			return err
		}
	}
	for i := range all {
		if found := installed[pair{all[i].AppID, all[i].BusinessID}]; found != nil {
			all[i].Standing.Viewer.IsInstalled, all[i].Standing.Viewer.InstallationScopes = true, *found
		}
	}
	return nil
}

// knownScopes are lists that were read before: many rows have the same.
type knownScopes map[string]identity.Scopes

func (k knownScopes) of(text string) (identity.Scopes, error) {
	known, ok := k[text]
	if ok {
		return known, nil
	}
	read, err := parseScopes(text)
	k[text] = read
	return read, err
}
