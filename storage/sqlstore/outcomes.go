package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// FinishAttempts implements webhooks.QueueStore. The renewal of the leases says
// which shards the node still holds, and holds them until the commit; taking a
// delivery out of the queue decides that its outcome is new. Nearly always all of
// them are; when one is not, none of it happens, and they are taken out one by one.
func (s *Store) FinishAttempts(ctx context.Context, f webhooks.Finish) (webhooks.Finished, error) {
	done, err := s.finish(ctx, f, (*tx).dequeueAll)
	if errors.Is(err, errStop) {
		done, err = s.finish(ctx, f, (*tx).dequeueNew)
	}
	return done, wrap("finish attempts", err)
}

func (s *Store) finish(ctx context.Context, f webhooks.Finish, dequeue dequeuer) (webhooks.Finished, error) {
	var done webhooks.Finished
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		done = webhooks.Finished{}
		held, err := tx.renewShards(ctx, f.Node, f.Lease)
		if err != nil {
			return err
		}
		for _, shard := range slices.Sorted(maps.Keys(held)) {
			done.Held = append(done.Held, webhooks.Shard{ID: shard, Holder: f.Node, Epoch: held[shard], LeaseLeft: f.Lease})
		}
		fresh, err := dequeue(tx, ctx, ours(held, f.Outcomes))
		if err != nil {
			return err
		}
		if err := tx.recordOutcomes(ctx, fresh); err != nil {
			return err
		}
		return tx.recordHealth(ctx, fresh, f, &done)
	})
	return done, err
}

// ours returns the outcomes in shards that the node has held since they were claimed, in
// the order of the queue.
func ours(held map[int]int64, all []webhooks.Outcome) []*webhooks.Outcome {
	kept := make([]*webhooks.Outcome, 0, len(all))
	for i := range all {
		o := &all[i]
		if epoch, ok := held[webhooks.ShardOf(o.Due.WebhookID)]; ok && epoch == o.Epoch {
			kept = append(kept, o)
		}
	}
	slices.SortFunc(kept, func(a, b *webhooks.Outcome) int {
		return cmp.Or(cmp.Compare(a.Due.WebhookID, b.Due.WebhookID), a.Due.DueAt.Compare(b.Due.DueAt), cmp.Compare(a.Due.ID, b.Due.ID))
	})
	return kept
}

// dequeuer takes deliveries out of the queue, and returns the outcomes of those that
// were in it.
type dequeuer func(t *tx, ctx context.Context, all []*webhooks.Outcome) ([]*webhooks.Outcome, error)

// dequeueAll stops when one is not in the queue.
func (t *tx) dequeueAll(ctx context.Context, all []*webhooks.Outcome) ([]*webhooks.Outcome, error) {
	return all, neighbours(all, func(part []*webhooks.Outcome) error {
		text, args := t.leave(part, "")
		n, err := t.on.Exec(ctx, text, args...)
		if err == nil && n != int64(len(part)) {
			err = errStop
		}
		return err
	})
}

func (t *tx) dequeueNew(ctx context.Context, all []*webhooks.Outcome) ([]*webhooks.Outcome, error) {
	left := make(map[string]bool, len(all))
	err := neighbours(all, func(part []*webhooks.Outcome) error {
		text, args := t.leave(part, " RETURNING delivery_id")
		return storage.Each(ctx, t.on, text, args, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			left[id] = true
			return err
		})
	})
	return slices.DeleteFunc(all, func(o *webhooks.Outcome) bool { return !left[o.Due.ID] }), err
}

// neighbours calls do with outcomes of one webhook each, some at a time. They lie side
// by side in the queue: they were the first that were due.
func neighbours(all []*webhooks.Outcome, do func([]*webhooks.Outcome) error) error {
	for len(all) > 0 {
		n := 1
		for n < min(len(all), maxMany) && all[n].Due.WebhookID == all[0].Due.WebhookID {
			n++
		}
		if err := do(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// leave takes deliveries of one webhook out of the queue, with room for something
// behind it. By their range, which tells a database where they are.
func (t *tx) leave(part []*webhooks.Outcome, after string) (text string, args []any) {
	ids := padded(part)
	args = append(make([]any, 0, 3+len(ids)), part[0].Due.WebhookID, ms(part[0].Due.DueAt), ms(part[len(part)-1].Due.DueAt))
	for _, o := range ids {
		args = append(args, o.Due.ID)
	}
	return t.sql.many("DELETE FROM partnerkit_delivery_queue WHERE webhook_id = $1 AND due_at >= $2 AND due_at <= $3 AND delivery_id IN (",
		")"+after, len(ids), func(n int) string { return places(3, n) }), args
}

// result holds the columns of a delivery's last attempt. Many deliveries have the same.
type result struct {
	status    webhooks.Status
	attempts  int
	code      int
	lastError string
	next      time.Time
}

func (t *tx) recordOutcomes(ctx context.Context, all []*webhooks.Outcome) error {
	attempts, retries := make([][]any, 0, len(all)), [][]any(nil)
	byResult := map[result][]string{}
	for _, o := range all {
		if !showsArrival(o) {
			r := result{o.Status, o.Attempts, o.ResponseCode, o.LastError, o.NextAttemptAt}
			byResult[r] = append(byResult[r], o.Due.ID)
		}
		if a := o.Attempt; a != nil {
			attempts = append(attempts, []any{
				o.Due.ID, a.ID, o.Due.WebhookID, a.Round, a.Number, a.Signature, ms(a.StartedAt), a.Duration.Milliseconds(),
				nullInt(a.ResponseCode), nullText(a.Error), headerText(a.ResponseHeader), a.ResponseBody,
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
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_attempt (delivery_id, id, webhook_id, round, number, signature, started_at, took_ms,
		response_code, error, response_headers, answer) VALUES`, attempts); err != nil {
		return err
	}
	return t.insertMany(ctx, insertQueued, retries)
}

// headerText returns a header as it is stored; NULL without one.
func headerText(h http.Header) any {
	if h == nil {
		return nil
	}
	text, _ := json.Marshal(h) // texts always encode
	return string(text)
}

// showsArrival reports whether the attempt says all that there is to say, so that the
// row of the delivery stays queued: see deliveryArrived.
func showsArrival(o *webhooks.Outcome) bool {
	return o.Status == webhooks.Delivered && o.Attempt != nil && o.Attempt.Number == 1 && o.Attempts == 1 &&
		o.ResponseCode == o.Attempt.ResponseCode && o.ResponseCode >= 200 && o.ResponseCode <= 299
}
