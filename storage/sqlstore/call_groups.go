package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/storage"
)

// addGroups adds counts to groups, in one order, so that two writers cannot deadlock.
func (t *tx) addGroups(ctx context.Context, groups []callstore.Group) error {
	sorted := slices.SortedFunc(slices.Values(groups), func(a, b callstore.Group) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), cmp.Compare(a.By, b.By), a.Day.Compare(b.Day), cmp.Compare(a.Key, b.Key))
	})
	for _, g := range sorted {
		_, err := t.exec(ctx, `INSERT INTO partnerkit_calls_group (app_id, kind, day_at, name, calls, errors, rate_limited, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (app_id, kind, day_at, name) DO UPDATE SET calls = partnerkit_calls_group.calls + excluded.calls,
			errors = partnerkit_calls_group.errors + excluded.errors, rate_limited = partnerkit_calls_group.rate_limited + excluded.rate_limited,
			bytes = partnerkit_calls_group.bytes + excluded.bytes`,
			g.AppID, string(g.By), ms(g.Day), g.Key, g.Calls, g.Errors, g.RateLimited, g.Bytes)
		if err != nil {
			return err
		}
	}
	return nil
}

// CallGroups implements callstore.Store.
func (s *Store) CallGroups(ctx context.Context, q callstore.GroupQuery) ([]callstore.Group, error) {
	var groups []callstore.Group
	err := storage.Each(ctx, s, s.sql.of(`SELECT name, CAST(SUM(calls) AS BIGINT), CAST(SUM(errors) AS BIGINT), CAST(SUM(rate_limited) AS BIGINT)
		FROM partnerkit_calls_group WHERE app_id = $1 AND kind = $2 AND day_at >= $3 AND day_at < $4
		GROUP BY name ORDER BY 2 DESC, 1 LIMIT $5`), []any{q.AppID, string(q.By), ms(q.From), ms(q.To), q.Limit},
		func(scan func(...any) error) error {
			g := callstore.Group{AppID: q.AppID, By: q.By}
			err := scan(&g.Key, &g.Calls, &g.Errors, &g.RateLimited)
			groups = append(groups, g)
			return err
		})
	return groups, wrap("call groups", err)
}

// Usage implements callstore.Store. The key of the table has the order of the list.
func (s *Store) Usage(ctx context.Context, q callstore.UsageQuery) ([]callstore.Usage, error) {
	var all []callstore.Usage
	day, business := ms(q.From)-1, "" // which no entry has
	if !q.After.Day.Before(q.From) {
		day, business = ms(q.After.Day), q.After.BusinessID
	}
	err := storage.Each(ctx, s, s.sql.of(`SELECT day_at, name, calls, errors, bytes FROM partnerkit_calls_group
		WHERE app_id = $1 AND kind = 'business' AND (day_at, name) > ($2, $3) AND day_at <= $4
		ORDER BY day_at, name LIMIT $5`), []any{q.AppID, day, business, ms(q.To), q.Limit},
		func(scan func(...any) error) error {
			var one callstore.Usage
			var day int64
			err := scan(&day, &one.BusinessID, &one.Calls, &one.Errors, &one.Bytes)
			one.Day = fromMS(day)
			all = append(all, one)
			return err
		})
	return all, wrap("usage", err)
}

// purgeCallGroups deletes storage.PurgeCallGroups and storage.PurgeUsage: the groups of some
// kinds. The condition is that of a partial index.
func (s *Store) purgeCallGroups(ctx context.Context, kinds string, p storage.Purge) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM partnerkit_calls_group WHERE (app_id, kind, day_at, name) IN (
		SELECT app_id, kind, day_at, name FROM partnerkit_calls_group WHERE `+kinds+` AND day_at + 0 < $1 ORDER BY day_at + 0 LIMIT $2)`, ms(p.Before), p.Limit)
	return int(n), wrap("purge call groups", err)
}
