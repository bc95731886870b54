package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
)

var _ analytics.UseStore = (*Store)(nil)

// MarkUsed implements analytics.UseStore. Rows are taken in one order, so that of two
// nodes none waits for the other in a circle.
func (s *Store) MarkUsed(ctx context.Context, at map[string]time.Time) error {
	ids := slices.Sorted(maps.Keys(at))
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		for _, id := range ids {
			if _, err := tx.exec(ctx, `INSERT INTO partnerkit_installation_use (installation_id, used_at) VALUES ($1, $2)
				ON CONFLICT (installation_id) DO UPDATE SET used_at = excluded.used_at
				WHERE partnerkit_installation_use.used_at < excluded.used_at`, id, ms(at[id])); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("mark used", err)
}

// LastUses implements analytics.UseStore.
func (s *Store) LastUses(ctx context.Context, installationIDs []string) (map[string]time.Time, error) {
	uses := make(map[string]time.Time, len(installationIDs))
	query := s.sql.of("SELECT installation_id, used_at FROM partnerkit_installation_use WHERE installation_id IN")
	err := eachIn(ctx, s, query, installationIDs, func(scan func(...any) error) error {
		var id string
		var at int64
		if err := scan(&id, &at); err != nil {
			return err
		}
		uses[id] = time.UnixMilli(at).UTC()
		return nil
	})
	return uses, wrap("last uses", err)
}
