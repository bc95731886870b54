package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// businessStep is an eraseStep for a business.
type businessStep func(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (partner.BusinessErasure, string, error)

// businessSteps are the steps of erasing a business in their order. Events and deliveries go when
// the notices of the apps have ended, and an installation loses the business's id when its
// business.redact is recorded.
//
// Tables are read in the order of their keys, as when a user is erased.
var businessSteps = []businessStep{
	eraseSpaces,
	eraseBusinessKeys,
	eraseBusinessAudit,
	businessColumn{table: "partnerkit_request", column: "business_id"}.erase,
	eraseUsage,
	businessColumn{table: "partnerkit_authorization_request", column: "business_id", instead: noText}.erase,
	businessColumn{table: "partnerkit_app", column: "custom_business_id", instead: noText}.erase,
	awaitNotices,
	eraseBusinessDeliveries,
	eraseBusinessEvents,
	businessColumn{table: "partnerkit_installation", column: "business_id", more: " AND status <> 'ACTIVE' AND redact_at IS NULL"}.erase,
}

const (
	// erasureEnds is the next place of a step after which no other follows.
	erasureEnds = "end"
	// fromStart comes before every id, and is not empty.
	fromStart = "!"
	// erasedAtOnce is how many callers, apps or webhooks a part of an erasure looks at.
	erasedAtOnce = 100
)

// HastenRedactions implements oauthstore.Store.
func (s *Store) HastenRedactions(ctx context.Context, businessID string, now time.Time) error {
	_, err := s.exec(ctx, "UPDATE partnerkit_installation SET redact_at = $2 WHERE redact_at > $2 AND business_id = $1", businessID, ms(now))
	return wrap("hasten redactions", err)
}

// EraseBusiness implements oauthstore.Store. Its cursor is as that of EraseUser.
func (s *Store) EraseBusiness(ctx context.Context, e oauthstore.EraseBusiness) (oauthstore.ErasedBusinessPart, error) {
	number, after, _ := strings.Cut(e.After, " ")
	step, err := strconv.Atoi("0" + number)
	if err != nil || step >= len(businessSteps) || e.Limit < 1 {
		return oauthstore.ErasedBusinessPart{}, fmt.Errorf("erase business: no part after %q with limit %d", e.After, e.Limit)
	}
	var done oauthstore.ErasedBusinessPart
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		did, next, err := businessSteps[step](ctx, tx, e, after)
		done = oauthstore.ErasedBusinessPart{BusinessErasure: did}
		switch {
		case next == erasureEnds:
		case next != "":
			done.Next = fmt.Sprint(step, " ", next)
		case step+1 < len(businessSteps):
			done.Next = strconv.Itoa(step + 1)
		}
		return err
	})
	return done, wrap("erase business", err)
}

// strs reads a column of texts.
func (t *tx) strs(ctx context.Context, query string, args ...any) ([]string, error) {
	var all []string
	err := storage.Each(ctx, t.on, t.sql.of(query), args, func(scan func(...any) error) error {
		var one string
		err := scan(&one)
		all = append(all, one)
		return err
	})
	return all, err
}

// eraseSpaces deletes the values of apps that are not installed.
func eraseSpaces(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	last, next, err := tx.batch(ctx, "partnerkit_app_data_space", after, e.Limit)
	if err != nil || last == "" {
		return done, "", err
	}
	spaces, err := tx.strs(ctx, `SELECT s.id FROM partnerkit_app_data_space s WHERE s.id > $1 AND s.id <= $2 AND s.business_id = $3 AND NOT EXISTS (
		SELECT 1 FROM partnerkit_installation i WHERE i.app_id = s.app_id AND i.business_id = s.business_id AND i.status = 'ACTIVE') ORDER BY s.id`, after, last, e.BusinessID)
	if err != nil {
		return done, "", err
	}
	for _, space := range spaces {
		if _, err := tx.exec(ctx, "UPDATE partnerkit_app_data_space SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL", space, ms(e.Now)); err != nil {
			return done, "", err
		}
		left := e.Limit - done.AppData
		n, err := tx.exec(ctx, `DELETE FROM partnerkit_app_data_value WHERE id IN (SELECT id FROM partnerkit_app_data_value WHERE space_id || '' = $1
			ORDER BY field_id || '' LIMIT $2)`, space, left)
		done.AppData += int(n)
		if err != nil || int(n) == left {
			return done, max(after, fromStart), err // there may be more of this space
		}
		_, err = tx.exec(ctx, "DELETE FROM partnerkit_app_data_space WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM partnerkit_app_data_value WHERE space_id || '' = $1)", space)
		if err != nil {
			return done, "", err
		}
	}
	return done, next, nil
}

// eraseBusinessKeys deletes idempotency keys, of one caller after the other.
func eraseBusinessKeys(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	for range erasedAtOnce {
		var caller sql.NullString
		if err := tx.one(ctx, "SELECT MIN(app_id) FROM partnerkit_idempotency_key WHERE app_id > $1", []any{after}, &caller); err != nil || !caller.Valid {
			return done, "", err
		}
		left := e.Limit - done.Keys
		n, err := tx.exec(ctx, `DELETE FROM partnerkit_idempotency_key WHERE (app_id, business_id, name) IN (
			SELECT app_id, business_id, name FROM partnerkit_idempotency_key WHERE app_id = $1 AND business_id = $2 LIMIT $3)`, caller.String, e.BusinessID, left)
		done.Keys += int(n)
		if err != nil || int(n) == left {
			return done, max(after, fromStart), err
		}
		after = caller.String
	}
	return done, after, nil
}

// eraseBusinessAudit replaces the id where it is the target of an entry, and where it is a value
// in the detail of one, as in "customBusinessId: none → biz_1".
func eraseBusinessAudit(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	last, next, err := tx.batch(ctx, "partnerkit_audit", after, e.Limit)
	if err != nil || last == "" {
		return done, "", err
	}
	const detail = "REPLACE(REPLACE(detail || ';', $5, $6), $7, $8)" // with a ; at the end, so that each value ends with one
	before := func(businessID string) string { return ": " + businessID + " → " }
	behind := func(businessID string) string { return " → " + businessID + ";" }
	n, err := tx.exec(ctx, `UPDATE partnerkit_audit SET target = CASE WHEN target = $3 THEN $4 ELSE target END, detail = SUBSTR(`+detail+`, 1, LENGTH(`+detail+`) - 1)
		WHERE id > $1 AND id <= $2 AND (target = $3 OR `+detail+" <> detail || ';')", after, last, e.BusinessID, partner.ErasedBusiness,
		before(e.BusinessID), before(partner.ErasedBusiness), behind(e.BusinessID), behind(partner.ErasedBusiness))
	done.AuditEntries = int(n)
	return done, next, err
}

// businessColumn is the column of a table that has ids of businesses.
type businessColumn struct {
	table, column string
	more          string // another condition
	instead       string // of the id; empty: partner.ErasedBusiness
}

// noText is an instead for no text.
const noText = "none"

func (c businessColumn) erase(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	last, next, err := tx.batch(ctx, c.table, after, e.Limit)
	if err != nil || last == "" {
		return done, "", err
	}
	instead := partner.ErasedBusiness
	if c.instead == noText {
		instead = ""
	}
	_, err = tx.exec(ctx, "UPDATE "+c.table+" SET "+c.column+" = $4 WHERE id > $1 AND id <= $2 AND "+c.column+" = $3"+c.more, after, last, e.BusinessID, instead)
	return done, next, err
}

// eraseUsage adds the usage of the business to that of all erased ones.
func eraseUsage(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	apps, err := tx.strs(ctx, "SELECT id FROM partnerkit_app WHERE id > $1 ORDER BY id LIMIT $2", after, erasedAtOnce)
	if err != nil {
		return done, "", err
	}
	for _, app := range apps {
		var groups []callstore.Group
		err := storage.Each(ctx, tx.on, tx.sql.of(`DELETE FROM partnerkit_calls_group WHERE app_id = $1 AND kind = 'business' AND name = $2
			RETURNING kind, day_at, calls, errors, rate_limited, bytes`), []any{app, e.BusinessID}, func(scan func(...any) error) error {
			g := callstore.Group{AppID: app, Key: partner.ErasedBusiness}
			var day int64
			err := scan((*string)(&g.By), &day, &g.Calls, &g.Errors, &g.RateLimited, &g.Bytes)
			g.Day = fromMS(day)
			groups = append(groups, g)
			return err
		})
		if err != nil {
			return done, "", err
		}
		if err := tx.addGroups(ctx, groups); err != nil {
			return done, "", err
		}
	}
	if len(apps) == erasedAtOnce {
		next = apps[len(apps)-1]
	}
	return done, next, nil
}

// awaitNotices ends the erasure for now while an event of the business is not planned, or a
// delivery that tells an app of its removal is queued.
func awaitNotices(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, _ string) (done partner.BusinessErasure, next string, err error) {
	for _, one := range []struct {
		query string
		args  []any
	}{
		{"SELECT COUNT(*) FROM partnerkit_installation WHERE redact_at IS NOT NULL AND business_id = $1", []any{e.BusinessID}},
		{"SELECT COUNT(*) FROM partnerkit_outbox WHERE shard = $1 AND business_id = $2", []any{webhookstore.ShardOf(e.BusinessID, tx.shards), e.BusinessID}},
		{"SELECT COUNT(*) FROM " + deliveryTables + ` WHERE d.event_id IN (SELECT n.event_id FROM partnerkit_event_number n WHERE n.business_id = $1 AND n.type IN ($2, $3))
			AND ` + deliveryStatus + " IN ('queued', 'retrying')", []any{e.BusinessID, events.AppUninstalled, events.BusinessRedact}},
	} {
		var n int
		if err := tx.one(ctx, one.query, one.args, &n); err != nil {
			return done, "", err
		}
		done.Waiting += n
	}
	if done.Waiting > 0 {
		next = erasureEnds
	}
	return done, next, nil
}

// eraseBusinessDeliveries deletes deliveries, of one webhook after the other.
func eraseBusinessDeliveries(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, after string) (done partner.BusinessErasure, next string, err error) {
	hooks, err := tx.strs(ctx, "SELECT id FROM partnerkit_webhook WHERE id > $1 ORDER BY id LIMIT $2", after, erasedAtOnce)
	if err != nil {
		return done, "", err
	}
	for _, hook := range hooks {
		left := e.Limit - done.Deliveries
		old, err := tx.oldDeliveries(ctx, "SELECT "+oldColumns+" FROM partnerkit_delivery WHERE webhook_id = $1 AND business_id = $2 ORDER BY id || '' LIMIT $3", hook, e.BusinessID, left)
		if err != nil {
			return done, "", err
		}
		if err := tx.dropDeliveries(ctx, old); err != nil {
			return done, "", err
		}
		done.Deliveries += len(old)
		if len(old) == left {
			return done, max(after, fromStart), nil
		}
		after = hook
	}
	if len(hooks) == erasedAtOnce {
		next = after
	}
	return done, next, nil
}

// dropDeliveries deletes some deliveries with their attempts and their places in the queue.
func (t *tx) dropDeliveries(ctx context.Context, old []oldDelivery) error {
	if err := t.leaveQueue(ctx, old); err != nil {
		return err
	}
	ids := make([]string, len(old))
	for i, d := range old {
		ids[i] = d.id
	}
	return sets(ids, func(set []any) error {
		gone, err := t.oldDeliveries(ctx, "DELETE FROM partnerkit_delivery WHERE id IN ("+places(0, len(set))+") RETURNING "+oldColumns, set...)
		if err != nil {
			return err
		}
		if err := t.leaveQueue(ctx, gone); err != nil { // those that were moved in between
			return err
		}
		_, err = t.exec(ctx, "DELETE FROM partnerkit_attempt WHERE delivery_id IN ("+places(0, len(set))+")", set...)
		return err
	})
}

// eraseBusinessEvents deletes the events that have all their deliveries, and the counter when no
// event is left. A transaction that numbers events waits for the counter, and starts over.
func eraseBusinessEvents(ctx context.Context, tx *tx, e oauthstore.EraseBusiness, _ string) (done partner.BusinessErasure, next string, err error) {
	shard := webhookstore.ShardOf(e.BusinessID, tx.shards)
	ids, err := tx.strs(ctx, `SELECT n.event_id FROM partnerkit_event_number n WHERE n.business_id = $1 AND NOT EXISTS (
		SELECT 1 FROM partnerkit_outbox o WHERE o.shard = $2 AND o.business_id = $1 AND o.number = n.number AND o.event_id = n.event_id) LIMIT $3`, e.BusinessID, shard, e.Limit)
	if err != nil {
		return done, "", err
	}
	for _, table := range []string{"partnerkit_event WHERE id", "partnerkit_event_number WHERE event_id"} {
		err := sets(ids, func(set []any) error {
			_, err := tx.exec(ctx, "DELETE FROM "+table+" IN ("+places(0, len(set))+")", set...)
			return err
		})
		if err != nil {
			return done, "", err
		}
	}
	done.Events = len(ids)
	if len(ids) == e.Limit {
		return done, fromStart, nil
	}
	if _, err := tx.strs(ctx, "SELECT business_id FROM partnerkit_event_counter WHERE business_id = $1"+tx.dialect.ForUpdate, e.BusinessID); err != nil {
		return done, "", err
	}
	_, err = tx.exec(ctx, `DELETE FROM partnerkit_event_counter WHERE business_id = $1 AND NOT EXISTS (SELECT 1 FROM partnerkit_event_number n WHERE n.business_id = $1)
		AND NOT EXISTS (SELECT 1 FROM partnerkit_outbox o WHERE o.shard = $2 AND o.business_id = $1)`, e.BusinessID, shard)
	return done, "", err
}
