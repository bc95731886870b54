package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/storage"
)

var _ callstore.Store = (*Store)(nil)

// latencyColumns are the columns of a callstore.Latency.
const latencyColumns = "ms_5, ms_10, ms_25, ms_50, ms_100, ms_250, ms_500, ms_1000, ms_2500, ms_5000, ms_10000, ms_over"

const callColumns = "app_id, hour_at, calls, errors, rate_limited, " + latencyColumns

// addedLatency adds the latencies of a row to those that a table has already.
func addedLatency(table string) string {
	var added []string
	for column := range strings.SplitSeq(latencyColumns, ", ") {
		added = append(added, fmt.Sprintf("%s = %s.%s + excluded.%s", column, table, column, column))
	}
	return strings.Join(added, ", ")
}

// latencySums are the sums of the columns of a callstore.Latency, after other columns.
var latencySums = func() (sums string) {
	for column := range strings.SplitSeq(latencyColumns, ", ") {
		sums += ", CAST(SUM(" + column + ") AS BIGINT)"
	}
	return sums
}()

var addCalls = "INSERT INTO partnerkit_calls (" + callColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
	ON CONFLICT (app_id, hour_at) DO UPDATE SET
		calls = partnerkit_calls.calls + excluded.calls,
		errors = partnerkit_calls.errors + excluded.errors,
		rate_limited = partnerkit_calls.rate_limited + excluded.rate_limited,
		` + addedLatency("partnerkit_calls")

// AddCalls implements callstore.Store. The writer's row is locked first: a batch that is
// sent again while its first attempt still runs waits there for it.
func (s *Store) AddCalls(ctx context.Context, batch callstore.Batch) error {
	// In one order, so that two writers cannot deadlock.
	buckets := slices.SortedFunc(slices.Values(batch.Buckets), func(a, b callstore.Bucket) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), a.Hour.Compare(b.Hour))
	})
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		n, err := tx.exec(ctx, `INSERT INTO partnerkit_calls_writer (id, number, added_at) VALUES ($1, $2, $3)
			ON CONFLICT (id) DO UPDATE SET number = excluded.number, added_at = excluded.added_at
			WHERE partnerkit_calls_writer.number < excluded.number`, batch.Writer, batch.Number, ms(batch.At))
		if err != nil || n == 0 { // none: it is in already
			return err
		}
		for _, b := range buckets {
			if _, err := tx.exec(ctx, addCalls, callValues(b)...); err != nil {
				return err
			}
		}
		if err := tx.addGroups(ctx, batch.Groups); err != nil {
			return err
		}
		if err := tx.addRequests(ctx, batch.Requests); err != nil {
			return err
		}
		return tx.markUsed(ctx, batch.Uses)
	})
	return wrap("add calls", err)
}

// callValues returns the values of a bucket in the order of callColumns.
func callValues(b callstore.Bucket) []any {
	l := &b.Latency
	return []any{b.AppID, b.Hour.UnixMilli(), b.Calls, b.Errors, b.RateLimited,
		l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], l[9], l[10], l[11]}
}

// Calls implements callstore.Store.
func (s *Store) Calls(ctx context.Context, appID string, from, to time.Time) ([]callstore.Bucket, error) {
	var buckets []callstore.Bucket
	query := s.sql.of("SELECT " + callColumns + " FROM partnerkit_calls WHERE app_id = $1 AND hour_at >= $2 AND hour_at < $3 ORDER BY hour_at")
	err := storage.Each(ctx, s, query, []any{appID, from.UnixMilli(), to.UnixMilli()}, func(scan func(...any) error) error {
		var b callstore.Bucket
		var hour int64
		l := &b.Latency
		err := scan(&b.AppID, &hour, &b.Calls, &b.Errors, &b.RateLimited,
			&l[0], &l[1], &l[2], &l[3], &l[4], &l[5], &l[6], &l[7], &l[8], &l[9], &l[10], &l[11])
		b.Hour = time.UnixMilli(hour).UTC()
		buckets = append(buckets, b)
		return err
	})
	return buckets, wrap("calls", err)
}

// purgeCalls deletes storage.PurgeCalls.
func (s *Store) purgeCalls(ctx context.Context, before time.Time, limit int) (int, error) {
	calls, err := s.exec(ctx, `DELETE FROM partnerkit_calls WHERE (app_id, hour_at) IN (
		SELECT app_id, hour_at FROM partnerkit_calls WHERE hour_at < $1 ORDER BY hour_at LIMIT $2)`, before.UnixMilli(), limit)
	if err != nil {
		return 0, wrap("purge calls", err)
	}
	writers, err := s.exec(ctx, `DELETE FROM partnerkit_calls_writer WHERE id IN (
		SELECT id FROM partnerkit_calls_writer WHERE added_at < $1 ORDER BY added_at LIMIT $2)`, before.UnixMilli(), limit)
	return int(calls + writers), wrap("purge calls", err)
}
