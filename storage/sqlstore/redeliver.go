package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Redeliver implements webhooks.DeliveryStore. It holds all that the judge looks
// at, in the order app, installation, webhook, delivery: whoever closes a gate
// comes before and is seen, or waits.
func (s *Store) Redeliver(ctx context.Context, r webhooks.Redelivery) (webhooks.Delivery, error) {
	var queued webhooks.Delivery
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		delivery, standing, err := tx.delivery(ctx, r, "")
		// One that has not failed is refused, and is not waited for: who finishes
		// its attempt takes other locks after it.
		if err == nil && delivery.Status == webhooks.Failed {
			delivery, standing, err = tx.lockDelivery(ctx, r, delivery.BusinessID)
		}
		if err != nil {
			return err
		}
		if err := r.Check(delivery, standing); err != nil {
			return err
		}
		queued = delivery
		queued.Status, queued.Attempts, queued.ResponseCode, queued.LastError, queued.NextAttemptAt = webhooks.Queued, 0, 0, "", r.Now
		n, err := tx.exec(ctx, `UPDATE partnerkit_delivery SET status = $2, attempts = 0, response_code = NULL, last_error = NULL, next_attempt_at = $3
			WHERE id = $1 AND status = 'failed'`, queued.ID, string(queued.Status), ms(r.Now))
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("the judge let a delivery pass that is %s", delivery.Status)
		}
		tx.hint(webhooks.TopicQueued)
		return tx.insertMany(ctx, insertQueued, [][]any{queueValues(queued)})
	})
	return queued, wrap("redeliver", err)
}

// lockDelivery reads a delivery and its standing, which stay so until the
// transaction ends.
func (t *tx) lockDelivery(ctx context.Context, r webhooks.Redelivery, businessID string) (webhooks.Delivery, webhooks.Standing, error) {
	if _, err := t.hold(ctx, "SELECT TRUE FROM partnerkit_app WHERE id = $1", r.AppID); err != nil {
		return webhooks.Delivery{}, webhooks.Standing{}, err
	}
	isInstalled, err := t.hold(ctx, "SELECT TRUE FROM partnerkit_installation WHERE app_id = $1 AND business_id = $2 AND status = 'ACTIVE'", r.AppID, businessID)
	if err != nil {
		return webhooks.Delivery{}, webhooks.Standing{}, err
	}
	if _, err := t.hold(ctx, "SELECT TRUE FROM partnerkit_webhook WHERE id = $1", r.WebhookID); err != nil {
		return webhooks.Delivery{}, webhooks.Standing{}, err
	}
	d, standing, err := t.delivery(ctx, r, t.dialect.UpdateOf("d"))
	if !isInstalled {
		standing.Viewer.IsInstalled = false // one that came since is not held
	}
	return d, standing, err
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

// delivery reads a delivery and its standing under a lock that the suffix names.
func (t *tx) delivery(ctx context.Context, r webhooks.Redelivery, suffix string) (webhooks.Delivery, webhooks.Standing, error) {
	var row deliveryRow
	var gate gateRow
	err := t.one(ctx, "SELECT "+deliveryColumns+", "+gateColumns+" FROM "+deliveryTables+gateJoins+
		" WHERE d.id = $1 AND d.webhook_id = $2 AND w.app_id = $3 AND w.deleted_at IS NULL"+suffix,
		[]any{r.DeliveryID, r.WebhookID, r.AppID}, append(row.dest(), gate.dest()...)...)
	if err != nil {
		return webhooks.Delivery{}, webhooks.Standing{}, noWebhook(err)
	}
	standing, err := gate.standing(r.AppID)
	return row.value(), standing, err
}

// QueueTest implements webhooks.DeliveryStore. It holds the app and the webhook.
func (s *Store) QueueTest(ctx context.Context, appID, webhookID string, fire func(webhooks.Target) (webhooks.Delivery, error)) (webhooks.Delivery, error) {
	var queued webhooks.Delivery
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var target webhooks.Target
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
		target.Standing = webhooks.Standing{IsEnabled: target.Webhook.Enabled, IsAppUsable: status == string(oauthserver.AppActive)}
		if queued, err = fire(target); err != nil {
			return err
		}
		return tx.queue(ctx, [][]any{deliveryValues(queued)}, [][]any{queueValues(queued)})
	})
	return queued, wrap("queue test", err)
}
