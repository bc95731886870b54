package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// UnplannedEvents implements webhooks.PlanStore. Who subscribes is read after the
// events: webhooks and installations that are younger than an event say so, and
// what ends meanwhile is noticed before the send.
func (s *Store) UnplannedEvents(ctx context.Context, after string, limit int) (webhooks.Unplanned, error) {
	u := webhooks.Unplanned{ByBusiness: map[string][]webhooks.Subscriber{}, ByApp: map[string][]webhooks.Subscriber{}}
	businesses, apps := map[string]bool{}, map[string]bool{}
	err := storage.Each(ctx, s, s.sql.of("SELECT "+eventColumns+` FROM partnerkit_event
			WHERE planned = FALSE AND id > $1 ORDER BY id LIMIT $2`), []any{after, limit},
		func(scan func(...any) error) error {
			var row eventRow
			err := scan(row.dest()...)
			e := row.value()
			u.Events = append(u.Events, e)
			if e.AppID != "" {
				apps[e.AppID] = true
			} else {
				businesses[e.BusinessID] = true
			}
			return err
		})
	if err != nil {
		return u, wrap("unplanned events", err)
	}
	err = eachIn(ctx, s, s.sql.of(`SELECT i.business_id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, i.created_at, i.scopes
			FROM partnerkit_installation i JOIN partnerkit_app a ON a.id = i.app_id JOIN partnerkit_webhook w ON w.app_id = a.id
			WHERE i.status = 'ACTIVE' AND a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND i.business_id IN`),
		slices.Sorted(maps.Keys(businesses)), collectSubscribers(u.ByBusiness))
	if err != nil {
		return u, wrap("subscribers in businesses", err)
	}
	err = eachIn(ctx, s, s.sql.of(`SELECT a.id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, NULL, NULL
			FROM partnerkit_app a JOIN partnerkit_webhook w ON w.app_id = a.id
			WHERE a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND a.id IN`),
		slices.Sorted(maps.Keys(apps)), collectSubscribers(u.ByApp))
	return u, wrap("subscribers of apps", err)
}

// collectSubscribers reads rows whose first column is the key that they go under.
func collectSubscribers(into map[string][]webhooks.Subscriber) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var (
			one                     webhooks.Subscriber
			key, names, scopes      string
			created                 int64
			installed               sql.NullInt64
			ofInstallation          sql.NullString
			appScopes, installation = &one.AppScopes, &one.InstallationScopes
		)
		err := scan(&key, &one.WebhookID, &names, &created, &one.AppID, &scopes, &one.PinnedVersion, &installed, &ofInstallation)
		if err != nil {
			return err
		}
		if one.Events, err = parseList(names); err != nil {
			return err
		}
		if err := decoded(stored{scopes, appScopes}); err != nil {
			return err
		}
		if ofInstallation.Valid {
			if err := decoded(stored{ofInstallation.String, installation}); err != nil {
				return err
			}
		}
		one.CreatedAt, one.InstalledAt = fromMS(created), fromNullMS(installed)
		into[key] = append(into[key], one)
		return nil
	}
}

// SavePlan implements webhooks.PlanStore. One conditional write picks who plans an
// event. Numbers are reserved under the counters of the businesses, in one order,
// before any event is touched. Nearly always nobody else has planned one of them; when
// somebody has, none of it happens, and the write says which are left.
func (s *Store) SavePlan(ctx context.Context, p webhooks.Plan) (int, error) {
	queued, err := s.savePlan(ctx, p, (*tx).markAll)
	if errors.Is(err, errStop) {
		queued, err = s.savePlan(ctx, p, (*tx).markUnplanned)
	}
	return queued, wrap("save plan", err)
}

// marker marks events planned, given as ids and numbers, and returns which of them were
// not; nil: all.
type marker func(t *tx, ctx context.Context, rows [][]any) (won map[string]bool, err error)

func (s *Store) savePlan(ctx context.Context, p webhooks.Plan, mark marker) (queued int, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		queued = 0
		next, err := tx.reserveNumbers(ctx, p.Events)
		if err != nil {
			return err
		}
		rows := make([][]any, len(p.Events))
		for i, e := range p.Events {
			rows[i] = []any{e.ID, next[e.BusinessID]}
			if e.Number == 0 {
				next[e.BusinessID]++
			}
		}
		won, err := mark(tx, ctx, rows)
		if err != nil {
			return err
		}
		deliveries, queue := make([][]any, 0, len(p.Deliveries)), make([][]any, 0, len(p.Deliveries))
		for _, d := range p.Deliveries {
			if won == nil || won[d.EventID] {
				deliveries, queue = append(deliveries, deliveryValues(d)), append(queue, queueValues(d))
			}
		}
		queued = len(queue)
		return tx.queue(ctx, deliveries, queue)
	})
	return queued, err
}

// markPlanned is a statement with room for something behind it. Its condition is not that
// of an index, so that the events are found by their ids and by nothing else.
func (t *tx) markPlanned(rows [][]any, after string) string {
	return t.sql.many("UPDATE partnerkit_event SET planned = TRUE, number = COALESCE(number, v.column2) FROM (",
		") AS v WHERE id = v.column1 AND COALESCE(planned, FALSE) = FALSE"+after, len(rows), table("TEXT", "BIGINT"))
}

// markAll stops when one was planned before.
func (t *tx) markAll(ctx context.Context, rows [][]any) (map[string]bool, error) {
	return nil, chunks(rows, func(part [][]any) error {
		n, err := t.on.Exec(ctx, t.markPlanned(part, ""), flat(part)...)
		if err == nil && n != int64(len(part)) {
			err = errStop
		}
		return err
	})
}

func (t *tx) markUnplanned(ctx context.Context, rows [][]any) (map[string]bool, error) {
	won := make(map[string]bool, len(rows))
	return won, chunks(rows, func(part [][]any) error {
		return storage.Each(ctx, t.on, t.markPlanned(part, " RETURNING id"), flat(part), func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			won[id] = true
			return err
		})
	})
}

// reserveNumbers returns the next number of each business that has an event
// without one.
func (t *tx) reserveNumbers(ctx context.Context, all []events.Event) (map[string]int64, error) {
	wanted := map[string]int64{}
	for _, e := range all {
		if e.Number == 0 {
			wanted[e.BusinessID]++
		}
	}
	rows := make([][]any, 0, len(wanted))
	for _, business := range slices.Sorted(maps.Keys(wanted)) {
		rows = append(rows, []any{business, wanted[business]})
	}
	next := make(map[string]int64, len(wanted))
	err := t.returnMany(ctx, "INSERT INTO partnerkit_event_counter AS c (business_id, last) VALUES", rows,
		" ON CONFLICT (business_id) DO UPDATE SET last = c.last + excluded.last RETURNING business_id, last",
		func(scan func(...any) error) error {
			var business string
			var last int64
			err := scan(&business, &last)
			next[business] = last - wanted[business] + 1
			return err
		})
	return next, err
}

const insertQueued = "INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) VALUES"

// queue adds deliveries and their places in the queue.
func (t *tx) queue(ctx context.Context, deliveries, queue [][]any) error {
	if len(deliveries) == 0 {
		return nil
	}
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status,
		attempts, response_code, last_error, next_attempt_at, created_at) VALUES`, deliveries); err != nil {
		return err
	}
	t.hint(webhooks.TopicQueued)
	return t.insertMany(ctx, insertQueued, queue)
}

func deliveryValues(d webhooks.Delivery) []any {
	return []any{
		d.ID, d.WebhookID, d.AppID, nullText(d.EventID), d.EventType, d.BusinessID, d.Body, string(d.Status),
		d.Attempts, nullInt(d.ResponseCode), nullText(d.LastError), nullMS(d.NextAttemptAt), ms(d.CreatedAt),
	}
}

// queueValues is the place of a delivery that is due at its next attempt.
func queueValues(d webhooks.Delivery) []any {
	return []any{d.WebhookID, ms(d.NextAttemptAt), d.ID, webhooks.ShardOf(d.WebhookID)}
}
