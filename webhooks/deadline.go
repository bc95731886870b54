package webhooks

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// deadlineStore is the store of the background loops. Each call has a deadline below the
// lease, so that a loop continues, and ends, even if the database hangs.
type deadlineStore struct {
	webhookstore.Store
	timeout time.Duration
}

// within calls a method of a store under a deadline.
func within[R any](ctx context.Context, s deadlineStore, call func(ctx context.Context) (R, error)) (R, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return call(ctx)
}

// end is within for a method that returns no result.
func (s deadlineStore) end(ctx context.Context, call func(ctx context.Context) error) error {
	_, err := within(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (s deadlineStore) Backlogs(ctx context.Context, behind *webhookstore.Backlog) ([]webhookstore.Backlog, error) {
	return within(ctx, s, func(ctx context.Context) ([]webhookstore.Backlog, error) { return s.Store.Backlogs(ctx, behind) })
}

func (s deadlineStore) Unplanned(ctx context.Context, of []webhookstore.Backlog) (webhookstore.Unplanned, error) {
	return within(ctx, s, func(ctx context.Context) (webhookstore.Unplanned, error) { return s.Store.Unplanned(ctx, of) })
}

func (s deadlineStore) SavePlan(ctx context.Context, p webhookstore.Plan) (bool, error) {
	return within(ctx, s, func(ctx context.Context) (bool, error) { return s.Store.SavePlan(ctx, p) })
}

func (s deadlineStore) Beat(ctx context.Context, node string, lease time.Duration) (webhookstore.Fleet, error) {
	return within(ctx, s, func(ctx context.Context) (webhookstore.Fleet, error) { return s.Store.Beat(ctx, node, lease) })
}

func (s deadlineStore) TakeShard(ctx context.Context, node string, seen webhookstore.Shard, lease time.Duration) (bool, error) {
	return within(ctx, s, func(ctx context.Context) (bool, error) { return s.Store.TakeShard(ctx, node, seen, lease) })
}

func (s deadlineStore) ReleaseShards(ctx context.Context, node string, shards []webhookstore.ShardID) error {
	return s.end(ctx, func(ctx context.Context) error { return s.Store.ReleaseShards(ctx, node, shards) })
}

func (s deadlineStore) LeaveShards(ctx context.Context, node string) error {
	return s.end(ctx, func(ctx context.Context) error { return s.Store.LeaveShards(ctx, node) })
}

func (s deadlineStore) News(ctx context.Context, since webhookstore.NewsPlace) (webhookstore.News, error) {
	return within(ctx, s, func(ctx context.Context) (webhookstore.News, error) { return s.Store.News(ctx, since) })
}

func (s deadlineStore) ForgetDue(ctx context.Context, shards []int, until time.Time) error {
	return s.end(ctx, func(ctx context.Context) error { return s.Store.ForgetDue(ctx, shards, until) })
}

func (s deadlineStore) QueuedWebhooks(ctx context.Context, shards []int) ([]webhookstore.DueWebhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]webhookstore.DueWebhook, error) {
		return s.Store.QueuedWebhooks(ctx, shards)
	})
}

func (s deadlineStore) DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]webhookstore.DueWebhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]webhookstore.DueWebhook, error) {
		return s.Store.DueWebhooks(ctx, shards, after, until)
	})
}

func (s deadlineStore) DueDeliveries(ctx context.Context, c webhookstore.Claim) ([]webhookstore.Due, error) {
	return within(ctx, s, func(ctx context.Context) ([]webhookstore.Due, error) { return s.Store.DueDeliveries(ctx, c) })
}

func (s deadlineStore) FinishAttempts(ctx context.Context, f webhookstore.Finish) (webhookstore.Finished, error) {
	return within(ctx, s, func(ctx context.Context) (webhookstore.Finished, error) { return s.Store.FinishAttempts(ctx, f) })
}

func (s deadlineStore) Purge(ctx context.Context, p storage.Purge) (int, error) {
	return within(ctx, s, func(ctx context.Context) (int, error) { return s.Store.Purge(ctx, p) })
}

func (s deadlineStore) TakeChallenges(ctx context.Context, limit int) ([]webhookstore.Target, error) {
	return within(ctx, s, func(ctx context.Context) ([]webhookstore.Target, error) { return s.Store.TakeChallenges(ctx, limit) })
}

func (s deadlineStore) EndChallenge(ctx context.Context, webhookID string, unverifiedSince time.Time, failed string) error {
	return s.end(ctx, func(ctx context.Context) error { return s.Store.EndChallenge(ctx, webhookID, unverifiedSince, failed) })
}

func (s deadlineStore) AllWebhooks(ctx context.Context, after string, limit int) ([]partner.Webhook, error) {
	return within(ctx, s, func(ctx context.Context) ([]partner.Webhook, error) { return s.Store.AllWebhooks(ctx, after, limit) })
}

func (s deadlineStore) UpdateWebhook(ctx context.Context, appID, webhookID string, change func(partner.Webhook) (partner.Webhook, error)) (partner.Webhook, error) {
	return within(ctx, s, func(ctx context.Context) (partner.Webhook, error) {
		return s.Store.UpdateWebhook(ctx, appID, webhookID, change)
	})
}
