package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// deadlineStore is the store of the background loops. Each call has a deadline below the
// lease, so that a loop continues, and ends, even if the database hangs.
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

func (s deadlineStore) Backlogs(ctx context.Context, behind *Backlog) ([]Backlog, error) {
	return within(ctx, s, func(ctx context.Context) ([]Backlog, error) { return s.Store.Backlogs(ctx, behind) })
}

func (s deadlineStore) Unplanned(ctx context.Context, of []Backlog) (Unplanned, error) {
	return within(ctx, s, func(ctx context.Context) (Unplanned, error) { return s.Store.Unplanned(ctx, of) })
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

func (s deadlineStore) ReleaseShards(ctx context.Context, r ShardRelease) error {
	_, err := within(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.Store.ReleaseShards(ctx, r) })
	return err
}

func (s deadlineStore) News(ctx context.Context, since NewsPlace) (News, error) {
	return within(ctx, s, func(ctx context.Context) (News, error) { return s.Store.News(ctx, since) })
}

func (s deadlineStore) ForgetDue(ctx context.Context, q DueQuery) error {
	_, err := within(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.Store.ForgetDue(ctx, q) })
	return err
}

func (s deadlineStore) QueuedWebhooks(ctx context.Context, shards []int) ([]DueWebhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]DueWebhook, error) { return s.Store.QueuedWebhooks(ctx, shards) })
}

func (s deadlineStore) DueWebhooks(ctx context.Context, q DueQuery) ([]DueWebhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]DueWebhook, error) { return s.Store.DueWebhooks(ctx, q) })
}

func (s deadlineStore) DueDeliveries(ctx context.Context, c Claim) ([]Due, error) {
	return within(ctx, s, func(ctx context.Context) ([]Due, error) { return s.Store.DueDeliveries(ctx, c) })
}

func (s deadlineStore) FinishAttempts(ctx context.Context, f Finish) (Finished, error) {
	return within(ctx, s, func(ctx context.Context) (Finished, error) { return s.Store.FinishAttempts(ctx, f) })
}

func (s deadlineStore) Purge(ctx context.Context, p storage.Purge) (int, error) {
	return within(ctx, s, func(ctx context.Context) (int, error) { return s.Store.Purge(ctx, p) })
}

func (s deadlineStore) TakeChallenges(ctx context.Context, limit int) ([]Target, error) {
	return within(ctx, s, func(ctx context.Context) ([]Target, error) { return s.Store.TakeChallenges(ctx, limit) })
}

func (s deadlineStore) EndChallenge(ctx context.Context, webhookID string, unverifiedSince time.Time, failed string) error {
	_, err := within(ctx, s, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.Store.EndChallenge(ctx, webhookID, unverifiedSince, failed)
	})
	return err
}

func (s deadlineStore) Webhooks(ctx context.Context, q WebhookQuery) ([]Webhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]Webhook, error) { return s.Store.Webhooks(ctx, q) })
}

func (s deadlineStore) UpdateWebhook(ctx context.Context, appID, webhookID string, change func(Webhook) (Webhook, error)) (Webhook, error) {
	return within(ctx, s, func(ctx context.Context) (Webhook, error) {
		return s.Store.UpdateWebhook(ctx, appID, webhookID, change)
	})
}
