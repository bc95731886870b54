package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// endSpace takes the values of an app in a business out of sight.
func (t *tx) endSpace(ctx context.Context, appID, businessID string, now time.Time) error {
	_, err := t.exec(ctx, "UPDATE partnerkit_app_data_space SET ended_at = $3 WHERE app_id = $1 AND business_id = $2 AND ended_at IS NULL", appID, businessID, ms(now))
	return err
}

// ending is something whose values go after it was marked.
type ending struct {
	table, marked string
	values, order string // which values are $1's, and an order that only one index has
}

var endings = []ending{
	{"partnerkit_app_data_space", "ended_at", "space_id || '' = $1", "field_id || ''"},
	{"partnerkit_app_data_field", "deleted_at", "field_id || '' = $1", "space_id || ''"},
}

// purgeAppData deletes storage.PurgeAppData.
func (s *Store) purgeAppData(ctx context.Context, limit int) (int, error) {
	for _, e := range endings {
		if n, err := s.purgeEnded(ctx, e, limit); n > 0 || err != nil {
			return n, wrap("purge app data", err)
		}
	}
	return 0, nil
}

// purgeEnded deletes values of the space that ended first, and then the space itself. The
// first read is outside the transaction, because usually there is nothing to do. Whether
// values are left is read again before the space is deleted, because other nodes may purge
// the same values.
func (s *Store) purgeEnded(ctx context.Context, e ending, limit int) (purged int, err error) {
	var id string
	err = s.read(ctx, "SELECT id FROM "+e.table+" WHERE "+e.marked+" IS NOT NULL ORDER BY "+e.marked+" LIMIT 1", nil, &id)
	if errors.Is(err, storage.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		values, err := tx.exec(ctx, "DELETE FROM partnerkit_app_data_value WHERE id IN (SELECT id FROM partnerkit_app_data_value WHERE "+
			e.values+" ORDER BY "+e.order+" LIMIT $2)", id, limit)
		purged = int(values)
		if err != nil || purged == limit {
			return err
		}
		self, err := tx.exec(ctx, "DELETE FROM "+e.table+" WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM partnerkit_app_data_value WHERE "+e.values+")", id)
		purged += int(self)
		return err
	})
	return purged, err
}
