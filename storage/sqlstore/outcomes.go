package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// FinishAttempts implements webhookstore.Store. The shards that the node still holds
// stay so until the commit; taking a
// delivery out of the queue decides that its outcome is new. Nearly always all of
// them are; when one is not, none of it happens, and they are taken out one by one.
func (s *Store) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	done, err := s.finish(ctx, f, (*tx).dequeueAll)
	if errors.Is(err, errStop) {
		done, err = s.finish(ctx, f, (*tx).dequeueNew)
	}
	return done, wrap("finish attempts", err)
}

func (s *Store) finish(ctx context.Context, f webhookstore.Finish, dequeue dequeuer) (webhookstore.Finished, error) {
	var done webhookstore.Finished
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		done = webhookstore.Finished{}
		held, err := tx.heldShards(ctx, webhookstore.SendShard, f.Node)
		if err != nil {
			return err
		}
		done.Held = held
		fresh, err := dequeue(tx, ctx, tx.ours(held, f.Outcomes))
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
func (t *tx) ours(held map[int]int64, all []webhookstore.Outcome) []*webhookstore.Outcome {
	kept := make([]*webhookstore.Outcome, 0, len(all))
	for i := range all {
		o := &all[i]
		if epoch, ok := held[webhookstore.ShardOf(o.Due.WebhookID, t.shards)]; ok && epoch == o.Epoch {
			kept = append(kept, o)
		}
	}
	slices.SortFunc(kept, func(a, b *webhookstore.Outcome) int {
		return cmp.Or(cmp.Compare(a.Due.WebhookID, b.Due.WebhookID), cmp.Compare(staysQueued(a), staysQueued(b)), a.Due.DueAt.Compare(b.Due.DueAt), cmp.Compare(a.Due.ID, b.Due.ID))
	})
	return kept
}

// staysQueued returns 1 for a delivery that is to be sent again, and 0 for others.
func staysQueued(o *webhookstore.Outcome) int {
	if o.Status == partner.DeliveryRetrying {
		return 1
	}
	return 0
}

// dequeuer takes deliveries out of the queue, or moves them to their next attempt, and returns
// the outcomes of those that were in it.
type dequeuer func(t *tx, ctx context.Context, all []*webhookstore.Outcome) ([]*webhookstore.Outcome, error)

// dequeueAll stops when one is not in the queue.
func (t *tx) dequeueAll(ctx context.Context, all []*webhookstore.Outcome) ([]*webhookstore.Outcome, error) {
	return all, neighbours(all, func(part []*webhookstore.Outcome) error {
		text, args := t.leave(part, "")
		n, err := t.on.Exec(ctx, text, args...)
		if err == nil && n != int64(len(part)) {
			err = errStop
		}
		return err
	})
}

func (t *tx) dequeueNew(ctx context.Context, all []*webhookstore.Outcome) ([]*webhookstore.Outcome, error) {
	left := make(map[string]bool, len(all))
	err := neighbours(all, func(part []*webhookstore.Outcome) error {
		text, args := t.leave(part, " RETURNING delivery_id")
		return storage.Each(ctx, t.on, text, args, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			left[id] = true
			return err
		})
	})
	return slices.DeleteFunc(all, func(o *webhookstore.Outcome) bool { return !left[o.Due.ID] }), err
}

// neighbours calls do with outcomes of one webhook and kind each, some at a time. They lie side
// by side in the queue: they were the first that were due.
func neighbours(all []*webhookstore.Outcome, do func([]*webhookstore.Outcome) error) error {
	for len(all) > 0 {
		n := 1
		for n < min(len(all), maxMany) && all[n].Due.WebhookID == all[0].Due.WebhookID && staysQueued(all[n]) == staysQueued(all[0]) {
			n++
		}
		if err := do(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// leave takes deliveries of one webhook out of their places in the queue, with room for
// something behind it: those to be sent again get another place. By their range, which tells a
// database where they are.
func (t *tx) leave(part []*webhookstore.Outcome, after string) (text string, args []any) {
	webhookID := part[0].Due.WebhookID
	place := []any{webhookstore.ShardOf(webhookID, t.shards), webhookID, ms(part[0].Due.DueAt), ms(part[len(part)-1].Due.DueAt)}
	where := func(n int) string {
		return fmt.Sprintf(" WHERE shard = $%d AND webhook_id = $%d AND due_at >= $%d AND due_at <= $%d AND ", n+1, n+2, n+3, n+4)
	}
	part = padded(part)
	if staysQueued(part[0]) == 0 {
		for _, o := range part {
			args = append(args, o.Due.ID)
		}
		return t.sql.many("DELETE FROM partnerkit_delivery_queue", after, len(part), func(n int) string {
			return where(n) + byKey{"delivery_id", n, 1}.in()
		}), append(args, place...)
	}
	for _, o := range part {
		args = append(args, o.Due.ID, ms(o.NextAttemptAt))
	}
	return t.sql.many("UPDATE partnerkit_delivery_queue SET due_at = ", after, len(part), func(n int) string {
		rows := byKey{"delivery_id", n, 2}
		return rows.value(1, "BIGINT") + where(2*n) + rows.in()
	}), append(args, place...)
}

// statesAtOnce is how many deliveries one statement changes.
const statesAtOnce = 2 * maxMany

// recordOutcomes writes the attempts, and the rows of deliveries that their attempts do not
// tell of, many at a time.
func (t *tx) recordOutcomes(ctx context.Context, all []*webhookstore.Outcome) error {
	var attempts, states, retries [][]any
	for _, o := range all {
		if !isToldByAttempt(o) {
			states = append(states, []any{o.Due.ID, string(o.Status), o.Attempts, nullInt(o.ResponseCode), nullText(o.LastError), nullMS(o.NextAttemptAt)})
		}
		if a := o.Attempt; a != nil {
			attempts = append(attempts, []any{
				o.Due.ID, a.ID, a.Round, a.Number, a.Signature, ms(a.StartedAt), a.Duration.Milliseconds(),
				nullInt(a.ResponseCode), nullText(a.Error), headerText(a.ResponseHeader), a.ResponseBody,
			})
		}
		if o.Status == partner.DeliveryRetrying {
			d := o.Due.Delivery
			d.NextAttemptAt = o.NextAttemptAt
			retries = append(retries, t.queueValues(d))
		}
	}
	for part := range slices.Chunk(states, statesAtOnce) {
		part = padded(part)
		_, err := t.on.Exec(ctx, t.sql.many("UPDATE partnerkit_delivery SET status = ", "", len(part), func(n int) string {
			rows := byKey{"id", n, 6}
			return rows.value(1, "TEXT") + ", attempts = " + rows.value(2, "BIGINT") + ", response_code = " + rows.value(3, "BIGINT") +
				", last_error = " + rows.value(4, "TEXT") + ", next_attempt_at = " + rows.value(5, "BIGINT") + " WHERE " + rows.in()
		}), flat(part)...)
		if err != nil {
			return err
		}
	}
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms,
		response_code, error, response_headers, answer) VALUES`, attempts); err != nil {
		return err
	}
	return t.upsertMany(ctx, "INSERT INTO partnerkit_webhook_due (shard, due_at, webhook_id) VALUES", dueTimes(retries), " ON CONFLICT (shard, due_at, webhook_id) DO NOTHING")
}

// dueTimes returns when to look at the webhooks of places in the queue: once a second for
// each webhook, when the last delivery of that second is due.
func dueTimes(places [][]any) [][]any {
	type second struct {
		shard, webhookID any
		second           int64
	}
	last := map[second]int64{}
	for _, p := range places {
		key := second{p[0], p[1], p[2].(int64) / 1000}
		last[key] = max(last[key], p[2].(int64))
	}
	times := make([][]any, 0, len(last))
	for key, due := range last {
		times = append(times, []any{key.shard, due, key.webhookID})
	}
	slices.SortFunc(times, func(a, b []any) int { // one order, so that two nodes do not wait for each other
		return cmp.Or(cmp.Compare(a[0].(int), b[0].(int)), cmp.Compare(a[1].(int64), b[1].(int64)), cmp.Compare(a[2].(string), b[2].(string)))
	})
	return times
}

// headerText returns a header as it is stored; NULL without one.
func headerText(h http.Header) any {
	if h == nil {
		return nil
	}
	text, _ := json.Marshal(h) // texts always encode
	return string(text)
}

// isToldByAttempt reports whether the attempt says all that there is to say, so that the
// row of the delivery stays as it is: see deliveryArrived.
func isToldByAttempt(o *webhookstore.Outcome) bool {
	return o.Status == partner.DeliveryDelivered && o.Attempt != nil && o.Attempt.Number == 1 && o.Attempts == 1 &&
		o.ResponseCode == o.Attempt.ResponseCode && o.ResponseCode >= 200 && o.ResponseCode <= 299
}
