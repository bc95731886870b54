package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// Bounds of one Unplanned.
const (
	maxBacklogs       = 64
	maxEvents         = 640  // of all businesses
	maxBusinessEvents = 100  // of one business
	maxSubscribers    = 2000 // of all businesses
	// subscribersOf is how many businesses one statement reads the webhooks of: it may
	// read those of all before it drops what is over maxSubscribers.
	subscribersOf = 4
)

// Unplanned implements webhooks.PlanStore. Subscribers are read after the events: those
// that came later say so by their times, and those that end in between are dropped before
// the send.
func (s *Store) Unplanned(ctx context.Context, after string) (webhooks.Unplanned, error) {
	u := webhooks.Unplanned{ByApp: map[string][]webhooks.Subscriber{}}
	err := storage.Each(ctx, s, s.sql.of(`SELECT business_id, last, planned, planned_webhook FROM partnerkit_event_counter
			WHERE planned < last AND business_id > $1 ORDER BY business_id LIMIT $2`), []any{after, maxBacklogs},
		func(scan func(...any) error) error {
			var b webhooks.Backlog
			err := scan(&b.BusinessID, &b.Last, &b.From.Number, &b.From.WebhookID)
			u.Backlogs = append(u.Backlogs, b)
			return err
		})
	if err != nil || len(u.Backlogs) == 0 {
		return u, wrap("backlogs", err)
	}
	if err := s.readBacklogEvents(ctx, u.Backlogs); err != nil {
		return u, wrap("unplanned events", err)
	}
	if u.Backlogs, err = s.readBacklogSubscribers(ctx, u.Backlogs); err != nil {
		return u, wrap("subscribers in businesses", err)
	}
	apps := map[string]bool{}
	for _, b := range u.Backlogs {
		for _, e := range b.Events {
			if e.AppID != "" {
				apps[e.AppID] = true
			}
		}
	}
	err = eachIn(ctx, s, s.sql.of(`SELECT a.id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, NULL, NULL
			FROM partnerkit_app a JOIN partnerkit_webhook w ON w.app_id = a.id
			WHERE a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND w.app_id IN`),
		slices.Sorted(maps.Keys(apps)), eachSubscriber(func(app string, one webhooks.Subscriber) { u.ByApp[app] = append(u.ByApp[app], one) }))
	for _, of := range u.ByApp {
		slices.SortFunc(of, func(a, b webhooks.Subscriber) int { return strings.Compare(a.WebhookID, b.WebhookID) })
	}
	return u, wrap("subscribers of apps", err)
}

// backlogsAtOnce is of how many businesses one statement reads the events.
const backlogsAtOnce = 16

// readBacklogEvents reads the next events of each business, and lowers Last to the last
// number that was looked at. Numbers have gaps only where events were purged.
func (s *Store) readBacklogEvents(ctx context.Context, all []webhooks.Backlog) error {
	eventsOfEach := int64(min(maxBusinessEvents, maxEvents/len(all)))
	index := make(map[string]*webhooks.Backlog, len(all))
	for i := range all {
		b := &all[i]
		b.Last, index[b.BusinessID] = min(b.Last, b.From.Number+eventsOfEach), b
	}
	err := chunksOf(backlogsAtOnce, all, func(part []webhooks.Backlog) error {
		args := make([]any, 0, 3*len(part))
		for _, b := range part {
			args = append(args, b.BusinessID, b.From.Number, b.Last)
		}
		return storage.Each(ctx, s, s.sql.many("", "", len(part), backlogText), args, func(scan func(...any) error) error {
			var row eventRow
			err := scan(row.dest()...)
			e := row.value()
			if b := index[e.BusinessID]; b != nil {
				b.Events = append(b.Events, e)
			}
			return err
		})
	})
	for _, b := range all { // here, since a database would sort the data too
		slices.SortFunc(b.Events, func(x, y events.Event) int { return cmp.Compare(x.Number, y.Number) })
	}
	return err
}

// backlogText selects each business by itself: PostgreSQL expects many rows of a join with
// ranges, and reads the whole table for it.
func backlogText(businesses int) string {
	var text strings.Builder
	for i := range businesses {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&text, "SELECT "+eventColumns+" FROM (SELECT "+eventColumns+` FROM partnerkit_event
			WHERE business_id = $%d AND number > $%d AND number <= $%d ORDER BY number LIMIT %d) AS b%d`, 3*i+1, 3*i+2, 3*i+3, maxBusinessEvents, i)
	}
	return text.String()
}

// SQLite reads the tables of a CROSS JOIN in this order. For an inner join with more than
// two values it reads the whole table and looks each row up among the values.

// readBacklogSubscribers reads webhooks of apps that are installed in the businesses, in
// the order of their ids, until it has as many as one Unplanned may have. It returns the
// businesses that it came to, of which the last may have more.
func (s *Store) readBacklogSubscribers(ctx context.Context, all []webhooks.Backlog) ([]webhooks.Backlog, error) {
	left, next := maxSubscribers, 0 // next is the business that the next row may be of
	for next < len(all) {
		some := all[next : next+sizeOf(min(len(all)-next, subscribersOf))]
		args := make([]any, 0, 2*len(some)+1)
		for _, b := range some {
			args = append(args, b.BusinessID, b.From.WebhookID)
		}
		args = append(args, left+1)
		read, at := 0, 0
		err := storage.Each(ctx, s, s.sql.many("SELECT i.business_id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, i.created_at, i.scopes FROM (",
			`) AS v CROSS JOIN partnerkit_installation i
				JOIN partnerkit_app a ON a.id = i.app_id JOIN partnerkit_webhook w ON w.app_id = a.id
				WHERE i.business_id = v.column1 AND i.status = 'ACTIVE' AND a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND w.id > v.column2
				ORDER BY i.business_id, w.id LIMIT `+places(2*len(some), 1), len(some), table("TEXT", "TEXT")), args,
			eachSubscriber(func(business string, one webhooks.Subscriber) {
				for some[at].BusinessID != business {
					at++
				}
				if read++; read <= left {
					some[at].Subscribers = append(some[at].Subscribers, one)
				}
			}))
		if err != nil {
			return nil, err
		}
		switch {
		case read <= left:
		case len(some[at].Subscribers) == 0: // the next read begins with this business
			return all[:next+at], nil
		default:
			some[at].HasMore = true
			return all[:next+at+1], nil
		}
		left -= read
		next += len(some)
	}
	return all, nil
}

// eachSubscriber reads rows whose first column is the business or app that they are for.
func eachSubscriber(add func(key string, one webhooks.Subscriber)) func(scan func(...any) error) error {
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
		add(key, one)
		return nil
	}
}

// SavePlan implements webhooks.PlanStore. The conditional update of the counters selects
// the planner whose deliveries stay.
func (s *Store) SavePlan(ctx context.Context, p webhooks.Plan) (bool, error) {
	steps := make([][]any, len(p.Steps))
	for i, step := range p.Steps {
		steps[i] = []any{step.BusinessID, step.From.Number, step.From.WebhookID, step.To.Number, step.To.WebhookID}
	}
	deliveries, queue := make([][]any, len(p.Deliveries)), make([][]any, len(p.Deliveries))
	for i, d := range p.Deliveries {
		deliveries[i], queue[i] = deliveryValues(d), queueValues(d)
	}
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if err := tx.queue(ctx, deliveries, queue); err != nil {
			return err
		}
		return chunks(steps, func(part [][]any) error {
			n, err := tx.on.Exec(ctx, tx.sql.many("UPDATE partnerkit_event_counter SET ", "", len(part), func(n int) string {
				rows := byKey{"business_id", n, 5}
				return "planned = " + rows.value(3, "BIGINT") + ", planned_webhook = " + rows.value(4, "TEXT") +
					" WHERE " + rows.in() + " AND planned = " + rows.value(1, "BIGINT") + " AND planned_webhook = " + rows.value(2, "TEXT")
			}), flat(part)...)
			if err == nil && n != int64(len(part)) {
				err = errStop
			}
			return err
		})
	})
	if errors.Is(err, errStop) {
		return false, nil
	}
	return err == nil, wrap("save plan", err)
}

const insertQueued = "INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard) VALUES"

// queue adds deliveries and their places in the queue.
func (t *tx) queue(ctx context.Context, deliveries, queue [][]any) error {
	if len(deliveries) == 0 {
		return nil
	}
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status,
		attempts, response_code, last_error, next_attempt_at, round, sequence, created_at) VALUES`, deliveries); err != nil {
		return err
	}
	t.hint(webhooks.TopicQueued)
	return t.insertMany(ctx, insertQueued, queue)
}

func deliveryValues(d webhooks.Delivery) []any {
	return []any{
		d.ID, d.WebhookID, d.AppID, nullText(d.EventID), d.EventType, d.BusinessID, d.Body, string(d.Status),
		d.Attempts, nullInt(d.ResponseCode), nullText(d.LastError), nullMS(d.NextAttemptAt), d.Round, nullInt(int(d.Sequence)), ms(d.CreatedAt),
	}
}

// queueValues returns the place of a delivery that is due at its next attempt.
func queueValues(d webhooks.Delivery) []any {
	return []any{d.WebhookID, ms(d.NextAttemptAt), d.ID, webhooks.ShardOf(d.WebhookID)}
}
