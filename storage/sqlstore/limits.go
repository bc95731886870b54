package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
)

var _ guard.WindowStore = (*Store)(nil)

// SaveLimitWindows implements guard.WindowStore. It writes in one order, so that two nodes
// cannot deadlock.
func (s *Store) SaveLimitWindows(ctx context.Context, windows []ratelimit.WindowCount) error {
	sorted := slices.SortedFunc(slices.Values(windows), func(a, b ratelimit.WindowCount) int {
		return cmp.Or(bytes.Compare(a.Key[:], b.Key[:]), cmp.Compare(a.Length, b.Length), a.Ends.Compare(b.Ends))
	})
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		for _, w := range sorted {
			_, err := tx.exec(ctx, `INSERT INTO partnerkit_limit_window (limit_key, length, ends_at, calls) VALUES ($1, $2, $3, $4)
				ON CONFLICT (limit_key, length, ends_at) DO UPDATE SET calls = excluded.calls WHERE partnerkit_limit_window.calls < excluded.calls`,
				w.Key[:], w.Length.Milliseconds(), w.Ends.UnixMilli(), w.Count)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("save limit windows", err)
}

// LimitWindows implements guard.WindowStore.
func (s *Store) LimitWindows(ctx context.Context, q ratelimit.WindowQuery) ([]ratelimit.WindowCount, error) {
	var windows []ratelimit.WindowCount
	after := []byte{} // before all keys
	if q.After.Length > 0 {
		after = q.After.Key[:]
	}
	err := storage.Each(ctx, s, s.sql.of(`SELECT limit_key, length, ends_at, calls FROM partnerkit_limit_window
		WHERE (limit_key, length, ends_at) > ($1, $2, $3) AND ends_at > $4 ORDER BY limit_key, length, ends_at LIMIT $5`),
		[]any{after, q.After.Length.Milliseconds(), q.After.Ends.UnixMilli(), q.EndsAfter.UnixMilli(), q.Limit},
		func(scan func(...any) error) error {
			var w ratelimit.WindowCount
			var key []byte
			var length, ends int64
			err := scan(&key, &length, &ends, &w.Count)
			copy(w.Key[:], key)
			w.Length, w.Ends = time.Duration(length)*time.Millisecond, fromMS(ends)
			windows = append(windows, w)
			return err
		})
	return windows, wrap("limit windows", err)
}

// purgeLimitWindows deletes storage.PurgeLimitWindows.
func (s *Store) purgeLimitWindows(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM partnerkit_limit_window WHERE (limit_key, length, ends_at) IN (
		SELECT limit_key, length, ends_at FROM partnerkit_limit_window WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, ms(before), limit)
	return int(n), wrap("purge limit windows", err)
}
