package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// A list of deliveries is read from the index of one filter, newest first, or from one
// index for each status:
//
//	event id          pk_delivery_event, at most one delivery
//	retrying, failed  pk_delivery_status
//	queued            the queue, if a page is enough for it; otherwise as without a filter
//	business          pk_delivery_business
//	others, or none   pk_delivery_webhook
//
// since, until and the place of the page are bounds of the ids, which every one of these
// indexes is ordered by. What further filters leave out is read all the same, so at most
// partner.ScannedDeliveries are read; the next page goes on after the last of them.

// source is an index that a list reads.
type source struct {
	column, value string                 // of the deliveries; empty: all of the webhook
	status        partner.DeliveryStatus // of the deliveries: Retrying or Failed; empty: any
	isExact       bool                   // every delivery that it has matches the query
}

// statement collects the arguments of a statement.
type statement struct{ args []any }

// arg adds an argument and returns its place.
func (t *statement) arg(value any) string {
	t.args = append(t.args, value)
	return "$" + strconv.Itoa(len(t.args))
}

// found holds the rows read from a source: all of its matching deliveries, newest first, that
// are not older than the last one, if there is one.
type found struct {
	deliveries []partner.Delivery
	last       string // empty: to the end
}

// Deliveries implements webhookstore.Store.
func (s *Store) Deliveries(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	if _, err := s.Webhook(ctx, q.AppID, q.WebhookID, time.Time{}); err != nil {
		return partner.DeliveryPage{}, wrap("deliveries", err)
	}
	page, err := s.deliveryPage(ctx, q)
	if err == nil && q.CountUpTo > 0 {
		page.Counts, err = s.countDeliveries(ctx, q)
	}
	if err == nil && q.WithBodies {
		err = s.readBodies(ctx, page.Deliveries)
	}
	return page, wrap("deliveries", err)
}

// readBodies fills in the bodies of deliveries. One that was purged in between keeps none.
func (s *Store) readBodies(ctx context.Context, all []partner.Delivery) error {
	ids, bodies := make([]string, len(all)), make(map[string][]byte, len(all))
	for i, d := range all {
		ids[i] = d.ID
	}
	err := eachIn(ctx, s, s.sql.of("SELECT id, body FROM partnerkit_delivery WHERE id IN"), ids, func(scan func(...any) error) error {
		var id string
		var body []byte
		err := scan(&id, &body)
		bodies[id] = body
		return err
	})
	for i := range all {
		all[i].Body = bodies[all[i].ID]
	}
	return err
}

func (s *Store) deliveryPage(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryPage, error) {
	var all []partner.Delivery
	last := ""
	for _, status := range statusesOf(q) {
		some, err := s.readSource(ctx, q, status)
		if err != nil {
			return partner.DeliveryPage{}, err
		}
		all, last = append(all, some.deliveries...), max(last, some.last)
	}
	all = slices.DeleteFunc(all, func(d partner.Delivery) bool { return d.ID < last })
	slices.SortFunc(all, func(a, b partner.Delivery) int { return strings.Compare(b.ID, a.ID) })
	// A delivery whose status changed in between was read twice.
	all = slices.CompactFunc(all, func(a, b partner.Delivery) bool { return a.ID == b.ID })
	if len(all) > q.Limit {
		all, last = all[:q.Limit], all[q.Limit-1].ID
	}
	return partner.DeliveryPage{Deliveries: all, Next: last}, nil
}

// statusesOf returns the statuses that are read from an index each; one that is empty stands
// for an index of another filter.
func statusesOf(q partner.DeliveryQuery) []partner.DeliveryStatus {
	asked := slices.Compact(slices.Sorted(slices.Values(q.Statuses)))
	if len(asked) == 0 || q.EventID != "" || slices.Contains(asked, partner.DeliveryDelivered) {
		return []partner.DeliveryStatus{""}
	}
	return asked
}

func (s *Store) readSource(ctx context.Context, q partner.DeliveryQuery, status partner.DeliveryStatus) (found, error) {
	switch status {
	case partner.DeliveryFailed, partner.DeliveryRetrying:
		return s.readDeliveries(ctx, q, source{status: status, isExact: q.EventType == "" && q.BusinessID == ""})
	case partner.DeliveryQueued:
		queued, isAll, err := s.readQueued(ctx, q)
		if isAll || err != nil {
			return found{deliveries: queued}, err
		}
		q.Statuses = []partner.DeliveryStatus{partner.DeliveryQueued}
	}
	from := filtered(q)
	filters := 0
	for _, is := range []bool{q.EventID != "", q.BusinessID != "", q.EventType != "", status == partner.DeliveryQueued || len(q.Statuses) > 0} {
		if is {
			filters++
		}
	}
	from.isExact = filters == 0 || filters == 1 && from.column != ""
	return s.readDeliveries(ctx, q, from)
}

// filtered returns the source of a query without a status.
func filtered(q partner.DeliveryQuery) source {
	switch {
	case q.EventID != "":
		return source{column: "event_id", value: q.EventID}
	case q.BusinessID != "":
		return source{column: "business_id", value: q.BusinessID}
	}
	return source{}
}

// pageSizes are the limits that are part of a statement's text, so that PostgreSQL plans it
// once. For a placeholder it would expect a tenth of all rows, and plan each call. They are
// few, since a database keeps only so many prepared statements, and callers choose limits.
var pageSizes = []int{16, webhooks.MaxListed + 1}

// newest selects columns of the newest deliveries of a source, at most limit. The one
// delivery of an event needs no order, and without one there is no reason to read another
// index.
func (from source) newest(t *statement, q partner.DeliveryQuery, columns string, limit int) string {
	text := "SELECT " + columns + " FROM partnerkit_delivery WHERE webhook_id = " + t.arg(q.WebhookID)
	switch {
	case from.status != "":
		text += " AND status IS NOT NULL AND status = '" + string(from.status) + "'"
	case from.column != "":
		text += " AND " + from.column + " = " + t.arg(from.value)
	}
	text += bounds(t, q, "id || ''")
	if from.column != "event_id" {
		text += " ORDER BY id || '' DESC"
	}
	if from.isExact && slices.Contains(pageSizes, limit) {
		return text + " LIMIT " + strconv.Itoa(limit)
	}
	return text + " LIMIT " + t.arg(limit)
}

// bounds returns the bounds of the ids of deliveries.
func bounds(t *statement, q partner.DeliveryQuery, key string) string {
	text := ""
	if q.After != "" {
		text += " AND " + key + " < " + t.arg(q.After)
	}
	if !q.Until.IsZero() {
		text += " AND " + key + " < " + t.arg(floor(q.Until))
	}
	if !q.Since.IsZero() {
		text += " AND " + key + " >= " + t.arg(floor(q.Since))
	}
	return text
}

// floor returns the least id of a delivery created at a time, or at the first full millisecond
// after it.
func floor(at time.Time) string {
	if rest := at.Truncate(time.Millisecond); rest.Before(at) {
		at = rest.Add(time.Millisecond)
	}
	return id.Floor(id.Delivery, time.UnixMilli(max(at.UnixMilli(), 0)))
}

const headColumns = "id, webhook_id, app_id, event_id, event_type, business_id, status, attempts, response_code, last_error, next_attempt_at, round, sequence, created_at"

func (s *Store) readDeliveries(ctx context.Context, q partner.DeliveryQuery, from source) (found, error) {
	limit := q.Limit + 1 // one more shows whether there is another page
	index := q
	if from.isExact {
		index.Since = time.Time{} // cut off below: with two bounds PostgreSQL plans each call
		if i := slices.IndexFunc(pageSizes, func(size int) bool { return size >= limit }); i >= 0 {
			limit = pageSizes[i]
		}
	} else {
		limit = max(partner.ScannedDeliveries, limit)
	}
	var t statement
	query := "SELECT " + deliveryHead + " FROM (" + from.newest(&t, index, headColumns, limit) + ") AS d" + deliveryArrived
	all, err := s.readHeads(ctx, query, t.args)
	var f found
	if err == nil && len(all) >= limit && (q.Since.IsZero() || all[len(all)-1].ID >= floor(q.Since)) {
		f.last = all[len(all)-1].ID
	}
	f.deliveries = slices.DeleteFunc(all, func(d partner.Delivery) bool { return !matches(q, d) })
	return f, err
}

// readHeads returns deliveries without their bodies, newest first.
func (s *Store) readHeads(ctx context.Context, query string, args []any) ([]partner.Delivery, error) {
	var all []partner.Delivery
	err := storage.Each(ctx, s, s.sql.of(query), args, func(scan func(...any) error) error {
		var row deliveryRow
		err := scan(row.dest()...)
		all = append(all, row.value())
		return err
	})
	slices.SortFunc(all, func(a, b partner.Delivery) int { return strings.Compare(b.ID, a.ID) })
	return all, err
}

// matches reports whether a delivery passes all filters of a query.
func matches(q partner.DeliveryQuery, d partner.Delivery) bool {
	return (len(q.Statuses) == 0 || slices.Contains(q.Statuses, d.Status)) &&
		(q.EventType == "" || d.EventType == q.EventType) && (q.BusinessID == "" || d.BusinessID == q.BusinessID) && (q.EventID == "" || d.EventID == q.EventID) &&
		(q.After == "" || d.ID < q.After) && (q.Since.IsZero() || d.ID >= floor(q.Since)) && (q.Until.IsZero() || d.ID < floor(q.Until))
}

// clockSkew is how far the clocks of nodes may differ.
const clockSkew = time.Minute

// readQueued reads the queued deliveries that match, if the queue has no more than a page
// of what is due; isAll reports that. Only deliveries that are retried are due later.
func (s *Store) readQueued(ctx context.Context, q partner.DeliveryQuery) (queued []partner.Delivery, isAll bool, err error) {
	all, err := s.readHeads(ctx, "SELECT "+deliveryHead+` FROM (SELECT delivery_id FROM partnerkit_delivery_queue
		WHERE shard = $1 AND webhook_id = $2 AND due_at <= $3 ORDER BY due_at LIMIT $4) AS t JOIN partnerkit_delivery d ON d.id = t.delivery_id`+deliveryArrived,
		[]any{webhookstore.ShardOf(q.WebhookID, s.shards), q.WebhookID, ms(q.Now.Add(clockSkew)), q.Limit + 1})
	if err != nil || len(all) > q.Limit {
		return nil, false, err
	}
	q.Statuses = []partner.DeliveryStatus{partner.DeliveryQueued}
	return slices.DeleteFunc(all, func(d partner.Delivery) bool { return !matches(q, d) }), true, nil
}

// countDeliveries counts the deliveries that match a query by status. It ignores the
// statuses and the page of the query.
func (s *Store) countDeliveries(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryCounts, error) {
	q.Statuses, q.After = nil, ""
	counts := map[partner.DeliveryStatus]int{}
	var t statement
	query := s.countByStatus(&t, q)
	err := storage.Each(ctx, s, s.sql.of(query), t.args, func(scan func(...any) error) error {
		var status string
		var n int
		err := scan(&status, &n)
		counts[partner.DeliveryStatus(status)] = max(counts[partner.DeliveryStatus(status)], min(n, q.CountUpTo))
		return err
	})
	return partner.DeliveryCounts{
		Queued: counts[partner.DeliveryQueued], Retrying: counts[partner.DeliveryRetrying], Delivered: counts[partner.DeliveryDelivered], Failed: counts[partner.DeliveryFailed],
	}, err
}

// countByStatus returns a statement that counts deliveries by status, at most
// partner.ScannedDeliveries from each index. It may return several numbers
// for a status. Each of them may be too small, so the largest is the best.
func (s *Store) countByStatus(t *statement, q partner.DeliveryQuery) string {
	from := filtered(q)
	counts := []string{"SELECT " + deliveryStatus + ", COUNT(*) FROM (" + from.newest(t, q, "id, status, event_type, business_id", partner.ScannedDeliveries) + ") AS d" +
		deliveryArrived + " WHERE TRUE" + filters(t, q) + " GROUP BY 1"}
	if from.column == "event_id" { // there is no more than one
		return counts[0]
	}
	for _, status := range []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying} {
		limit, columns := partner.ScannedDeliveries, "event_type, business_id"
		if from.column == "" && q.EventType == "" { // the index of the status is enough
			limit, columns = q.CountUpTo, "webhook_id"
		}
		counts = append(counts, fmt.Sprintf("SELECT '%s', COUNT(*) FROM (%s) AS d WHERE TRUE%s", status, source{status: status}.newest(t, q, columns, limit), filters(t, q)))
	}
	counts = append(counts, "SELECT 'queued', COUNT(*) FROM (SELECT event_type, business_id FROM (SELECT delivery_id FROM partnerkit_delivery_queue WHERE shard = "+t.arg(webhookstore.ShardOf(q.WebhookID, s.shards))+
		" AND webhook_id = "+t.arg(q.WebhookID)+" AND due_at <= "+t.arg(ms(q.Now.Add(clockSkew)))+" ORDER BY due_at LIMIT "+t.arg(partner.ScannedDeliveries)+
		") AS t JOIN partnerkit_delivery ON id = t.delivery_id WHERE status IS NULL"+bounds(t, q, "id")+") AS d WHERE TRUE"+filters(t, q))
	return strings.Join(counts, " UNION ALL ")
}

// filters returns the conditions for the event and the business of deliveries.
func filters(t *statement, q partner.DeliveryQuery) string {
	text := ""
	if q.EventType != "" {
		text += " AND d.event_type = " + t.arg(q.EventType)
	}
	if q.BusinessID != "" {
		text += " AND d.business_id = " + t.arg(q.BusinessID)
	}
	return text
}
