package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"
)

// markUsed keeps the later use of what has an id. Rows are taken in one order, so that of
// two nodes none waits for the other in a circle.
func (t *tx) markUsed(ctx context.Context, at map[string]time.Time) error {
	if len(at) == 0 {
		return nil
	}
	rows := make([][]any, 0, len(at))
	for _, id := range slices.Sorted(maps.Keys(at)) {
		rows = append(rows, []any{id, ms(at[id])})
	}
	return t.upsertMany(ctx, "INSERT INTO partnerkit_last_use (id, used_at) VALUES", rows,
		" ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at WHERE partnerkit_last_use.used_at < excluded.used_at")
}

// LastUses implements callstore.Store.
func (s *Store) LastUses(ctx context.Context, ids []string) (map[string]time.Time, error) {
	uses := make(map[string]time.Time, len(ids))
	query := s.sql.of("SELECT id, used_at FROM partnerkit_last_use WHERE id IN")
	err := eachIn(ctx, s, query, ids, func(scan func(...any) error) error {
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
