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
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// DueWebhooks implements webhookstore.Store. It reads a range of due times in each shard. A
// time stands for all deliveries that are due in its second up to then.
func (s *Store) DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]webhookstore.DueWebhook, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	args := []any{ms(after), ms(until)}
	for _, shard := range shards {
		args = append(args, shard)
	}
	due, err := s.dueWebhooks(ctx, s.sql.many("SELECT webhook_id, MIN(due_at - due_at % 1000), MAX(due_at) FROM (", ") AS due GROUP BY webhook_id", len(shards), func(n int) string {
		branches := make([]string, n)
		for i := range branches {
			branches[i] = "SELECT webhook_id, due_at FROM partnerkit_webhook_due WHERE shard = $" + strconv.Itoa(i+3) + " AND due_at > $1 AND due_at <= $2"
		}
		return strings.Join(branches, " UNION ALL ")
	}), args...)
	return due, wrap("due webhooks", err)
}

// QueuedWebhooks implements webhookstore.Store. It goes from one webhook to the next through
// the key of the queue, however many deliveries each has.
func (s *Store) QueuedWebhooks(ctx context.Context, shards []int) ([]webhookstore.DueWebhook, error) {
	if shards == nil {
		for shard := range s.shards {
			shards = append(shards, shard)
		}
	}
	var all []webhookstore.DueWebhook
	for _, shard := range shards {
		some, err := s.dueWebhooks(ctx, s.sql.of(`WITH RECURSIVE w (id) AS (
				SELECT MIN(webhook_id) FROM partnerkit_delivery_queue WHERE shard = $1
				UNION ALL
				SELECT (SELECT MIN(q.webhook_id) FROM partnerkit_delivery_queue q WHERE q.shard = $1 AND q.webhook_id > w.id) FROM w WHERE w.id IS NOT NULL
			)
			SELECT id, due, due FROM (SELECT w.id, (SELECT MIN(due_at) FROM partnerkit_delivery_queue q WHERE q.shard = $1 AND q.webhook_id = w.id) AS due
				FROM w WHERE w.id IS NOT NULL) AS queued WHERE due IS NOT NULL`), shard)
		if err != nil {
			return nil, wrap("queued webhooks", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// dueWebhooks runs a query for webhooks with their first and last due times.
func (s *Store) dueWebhooks(ctx context.Context, query string, args ...any) ([]webhookstore.DueWebhook, error) {
	var all []webhookstore.DueWebhook
	err := storage.Each(ctx, s, query, args, func(scan func(...any) error) error {
		var one webhookstore.DueWebhook
		var first, last int64
		err := scan(&one.WebhookID, &first, &last)
		one.First, one.Last = fromMS(first), fromMS(last)
		all = append(all, one)
		return err
	})
	return all, err
}

// forgetAtOnce is how many rows one transaction of ForgetDue deletes.
const forgetAtOnce = 500

// ForgetDue implements webhookstore.Store.
func (s *Store) ForgetDue(ctx context.Context, shards []int, until time.Time) error {
	for _, shard := range shards {
		for n := int64(forgetAtOnce); n == forgetAtOnce; {
			var err error
			n, err = s.exec(ctx, `DELETE FROM partnerkit_webhook_due WHERE (shard, due_at, webhook_id) IN (
				SELECT shard, due_at, webhook_id FROM partnerkit_webhook_due WHERE shard = $1 AND due_at <= $2 ORDER BY due_at, webhook_id LIMIT $3)`,
				shard, ms(until), forgetAtOnce)
			if err != nil {
				return wrap("forget due webhooks", err)
			}
		}
	}
	return nil
}

// DueDeliveries implements webhookstore.Store: an index range for each webhook, then
// the webhooks that they go to and the deliveries themselves, many at a time.
func (s *Store) DueDeliveries(ctx context.Context, c webhookstore.Claim) ([]webhookstore.Due, error) {
	claimed, err := s.claimed(ctx, c)
	if err != nil || len(claimed) == 0 {
		return nil, wrap("due deliveries", err)
	}
	targets, err := s.targets(ctx, claimed)
	if err != nil {
		return nil, wrap("targets of due deliveries", err)
	}
	due, err := s.fill(ctx, claimed, targets)
	if err != nil {
		return nil, wrap("due deliveries", err)
	}
	// One that was tried before is due when it says so.
	return slices.DeleteFunc(due, func(d webhookstore.Due) bool { return d.Attempts > 0 && d.DueAt.After(c.Now) }), nil
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
	claimValues  = 6
)

// claimed returns what a claim asks for, of each webhook in the order of the queue.
func (s *Store) claimed(ctx context.Context, c webhookstore.Claim) ([]claim, error) {
	var all []claim
	err := chunksOf(claimsAtOnce, c.Webhooks, func(part []webhookstore.WebhookClaim) error {
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
func (s *Store) waiting(ctx context.Context, some []webhookstore.WebhookClaim, now time.Time) ([][]claim, error) {
	args := make([]any, 0, claimValues*len(some))
	for _, w := range some {
		until := now
		if w.Until.After(now) {
			until = w.Until
		}
		args = append(args, webhookstore.ShardOf(w.WebhookID, s.shards), w.WebhookID, ms(w.From), w.After, ms(until), w.Limit+w.Taken)
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
			WHERE shard = $%d AND webhook_id = $%d AND (due_at, delivery_id) > ($%d, $%d) AND due_at <= $%d ORDER BY due_at, delivery_id LIMIT CAST($%d AS BIGINT)) AS q%d`,
			i, at+1, at+2, at+3, at+4, at+5, at+6, i)
	}
	return text.String()
}

// target is a webhook with its app: what all deliveries to it have in common.
type target struct {
	appID       string
	url         string
	secrets     partner.Secrets
	standing    webhookstore.Standing // without the installation
	healthEpoch int64
}

// targets returns the webhooks of claimed deliveries. One that was purged counts as deleted;
// one that cannot be read is left out, and the log says so.
func (s *Store) targets(ctx context.Context, claimed []claim) (map[string]target, error) {
	var ids []string
	targets := map[string]target{}
	for _, one := range claimed {
		if _, ok := targets[one.webhookID]; !ok {
			ids, targets[one.webhookID] = append(ids, one.webhookID), target{standing: webhookstore.Standing{IsDeleted: true}}
		}
	}
	scopes := knownScopes{}
	err := eachIn(ctx, s, s.sql.of(`SELECT w.id, w.app_id, w.url, w.secret, w.previous_secret, w.previous_expires_at, w.enabled, w.deleted_at, w.unverified_since, w.health_epoch, a.status, a.scopes
			FROM partnerkit_webhook w JOIN partnerkit_app a ON a.id = w.app_id WHERE w.id IN`), ids,
		func(scan func(...any) error) error {
			var (
				one              target
				id, status, text string
				expires, deleted sql.NullInt64
				unverified       sql.NullInt64
			)
			err := scan(&id, &one.appID, &one.url, &one.secrets.Secret, &one.secrets.Previous, &expires, &one.standing.IsEnabled, &deleted, &unverified, &one.healthEpoch, &status, &text)
			if err != nil {
				return err
			}
			one.secrets.PreviousExpiresAt = fromNullMS(expires)
			one.standing.IsDeleted, one.standing.IsAppUsable = deleted.Valid, status == string(partner.AppActive)
			one.standing.IsUnverified, one.standing.Viewer.AppID = unverified.Valid, one.appID
			if one.standing.Viewer.AppScopes, err = scopes.of(text); err != nil {
				s.log.ErrorContext(ctx, "storage: nothing is sent to a webhook, since the scopes of its app cannot be read", "webhook", id, "app", one.appID, "err", err)
				delete(targets, id)
				return nil
			}
			targets[id] = one
			return nil
		})
	return targets, err
}

// fill reads deliveries, and then whether their apps are installed. What is waiting has
// been tried before or has not, and nothing else of its last attempt matters.
func (s *Store) fill(ctx context.Context, claimed []claim, targets map[string]target) ([]webhookstore.Due, error) {
	ids, at := make([]string, len(claimed)), make(map[string]int, len(claimed))
	for i, one := range claimed {
		ids[i], at[one.deliveryID] = one.deliveryID, i
	}
	all := make([]webhookstore.Due, len(claimed))
	err := eachIn(ctx, s, s.sql.of("SELECT id, event_id, event_type, business_id, sequence, body, attempts, round, created_at FROM partnerkit_delivery WHERE id IN"), ids,
		func(scan func(...any) error) error {
			var (
				d        partner.Delivery
				event    sql.NullString
				sequence sql.NullInt64
				created  int64
			)
			if err := scan(&d.ID, &event, &d.EventType, &d.BusinessID, &sequence, &d.Body, &d.Attempts, &d.Round, &created); err != nil {
				return err
			}
			d.Sequence = sequence.Int64
			claim := claimed[at[d.ID]]
			to, ok := targets[claim.webhookID]
			if !ok {
				return nil
			}
			d.WebhookID, d.AppID, d.EventID, d.CreatedAt, d.NextAttemptAt = claim.webhookID, to.appID, event.String, fromMS(created), fromMS(claim.due)
			if d.Status = partner.DeliveryQueued; d.Attempts > 0 {
				d.Status = partner.DeliveryRetrying
			}
			all[at[d.ID]] = webhookstore.Due{Delivery: d, DueAt: d.NextAttemptAt, URL: to.url, Secrets: to.secrets, Standing: to.standing, HealthEpoch: to.healthEpoch}
			return nil
		})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d webhookstore.Due) bool { return d.ID == "" }) // was purged just now, or left out
	return s.lookIntoBusinesses(ctx, all)
}

// lookIntoBusinesses notes which of the apps are installed, and with which scopes. It leaves
// out deliveries for businesses where that cannot be read, and the log says so.
func (s *Store) lookIntoBusinesses(ctx context.Context, all []webhookstore.Due) ([]webhookstore.Due, error) {
	type pair struct{ app, business string }
	installed, unreadable, scopes := map[pair]*identity.Scopes{}, map[pair]bool{}, knownScopes{}
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
				if err != nil {
					s.log.ErrorContext(ctx, "storage: nothing is sent for a business, since the scopes of the installation cannot be read", "app", one.app, "business", one.business, "err", err)
					unreadable[one] = true
				}
				installed[one] = &read
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	all = slices.DeleteFunc(all, func(d webhookstore.Due) bool { return unreadable[pair{d.AppID, d.BusinessID}] })
	for i := range all {
		if found := installed[pair{all[i].AppID, all[i].BusinessID}]; found != nil {
			all[i].Standing.Viewer.IsInstalled, all[i].Standing.Viewer.InstallationScopes = true, *found
		}
	}
	return all, nil
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
