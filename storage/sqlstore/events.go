package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/events"
)

// record adds events in the transaction of what they tell about.
func (t *tx) record(ctx context.Context, recorded []events.Event) error {
	for _, e := range recorded {
		_, err := t.exec(ctx, `INSERT INTO partnerkit_event (id, type, business_id, app_id, data, created_at)
			VALUES ($1, $2, $3, $4, $5, $6)`, e.ID, e.Type, e.BusinessID, nullText(e.AppID), string(e.Data), ms(e.CreatedAt))
		if err != nil {
			return err
		}
		t.hint(events.TopicRecorded)
	}
	return nil
}

// RecordEvents records events by themselves or, on a store that WithTx returned,
// in the host's transaction.
func (s *Store) RecordEvents(ctx context.Context, recorded ...events.Event) error {
	return s.write(ctx, func(ctx context.Context, tx *tx) error { return tx.record(ctx, recorded) })
}
