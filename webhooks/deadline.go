package webhooks

import (
	"context"
	"time"
)

// deadlineStore is the store of the background loops. Each call has a deadline below the
// lease, so that a loop goes on, and ends, although the database hangs.
type deadlineStore struct {
	Store
	timeout time.Duration
}

// within calls a method of a store under a deadline.
func within[R any](ctx context.Context, s deadlineStore, call func(ctx context.Context) (R, error)) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return call(ctx)
}

// withinErr is within for methods that return only an error.
func withinErr(ctx context.Context, s deadlineStore, call func(ctx context.Context) error) error {
	_, err := within(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (s deadlineStore) NumberRecorded(ctx context.Context, after string) (Numbered, error) {
	return within(ctx, s, func(ctx context.Context) (Numbered, error) { return s.Store.NumberRecorded(ctx, after) })
}

func (s deadlineStore) Unplanned(ctx context.Context, after string) (Unplanned, error) {
	return within(ctx, s, func(ctx context.Context) (Unplanned, error) { return s.Store.Unplanned(ctx, after) })
}

func (s deadlineStore) SavePlan(ctx context.Context, p Plan) (bool, error) {
	return within(ctx, s, func(ctx context.Context) (bool, error) { return s.Store.SavePlan(ctx, p) })
}

func (s deadlineStore) Beat(ctx context.Context, node string, lease time.Duration) (Fleet, error) {
	return within(ctx, s, func(ctx context.Context) (Fleet, error) { return s.Store.Beat(ctx, node, lease) })
}

func (s deadlineStore) TakeShard(ctx context.Context, node string, seen Shard, lease time.Duration) (bool, error) {
	return within(ctx, s, func(ctx context.Context) (bool, error) { return s.Store.TakeShard(ctx, node, seen, lease) })
}

func (s deadlineStore) ReleaseShard(ctx context.Context, node string, shard int) error {
	return withinErr(ctx, s, func(ctx context.Context) error { return s.Store.ReleaseShard(ctx, node, shard) })
}

func (s deadlineStore) Leave(ctx context.Context, node string) error {
	return withinErr(ctx, s, func(ctx context.Context) error { return s.Store.Leave(ctx, node) })
}

func (s deadlineStore) DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]DueWebhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]DueWebhook, error) { return s.Store.DueWebhooks(ctx, shards, after, until) })
}

func (s deadlineStore) QueuedWebhooks(ctx context.Context) ([]DueWebhook, error) {
	return within(ctx, s, s.Store.QueuedWebhooks)
}

func (s deadlineStore) DueDeliveries(ctx context.Context, c Claim) ([]Due, error) {
	return within(ctx, s, func(ctx context.Context) ([]Due, error) { return s.Store.DueDeliveries(ctx, c) })
}

func (s deadlineStore) FinishAttempts(ctx context.Context, f Finish) (Finished, error) {
	return within(ctx, s, func(ctx context.Context) (Finished, error) { return s.Store.FinishAttempts(ctx, f) })
}

func (s deadlineStore) PurgeDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	return within(ctx, s, func(ctx context.Context) (int, error) { return s.Store.PurgeDeliveries(ctx, before, limit) })
}

func (s deadlineStore) AllWebhooks(ctx context.Context, after string, limit int) ([]Webhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]Webhook, error) { return s.Store.AllWebhooks(ctx, after, limit) })
}

func (s deadlineStore) UpdateWebhook(ctx context.Context, appID, webhookID string, change func(Webhook) (Webhook, error)) (Webhook, error) {
	return within(ctx, s, func(ctx context.Context) (Webhook, error) {
		return s.Store.UpdateWebhook(ctx, appID, webhookID, change)
	})
}
