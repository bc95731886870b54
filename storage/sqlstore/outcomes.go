package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// FinishAttempts implements webhooks.QueueStore. The renewal of the leases says
// which shards the node still holds, and holds them until the commit; taking a
// delivery out of the queue decides that its outcome is new.
func (s *Store) FinishAttempts(ctx context.Context, f webhooks.Finish) (webhooks.Finished, error) {
	var done webhooks.Finished
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		done = webhooks.Finished{}
		held, err := tx.renewShards(ctx, f.Node, f.Until)
		if err != nil {
			return err
		}
		for _, shard := range slices.Sorted(maps.Keys(held)) {
			done.Held = append(done.Held, webhooks.Shard{ID: shard, Holder: f.Node, Epoch: held[shard], LeaseEnds: f.Until})
		}
		fresh, err := tx.dequeue(ctx, held, f.Outcomes)
		if err != nil {
			return err
		}
		if err := tx.recordOutcomes(ctx, fresh); err != nil {
			return err
		}
		done.Warn, err = tx.warn(ctx, fresh, f.Now)
		return err
	})
	return done, wrap("finish attempts", err)
}

// dequeue takes deliveries out of the queue and returns the outcomes of those that
// were in it.
func (t *tx) dequeue(ctx context.Context, held map[int]int64, all []webhooks.Outcome) ([]webhooks.Outcome, error) {
	byWebhook := map[string][]webhooks.Outcome{}
	for _, o := range all {
		if epoch, ok := held[webhooks.ShardOf(o.Due.WebhookID)]; ok && epoch == o.Epoch {
			byWebhook[o.Due.WebhookID] = append(byWebhook[o.Due.WebhookID], o)
		}
	}
	fresh := make([]webhooks.Outcome, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(byWebhook)) {
		left, err := t.dequeueOf(ctx, id, byWebhook[id])
		if err != nil {
			return nil, err
		}
		for _, o := range byWebhook[id] {
			if left[o.Due.ID] {
				fresh = append(fresh, o)
			}
		}
	}
	return fresh, nil
}

// dequeueOf takes out deliveries of one webhook, and returns which were in the
// queue. They lie side by side there: they were the first that were due.
func (t *tx) dequeueOf(ctx context.Context, webhookID string, all []webhooks.Outcome) (map[string]bool, error) {
	ids := make([]string, len(all))
	first, last := all[0].Due.DueAt, all[0].Due.DueAt
	for i, o := range all {
		ids[i] = o.Due.ID
		if o.Due.DueAt.Before(first) {
			first = o.Due.DueAt
		}
		if o.Due.DueAt.After(last) {
			last = o.Due.DueAt
		}
	}
	left := make(map[string]bool, len(all))
	err := sets(ids, func(set []any) error {
		return storage.Each(ctx, t.on, t.sql.of(`DELETE FROM partnerkit_delivery_queue WHERE webhook_id = $1 AND due_at >= $2 AND due_at <= $3
			AND delivery_id IN (`+places(3, len(set))+") RETURNING delivery_id"), append([]any{webhookID, ms(first), ms(last)}, set...),
			func(scan func(...any) error) error {
				var id string
				err := scan(&id)
				left[id] = true
				return err
			})
	})
	return left, err
}

// result is what a delivery shows of its last attempt. Many have the same.
type result struct {
	status    webhooks.Status
	attempts  int
	code      int
	lastError string
	next      time.Time
}

func (t *tx) recordOutcomes(ctx context.Context, all []webhooks.Outcome) error {
	var attempts, retries [][]any
	byResult := map[result][]string{}
	for _, o := range all {
		r := result{o.Status, o.Attempts, o.ResponseCode, o.LastError, o.NextAttemptAt}
		byResult[r] = append(byResult[r], o.Due.ID)
		if a := o.Attempt; a != nil {
			attempts = append(attempts, []any{
				o.Due.ID, a.ID, a.Number, a.Signature, ms(a.StartedAt), a.Duration.Milliseconds(), nullInt(a.ResponseCode), nullText(a.Error), a.Answer,
			})
		}
		if o.Status == webhooks.Retrying {
			d := o.Due.Delivery
			d.NextAttemptAt = o.NextAttemptAt
			retries = append(retries, queueValues(d))
		}
	}
	for r, ids := range byResult {
		err := sets(ids, func(set []any) error {
			_, err := t.exec(ctx, `UPDATE partnerkit_delivery SET status = $1, attempts = $2, response_code = $3, last_error = $4, next_attempt_at = $5
				WHERE id IN (`+places(5, len(set))+")",
				append([]any{string(r.status), r.attempts, nullInt(r.code), nullText(r.lastError), nullMS(r.next)}, set...)...)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_attempt (delivery_id, id, number, signature, started_at, took_ms, response_code, error, answer) VALUES`, attempts); err != nil {
		return err
	}
	return t.insertMany(ctx, insertQueued, retries)
}

// warn marks webhooks that have used up the attempts of a delivery, and returns
// those that nobody was told of for a while.
func (t *tx) warn(ctx context.Context, all []webhooks.Outcome, now time.Time) ([]string, error) {
	exhausted := map[string]bool{}
	for _, o := range all {
		if o.Status == webhooks.Failed && o.Attempts >= webhooks.MaxAttempts {
			exhausted[o.Due.WebhookID] = true
		}
	}
	var warned []string
	for _, id := range slices.Sorted(maps.Keys(exhausted)) {
		n, err := t.exec(ctx, "UPDATE partnerkit_webhook SET warned_at = $2 WHERE id = $1 AND deleted_at IS NULL AND COALESCE(warned_at, 0) <= $3",
			id, ms(now), ms(now.Add(-webhooks.WarnEvery)))
		if err != nil {
			return nil, err
		}
		if n == 1 {
			warned = append(warned, id)
		}
	}
	return warned, nil
}
