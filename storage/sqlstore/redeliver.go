package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Redeliver implements webhookstore.Store. It holds all that the check looks
// at, in the order app, installation, webhook, delivery: a transaction that closes a gate
// comes before and is seen, or waits.
func (s *Store) Redeliver(ctx context.Context, r webhookstore.Redelivery) ([]partner.Delivery, error) {
	var queued []partner.Delivery
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		queued = nil
		seen, err := tx.deliveries(ctx, r, r.DeliveryIDs, "")
		if err != nil {
			return err
		}
		// One that cannot be queued is refused, and is not waited for: the transaction that
		// finishes its attempt takes other locks after it.
		if r.From == partner.DeliveryFailed {
			if seen, err = tx.lockDeliveries(ctx, r, seen); err != nil {
				return err
			}
		}
		if len(seen) == 0 {
			return partner.ErrNotFound
		}
		for _, one := range seen {
			err := r.Check(one.delivery, one.standing)
			switch {
			case errors.Is(err, webhookstore.ErrSkip):
			case err != nil:
				return err
			case one.delivery.Status != r.From:
				return fmt.Errorf("the check accepted a delivery that is %s", one.delivery.Status)
			default:
				queued = append(queued, one.delivery)
			}
		}
		if len(queued) == 0 {
			return nil
		}
		if r.From == partner.DeliveryRetrying {
			return tx.hasten(ctx, r, queued)
		}
		return tx.requeue(ctx, r, queued)
	})
	return queued, wrap("redeliver", err)
}

// requeue begins another round of failed deliveries, which are locked.
func (t *tx) requeue(ctx context.Context, r webhookstore.Redelivery, all []partner.Delivery) error {
	ids := make([]string, len(all))
	for i := range all {
		d := &all[i]
		d.Status, d.Attempts, d.ResponseCode, d.LastError, d.NextAttemptAt = partner.DeliveryQueued, 0, 0, "", r.Now
		d.Round++
		ids[i] = d.ID
	}
	changed := 0
	err := sets(ids, func(set []any) error {
		n, err := t.exec(ctx, `UPDATE partnerkit_delivery SET status = NULL, attempts = 0, response_code = NULL, last_error = NULL, next_attempt_at = $1, round = round + 1
			WHERE status = 'failed' AND id IN (`+places(1, len(set))+")", append([]any{ms(r.Now)}, set...)...)
		changed += int(n)
		return err
	})
	if err == nil && changed != len(all) {
		err = fmt.Errorf("%d of %d locked deliveries have failed", changed, len(all))
	}
	if err != nil {
		return err
	}
	return t.enqueue(ctx, all, consoleFeed)
}

// dueSoon is how close the next attempt of a delivery is left alone: it may be under way.
const dueSoon = time.Second

// hasten moves the next attempts of deliveries. The queue comes before the delivery, as
// where an attempt is finished; a place that was taken or moved in between is left alone.
func (t *tx) hasten(ctx context.Context, r webhookstore.Redelivery, all []partner.Delivery) error {
	for i := range all {
		d := &all[i]
		n, err := t.exec(ctx, "UPDATE partnerkit_delivery_queue SET due_at = $5 WHERE shard = $1 AND webhook_id = $2 AND due_at = $3 AND delivery_id = $4 AND due_at > $6",
			webhookstore.ShardOf(d.WebhookID, t.shards), d.WebhookID, ms(d.NextAttemptAt), d.ID, ms(r.Now), ms(r.Now.Add(dueSoon)))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if _, err := t.exec(ctx, "UPDATE partnerkit_delivery SET next_attempt_at = $2 WHERE id = $1", d.ID, ms(r.Now)); err != nil {
			return err
		}
		d.NextAttemptAt = r.Now
	}
	return t.tell(ctx, all, consoleFeed)
}

// standingDelivery is a delivery with all that decides whether it may be sent.
type standingDelivery struct {
	delivery partner.Delivery
	standing webhookstore.Standing
}

// lockDeliveries reads those that have failed again, with their standing. Both stay so
// until the transaction ends.
func (t *tx) lockDeliveries(ctx context.Context, r webhookstore.Redelivery, seen []standingDelivery) ([]standingDelivery, error) {
	var ids, businesses []string
	for _, one := range seen {
		if one.delivery.Status == r.From {
			ids, businesses = append(ids, one.delivery.ID), append(businesses, one.delivery.BusinessID)
		}
	}
	if len(ids) == 0 {
		return seen, nil
	}
	if _, err := t.hold(ctx, "SELECT TRUE FROM partnerkit_app WHERE id = $1", r.AppID); err != nil {
		return nil, err
	}
	isInstalled := map[string]bool{}
	for _, business := range slices.Compact(slices.Sorted(slices.Values(businesses))) {
		var err error
		isInstalled[business], err = t.hold(ctx, "SELECT TRUE FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE'", r.AppID, business)
		if err != nil {
			return nil, err
		}
	}
	if _, err := t.hold(ctx, "SELECT TRUE FROM partnerkit_webhook WHERE id = $1", r.WebhookID); err != nil {
		return nil, err
	}
	locked, err := t.deliveries(ctx, r, ids, t.dialect.UpdateOf("d"))
	for i := range locked {
		if !isInstalled[locked[i].delivery.BusinessID] {
			locked[i].standing.Viewer.IsInstalled = false // one that came since is not held
		}
	}
	isLocked := func(one standingDelivery) bool { return slices.Contains(ids, one.delivery.ID) }
	return append(locked, slices.DeleteFunc(seen, isLocked)...), err
}

// hold keeps a row as it is until the transaction ends, and reports whether there
// is one.
func (t *tx) hold(ctx context.Context, query string, args ...any) (found bool, err error) {
	err = t.one(ctx, query+t.dialect.ForShare, args, &found)
	if errors.Is(err, storage.ErrNoRows) {
		return false, nil
	}
	return found, err
}

// deliveries reads deliveries of a webhook and their standing in the order of their ids,
// under a lock that the suffix names.
func (t *tx) deliveries(ctx context.Context, r webhookstore.Redelivery, ids []string, suffix string) ([]standingDelivery, error) {
	var all []standingDelivery
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err := sets(ids, func(set []any) error {
		return storage.Each(ctx, t.on, t.sql.of("SELECT "+deliveryColumns+", "+gateColumns+" FROM "+deliveryTables+gateJoins+
			" WHERE d.webhook_id = $1 AND w.app_id = $2 AND w.deleted_at IS NULL AND d.id IN ("+places(2, len(set))+") ORDER BY d.id"+suffix),
			append([]any{r.WebhookID, r.AppID}, set...), func(scan func(...any) error) error {
				var row deliveryRow
				var gate gateRow
				if err := scan(append(row.dest(), gate.dest()...)...); err != nil {
					return err
				}
				standing, err := gate.standing(r.AppID)
				all = append(all, standingDelivery{row.value(), standing})
				return err
			})
	})
	return all, err
}

// QueueTest implements webhookstore.Store. It holds the app and the webhook.
func (s *Store) QueueTest(ctx context.Context, appID, webhookID string, fire func(webhookstore.Target) (partner.Delivery, error)) (partner.Delivery, error) {
	var queued partner.Delivery
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var target webhookstore.Target
		var status string
		err := tx.one(ctx, "SELECT status, pinned_version FROM partnerkit_app WHERE id = $1"+tx.dialect.ForShare, []any{appID}, &status, &target.PinnedVersion)
		if err != nil {
			return noWebhook(err)
		}
		var row webhookRow
		if err := tx.one(ctx, liveWebhook+tx.dialect.ForShare, []any{appID, webhookID}, row.dest()...); err != nil {
			return noWebhook(err)
		}
		if target.Webhook, err = row.value(); err != nil {
			return err
		}
		target.Standing = webhookstore.Standing{IsEnabled: target.Webhook.Enabled, IsUnverified: !target.Webhook.UnverifiedSince.IsZero(), IsAppUsable: status == string(partner.AppActive)}
		if queued, err = fire(target); err != nil {
			return err
		}
		return tx.queue(ctx, []partner.Delivery{queued}, consoleFeed)
	})
	return queued, wrap("queue test", err)
}
