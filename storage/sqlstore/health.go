package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// fared is how the attempts of a webhook ended in one batch.
type fared struct {
	appID             string
	wasFailing        bool      // when they were claimed
	arrived, returned time.Time // when the last attempt began that arrived, and that did not
	exhausted         int       // deliveries that have used up their attempts
}

// faredIn returns the webhooks of which an attempt failed, or which were failing. It
// returns none for nearly all batches.
func faredIn(all []*webhooks.Outcome) map[string]*fared {
	byWebhook := map[string]*fared{}
	for _, o := range all {
		if o.Attempt == nil || o.Status == webhooks.Delivered && !o.Due.Standing.IsFailing {
			continue
		}
		one := byWebhook[o.Due.WebhookID]
		if one == nil {
			one = &fared{appID: o.Due.AppID}
			byWebhook[o.Due.WebhookID] = one
		}
		one.wasFailing = one.wasFailing || o.Due.Standing.IsFailing
		if o.IsExhausted {
			one.exhausted++
		}
	}
	if len(byWebhook) == 0 {
		return nil
	}
	for _, o := range all {
		one := byWebhook[o.Due.WebhookID]
		switch {
		case one == nil || o.Attempt == nil:
		case o.Status == webhooks.Delivered && one.arrived.Before(o.Attempt.StartedAt):
			one.arrived = o.Attempt.StartedAt
		case o.Status != webhooks.Delivered && one.returned.Before(o.Attempt.StartedAt):
			one.returned = o.Attempt.StartedAt
		}
	}
	return byWebhook
}

// recordHealth notes which webhooks work again and which began to fail, and switches off
// those that have failed for too long.
func (t *tx) recordHealth(ctx context.Context, all []*webhooks.Outcome, f webhooks.Finish, done *webhooks.Finished) error {
	byWebhook := faredIn(all)
	for _, webhookID := range slices.Sorted(maps.Keys(byWebhook)) {
		one := byWebhook[webhookID]
		hasArrived := !one.arrived.IsZero()
		if hasArrived {
			if err := t.recordRecovery(ctx, webhookID, done); err != nil {
				return err
			}
		}
		isFailing := one.returned.After(one.arrived)
		if began := isFailing && (hasArrived || !one.wasFailing); began || one.exhausted > 0 {
			if err := t.recordFailing(ctx, webhookID, one, f, done); err != nil {
				return err
			}
		}
		if isFailing && f.DisableAfter > 0 {
			if err := t.disable(ctx, webhookID, one.appID, f, done); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tx) recordFailing(ctx context.Context, webhookID string, one *fared, f webhooks.Finish, done *webhooks.Finished) error {
	_, err := t.exec(ctx, "UPDATE partnerkit_webhook SET failing_since = COALESCE(failing_since, $2), failed_count = failed_count + $3 WHERE id = $1 AND deleted_at IS NULL",
		webhookID, ms(f.Now), one.exhausted)
	if err != nil || one.exhausted == 0 {
		return err
	}
	n, err := t.exec(ctx, "UPDATE partnerkit_webhook SET warned_at = $2 WHERE id = $1 AND deleted_at IS NULL AND COALESCE(warned_at, 0) <= $3",
		webhookID, ms(f.Now), ms(f.Now.Add(-webhooks.WarnEvery)))
	if err != nil {
		return err
	}
	if n == 1 {
		done.Warn = append(done.Warn, webhookID)
	}
	return nil
}

// leastFailed is how many deliveries must have failed for good before a webhook is switched
// off.
const leastFailed = 2

// disable switches off a webhook that has failed for long enough. The conditional update
// selects the one transaction that does so.
func (t *tx) disable(ctx context.Context, webhookID, appID string, f webhooks.Finish, done *webhooks.Finished) error {
	n, err := t.exec(ctx, `UPDATE partnerkit_webhook SET enabled = FALSE, disabled_at = $2, updated_at = $2, disabled_reason = $3, version = version + 1
		WHERE id = $1 AND enabled = TRUE AND deleted_at IS NULL AND failed_count >= $4 AND failing_since <= $5`,
		webhookID, ms(f.Now), disabledReason(f.DisableAfter), leastFailed, ms(f.Now.Add(-f.DisableAfter)))
	if err != nil || n == 0 {
		return err
	}
	done.Disabled = append(done.Disabled, webhookID)
	return t.audit(ctx, audit.Entry{ID: id.New(id.Audit, f.Now), AppID: appID, Action: audit.WebhookDisabled, Target: webhookID, At: f.Now})
}

func disabledReason(after time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case after == day:
		return "no delivery has succeeded for 1 day"
	case after%day == 0:
		return fmt.Sprintf("no delivery has succeeded for %d days", after/day)
	}
	return fmt.Sprintf("no delivery has succeeded for %v", after)
}

// recordRecovery records that a webhook works again. A notification of the recovery is due
// if there was one of the failure.
func (t *tx) recordRecovery(ctx context.Context, webhookID string, done *webhooks.Finished) error {
	const works = "UPDATE partnerkit_webhook SET failing_since = NULL, failed_count = 0 WHERE id = $1 AND failing_since IS NOT NULL"
	n, err := t.exec(ctx, works+" AND warned_at >= failing_since", webhookID)
	if err != nil {
		return err
	}
	if n == 1 {
		done.Recovered = append(done.Recovered, webhookID)
		return nil
	}
	_, err = t.exec(ctx, works, webhookID)
	return err
}

// rateFailures fills in the failure rates of webhooks.
func (s *Store) rateFailures(ctx context.Context, all []webhooks.Webhook, since time.Time) error {
	for i := range all {
		var t statement
		counts := map[string]int{}
		query := "SELECT " + deliveryStatus + ", COUNT(*) FROM (" + source{}.newest(&t, webhooks.DeliveryQuery{WebhookID: all[i].ID, Since: since}, "id, status", webhooks.RatedDeliveries) +
			") AS d" + deliveryArrived + " GROUP BY 1"
		err := storage.Each(ctx, s, s.sql.of(query), t.args, func(scan func(...any) error) error {
			var status string
			var n int
			err := scan(&status, &n)
			counts[status] = n
			return err
		})
		if err != nil {
			return err
		}
		failing := counts[string(webhooks.Failed)] + counts[string(webhooks.Retrying)]
		if tried := failing + counts[string(webhooks.Delivered)]; tried > 0 {
			all[i].Health.FailureRate = float64(failing) / float64(tried)
		}
	}
	return nil
}
