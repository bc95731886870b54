package sqlstore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// RequestChallenge implements webhookstore.Store. The conditional update decides whether the
// webhook may have another one.
func (s *Store) RequestChallenge(ctx context.Context, r webhookstore.ChallengeRequest) (time.Duration, error) {
	var wait time.Duration
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		wait = 0
		var status string
		if err := tx.one(ctx, "SELECT status FROM partnerkit_app WHERE id = $1"+tx.dialect.ForShare, []any{r.AppID}, &status); err != nil {
			return noWebhook(err)
		}
		var row webhookRow
		var since int64
		if err := tx.one(ctx, "SELECT "+webhookColumns+", w.challenges_since FROM partnerkit_webhook w WHERE w.id = $2 AND w.app_id = $1 AND w.deleted_at IS NULL"+tx.dialect.ForUpdate,
			[]any{r.AppID, r.WebhookID}, append(row.dest(), &since)...); err != nil {
			return noWebhook(err)
		}
		hook, err := row.value()
		if err != nil {
			return err
		}
		standing := webhookstore.Standing{IsEnabled: hook.Enabled, IsAppUsable: status == string(partner.AppActive), IsUnverified: !hook.UnverifiedSince.IsZero()}
		if err := r.Check(standing); err != nil {
			return err
		}
		began := ms(r.Now.Add(-r.Window)) // a window that began then or before has ended
		n, err := tx.exec(ctx, `UPDATE partnerkit_webhook SET challenge_at = $3, challenges = CASE WHEN challenges_since > $4 THEN challenges + 1 ELSE 1 END,
			challenges_since = CASE WHEN challenges_since > $4 THEN challenges_since ELSE $3 END
			WHERE id = $1 AND (challenges < $2 OR challenges_since <= $4)`, r.WebhookID, r.Limit, ms(r.Now), began)
		if err != nil {
			return err
		}
		if n == 0 {
			wait = fromMS(since).Add(r.Window).Sub(r.Now)
			return nil
		}
		tx.hint(storage.Hint{Topic: webhookstore.TopicChallenges})
		return nil
	})
	return wait, wrap("request challenge", err)
}

// TakeChallenges implements webhookstore.Store. Of several callers the conditional update
// selects one for each webhook.
func (s *Store) TakeChallenges(ctx context.Context, limit int) ([]webhookstore.Target, error) {
	type asked struct {
		to webhookstore.Target
		at int64
	}
	var all []asked
	err := storage.Each(ctx, s, s.sql.of("SELECT "+webhookColumns+`, w.challenge_at, a.pinned_version FROM partnerkit_webhook w JOIN partnerkit_app a ON a.id = w.app_id
		WHERE w.challenge_at IS NOT NULL AND w.deleted_at IS NULL AND a.status = 'ACTIVE' ORDER BY w.id LIMIT $1`), []any{limit},
		func(scan func(...any) error) error {
			var row webhookRow
			var one asked
			if err := scan(append(row.dest(), &one.at, &one.to.PinnedVersion)...); err != nil {
				return err
			}
			var err error
			one.to.Webhook, err = row.value()
			all = append(all, one)
			return err
		})
	var taken []webhookstore.Target
	for i := 0; i < len(all) && err == nil; i++ {
		var n int64
		n, err = s.exec(ctx, "UPDATE partnerkit_webhook SET challenge_at = NULL WHERE id = $1 AND challenge_at = $2", all[i].to.Webhook.ID, all[i].at)
		if n == 1 {
			taken = append(taken, all[i].to)
		}
	}
	if len(taken) > 0 {
		return taken, nil // those that were taken are to be sent, whatever became of the others
	}
	return nil, wrap("take challenges", err)
}

// EndChallenge implements webhookstore.Store. The conditional update leaves a webhook alone
// whose URL changed meanwhile.
func (s *Store) EndChallenge(ctx context.Context, webhookID string, unverifiedSince time.Time, failed string) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if failed != "" {
			_, err := tx.exec(ctx, "UPDATE partnerkit_webhook SET challenge_error = $3 WHERE id = $1 AND unverified_since = $2", webhookID, ms(unverifiedSince), failed)
			return err
		}
		n, err := tx.exec(ctx, "UPDATE partnerkit_webhook SET unverified_since = NULL, challenge_error = NULL WHERE id = $1 AND unverified_since = $2", webhookID, ms(unverifiedSince))
		if err != nil || n == 0 {
			return err
		}
		// What waits may be as old as deliveries are: the dispatchers look from the beginning.
		return tx.tell(ctx, []partner.Delivery{{WebhookID: webhookID, NextAttemptAt: fromMS(0)}}, consoleFeed)
	})
	return wrap("end challenge", err)
}
