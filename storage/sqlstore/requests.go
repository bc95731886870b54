package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

const requestColumns = "id, app_id, business_id, method, route, status, bytes, code, request_id, error, took, created_at"

// addRequests adds entries of the request log.
func (t *tx) addRequests(ctx context.Context, requests []callstore.Request) error {
	rows := make([][]any, len(requests))
	for i, r := range requests {
		rows[i] = []any{r.ID, r.AppID, r.BusinessID, r.Method, r.Route, r.Status, r.Bytes, r.Code, r.RequestID, r.Error, int64(r.Took), ms(r.At)}
	}
	return t.insertMany(ctx, "INSERT INTO partnerkit_request ("+requestColumns+") VALUES", rows)
}

// Requests implements callstore.Store. A filter reads the log of one app, which is
// short.
func (s *Store) Requests(ctx context.Context, q callstore.RequestQuery) ([]callstore.Request, error) {
	where, args := "app_id = $1", []any{q.AppID}
	and := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition+" $%d", len(args))
	}
	if q.ID != "" {
		and("id || '' =", q.ID)
	}
	if !q.Since.IsZero() { // the ids sort by time, to less than a millisecond
		and("id || '' >=", id.Floor(id.Request, q.Since))
	}
	if !q.Until.IsZero() {
		and("id || '' <", id.Floor(id.Request, q.Until))
	}
	if q.Before != "" {
		and("id || '' <", q.Before)
	}
	if q.MinStatus > 0 {
		and("status >=", q.MinStatus)
	}
	if q.MaxStatus > 0 {
		and("status <=", q.MaxStatus)
	}
	if q.Route != "" {
		and("route =", q.Route)
	}
	if q.Path != "" {
		// The path is what follows the method. Neither LIKE nor a function that finds a text does
		// the same on both databases.
		const path = "ltrim(route, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"
		args = append(args, q.Path)
		where += fmt.Sprintf(" AND replace("+path+", $%d, '') <> "+path, len(args))
	}
	if q.BusinessID != "" {
		and("business_id =", q.BusinessID)
	}
	if q.RequestID != "" {
		and("request_id =", q.RequestID)
	}
	args = append(args, q.Limit)
	query := s.sql.of(fmt.Sprintf("SELECT "+requestColumns+" FROM partnerkit_request WHERE "+where+" ORDER BY id || '' DESC LIMIT $%d", len(args)))
	var requests []callstore.Request
	err := storage.Each(ctx, s, query, args, func(scan func(...any) error) error {
		var r callstore.Request
		var took, at int64
		err := scan(&r.ID, &r.AppID, &r.BusinessID, &r.Method, &r.Route, &r.Status, &r.Bytes, &r.Code, &r.RequestID, &r.Error, &took, &at)
		r.Took, r.At = time.Duration(took), fromMS(at)
		requests = append(requests, r)
		return err
	})
	return requests, wrap("requests", err)
}

// TrimRequests implements callstore.Store.
func (s *Store) TrimRequests(ctx context.Context, appID string, keep, limit int) (int, error) {
	n, err := s.exec(ctx, `DELETE FROM partnerkit_request WHERE id IN (
		SELECT id FROM partnerkit_request WHERE app_id = $1 ORDER BY id || '' DESC LIMIT $3 OFFSET $2)`, appID, keep, limit)
	return int(n), wrap("trim requests", err)
}

// purgeRequests deletes storage.PurgeRequests.
func (s *Store) purgeRequests(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.exec(ctx, "DELETE FROM partnerkit_request WHERE id IN (SELECT id FROM partnerkit_request WHERE id < $1 ORDER BY id LIMIT $2)", id.Floor(id.Request, before), limit)
	return int(n), wrap("purge requests", err)
}
