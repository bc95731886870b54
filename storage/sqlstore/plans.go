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

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// Bounds of one Unplanned.
const (
	maxEvents         = 640 // of all businesses
	maxBusinessEvents = 250 // of one business
	maxSubscribers    = 2000
	// businessesAtOnce is how many businesses one statement reads the events of, and
	// subscribersOf the webhooks: it may read those of all before it drops what is over
	// maxSubscribers.
	businessesAtOnce = 8
	subscribersOf    = 4
	// backlogRows is how many rows of the outbox one page of Backlogs reads.
	backlogRows = 1000
)

// Backlogs implements webhookstore.Store. A page ends with the business in which it has read
// enough; the next one begins behind all events of that business.
func (s *Store) Backlogs(ctx context.Context, behind *webhookstore.Backlog) ([]webhookstore.Backlog, error) {
	shard, business := -1, ""
	if behind != nil {
		shard, business = webhookstore.ShardOf(behind.BusinessID, s.shards), behind.BusinessID
	}
	var found []webhookstore.Backlog
	err := storage.Each(ctx, s, s.sql.of(`SELECT business_id, number, event_id FROM partnerkit_outbox
			WHERE (shard, business_id) > ($1, $2) ORDER BY shard, business_id, number, event_id LIMIT $3`), []any{shard, business, backlogRows},
		func(scan func(...any) error) error {
			var row webhookstore.Backlog
			err := scan(&row.BusinessID, &row.Number, &row.EventID)
			if len(found) == 0 || found[len(found)-1].BusinessID != row.BusinessID {
				// Those without a number come first.
				found = append(found, webhookstore.Backlog{BusinessID: row.BusinessID})
				if row.Number == 0 {
					found[len(found)-1].EventID = row.EventID
				}
			}
			return err
		})
	return found, wrap("backlogs", err)
}

// Unplanned implements webhookstore.Store. Subscribers are read after the events: those
// that came later say so by their times, and those that end in between are dropped before
// the send.
func (s *Store) Unplanned(ctx context.Context, of []webhookstore.Backlog) (webhookstore.Unplanned, error) {
	u := webhookstore.Unplanned{ByApp: map[string][]webhookstore.Subscriber{}}
	isCut := len(of) > maxEvents
	of = of[:min(len(of), maxEvents)]
	u.Businesses = make([]webhookstore.Unsent, len(of))
	index := make(map[string]*webhookstore.Unsent, len(of))
	for i, b := range of {
		u.Businesses[i].BusinessID = b.BusinessID
		index[b.BusinessID] = &u.Businesses[i]
	}
	if err := s.readPending(ctx, of, index); err != nil {
		return u, wrap("unplanned events", err)
	}
	u.Businesses = slices.DeleteFunc(u.Businesses, func(b webhookstore.Unsent) bool { return len(b.Events) == 0 })
	read, err := s.readSubscribers(ctx, u.Businesses)
	if err != nil {
		return u, wrap("subscribers in businesses", err)
	}
	u.Businesses, u.HasMore = read, len(read) < len(u.Businesses) || isCut
	apps := map[string]bool{}
	for _, b := range u.Businesses {
		for _, e := range b.Events {
			if e.AppID != "" {
				apps[e.AppID] = true
			}
		}
	}
	err = eachIn(ctx, s, s.sql.of(`SELECT a.id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, NULL, NULL
			FROM partnerkit_app a JOIN partnerkit_webhook w ON w.app_id = a.id
			WHERE a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND w.app_id IN`),
		slices.Sorted(maps.Keys(apps)), s.eachSubscriber(ctx, func(app string, one webhookstore.Subscriber) { u.ByApp[app] = append(u.ByApp[app], one) }))
	for _, of := range u.ByApp {
		slices.SortFunc(of, func(a, b webhookstore.Subscriber) int { return strings.Compare(a.WebhookID, b.WebhookID) })
	}
	return u, wrap("subscribers of apps", err)
}

// readPending reads the next events of each business: those with numbers, in their order, and
// then the others, in the order of their ids.
func (s *Store) readPending(ctx context.Context, of []webhookstore.Backlog, index map[string]*webhookstore.Unsent) error {
	eventsOfEach := min(maxBusinessEvents, max(maxEvents/len(of), 1))
	var ids []string
	err := chunksOf(businessesAtOnce, of, func(part []webhookstore.Backlog) error {
		args := make([]any, 0, pendingArgs*len(part))
		names := make([]string, len(part))
		for i, b := range part {
			args = append(args, webhookstore.ShardOf(b.BusinessID, s.shards), b.BusinessID, b.Number, b.EventID, eventsOfEach)
			names[i] = b.BusinessID
		}
		// The counters are read first: a plan that is based on them is not saved if the events
		// have got their numbers since.
		err := eachIn(ctx, s, s.sql.of("SELECT business_id, last FROM partnerkit_event_counter WHERE business_id IN"), names, func(scan func(...any) error) error {
			var business string
			var last int64
			err := scan(&business, &last)
			index[business].Numbered = last
			return err
		})
		if err != nil {
			return err
		}
		return storage.Each(ctx, s, s.sql.many("", "", len(part), pendingText), args, func(scan func(...any) error) error {
			var which int
			var one webhookstore.Pending
			err := scan(&which, &one.Number, &one.ID, &one.Planned)
			b := index[part[which].BusinessID]
			b.Events = append(b.Events, one)
			ids = append(ids, one.ID)
			return err
		})
	})
	if err != nil {
		return err
	}
	found := make(map[string]partner.Event, len(ids))
	err = eachIn(ctx, s, s.sql.of("SELECT "+eventColumns+" FROM partnerkit_event e WHERE e.id IN"), ids, func(scan func(...any) error) error {
		var row eventRow
		err := scan(row.dest()...)
		found[row.event.ID] = row.value()
		return err
	})
	for _, b := range index {
		slices.SortFunc(b.Events, comparePending) // a union promises no order, even of ordered parts
		b.HasMore = len(b.Events) >= eventsOfEach
		b.Events = b.Events[:min(len(b.Events), eventsOfEach)]
		for i := range b.Events {
			one := &b.Events[i]
			if e, ok := found[one.ID]; ok {
				e.Number = one.Number
				one.Event = e
			}
		}
	}
	return err
}

// comparePending compares the places of two events: numbers come first, by size.
func comparePending(a, b webhookstore.Pending) int {
	isNew := func(p webhookstore.Pending) int {
		if p.Number == 0 {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(isNew(a), isNew(b)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID))
}

// pendingArgs is how many arguments pendingText has for each business.
const pendingArgs = 5

// pendingText selects two ranges of the outbox for each business by itself: PostgreSQL expects
// many rows of a join with ranges, and reads the whole table for it.
func pendingText(businesses int) string {
	var text strings.Builder
	for i := range businesses {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		at := pendingArgs * i
		fmt.Fprintf(&text, `SELECT %d AS which, number, event_id, webhook_id FROM (SELECT number, event_id, webhook_id FROM partnerkit_outbox
			WHERE shard = $%d AND business_id = $%d AND number > $%d ORDER BY number, event_id LIMIT CAST($%d AS BIGINT)) AS n%d
			UNION ALL SELECT %d, number, event_id, webhook_id FROM (SELECT number, event_id, webhook_id FROM partnerkit_outbox
			WHERE shard = $%d AND business_id = $%d AND number = 0 AND event_id >= $%d ORDER BY event_id LIMIT CAST($%d AS BIGINT)) AS u%d`,
			i, at+1, at+2, at+3, at+5, i, i, at+1, at+2, at+4, at+5, i)
	}
	return text.String()
}

// SQLite reads the tables of a CROSS JOIN in this order. For an inner join with more than
// two values it reads the whole table and looks each row up among the values.

// readSubscribers reads webhooks of apps that are installed in the businesses, in
// the order of their ids, until it has as many as one Unplanned may have. It returns the
// businesses whose webhooks it has read, of which the last may have more.
func (s *Store) readSubscribers(ctx context.Context, all []webhookstore.Unsent) ([]webhookstore.Unsent, error) {
	left := maxSubscribers
	for next := 0; next < len(all); {
		some := all[next : next+sizeOf(min(len(all)-next, subscribersOf))]
		args := make([]any, 0, 2*len(some)+1)
		index := make(map[string]*webhookstore.Unsent, len(some))
		for i, b := range some {
			args = append(args, b.BusinessID, b.Events[0].Planned)
			index[b.BusinessID] = &some[i]
		}
		args = append(args, left+1)
		read := 0
		var last *webhookstore.Unsent // the rows of a business come together
		var whole []webhookstore.Unsent
		err := storage.Each(ctx, s, s.sql.many("SELECT i.business_id, w.id, w.events, w.created_at, a.id, a.scopes, a.pinned_version, i.created_at, i.scopes FROM (",
			`) AS v CROSS JOIN partnerkit_installation i
				JOIN partnerkit_app a ON a.id = i.app_id JOIN partnerkit_webhook w ON w.app_id = a.id
				WHERE i.business_id = v.column1 AND i.status = 'ACTIVE' AND a.status <> 'DEACTIVATED' AND w.enabled = TRUE AND w.deleted_at IS NULL AND w.id > v.column2
				ORDER BY i.business_id, w.id LIMIT `+places(2*len(some), 1), len(some), table("TEXT", "TEXT")), args,
			s.eachSubscriber(ctx, func(business string, one webhookstore.Subscriber) {
				if b := index[business]; b != last {
					if last != nil {
						whole = append(whole, *last)
					}
					last = b
				}
				if read++; read <= left {
					last.Subscribers = append(last.Subscribers, one)
				}
			}))
		if err != nil {
			return nil, err
		}
		if read > left { // those that have not come yet may have some too
			if len(last.Subscribers) > 0 {
				last.HasMoreSubscribers = true
				whole = append(whole, *last)
			}
			return append(all[:next:next], whole...), nil
		}
		left -= read
		next += len(some)
	}
	return all, nil
}

// eachSubscriber reads rows whose first column is the business or app that they are for. A
// webhook with a list that cannot be read gets no events, and the log says so.
func (s *Store) eachSubscriber(ctx context.Context, add func(key string, one webhookstore.Subscriber)) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var (
			one                     webhookstore.Subscriber
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
		lists := []stored{{scopes, appScopes}}
		if ofInstallation.Valid {
			lists = append(lists, stored{ofInstallation.String, installation})
		}
		var unreadable error
		one.Events, unreadable = parseList(names)
		if err := cmp.Or(unreadable, decoded(lists...)); err != nil {
			s.log.ErrorContext(ctx, "storage: a webhook gets no events, since a list of it, its app or its installation cannot be read", "webhook", one.WebhookID, "app", one.AppID, "err", err)
			one.Events = nil
		}
		one.CreatedAt, one.InstalledAt = fromMS(created), fromNullMS(installed)
		add(key, one)
		return nil
	}
}

// SavePlan implements webhookstore.Store. The shards are held until the commit, so that
// nobody else plans their businesses; the counters tell whether NumberEvents came in between.
func (s *Store) SavePlan(ctx context.Context, p webhookstore.Plan) (bool, error) {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		held, err := tx.heldShards(ctx, webhookstore.PlanShard, p.Node)
		if err != nil {
			return err
		}
		feed := -1
		for _, step := range p.Steps {
			shard := webhookstore.ShardOf(step.BusinessID, s.shards)
			if epoch, ok := held[shard]; !ok || epoch != p.Shards[shard] {
				return errStop
			}
			if feed < 0 || shard < feed {
				feed = shard
			}
		}
		numbers, err := tx.saveSteps(ctx, p.Steps)
		if err != nil {
			return err
		}
		if len(p.Deliveries) == 0 {
			return nil
		}
		for i := range p.Deliveries {
			p.Deliveries[i].Sequence = numbers[p.Deliveries[i].EventID]
		}
		return tx.queue(ctx, p.Deliveries, webhookstore.ShardID{Kind: webhookstore.PlanShard, Number: feed})
	})
	if errors.Is(err, errStop) {
		return false, nil
	}
	return err == nil, wrap("save plan", err)
}

// saveSteps gives numbers to the events of the steps that have none, takes those out of the
// outbox that are planned, and returns the numbers of all. The counters come before the
// outbox, as in NumberEvents.
func (t *tx) saveSteps(ctx context.Context, steps []webhookstore.PlanStep) (map[string]int64, error) {
	counts := make(map[string]int64, len(steps))
	for _, step := range steps {
		counts[step.BusinessID] = 0
		for _, e := range step.Events {
			if e.Number == 0 {
				counts[step.BusinessID]++
			}
		}
	}
	last, err := t.count(ctx, counts)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int64{}
	var outbox, left, rows [][]any
	for _, step := range steps {
		if last[step.BusinessID]-counts[step.BusinessID] != step.Numbered {
			return nil, errStop
		}
		next, shard := step.Numbered, webhookstore.ShardOf(step.BusinessID, t.shards)
		for i, e := range step.Events {
			numbers[e.ID] = e.Number
			if e.Number == 0 {
				next++
				numbers[e.ID] = next
				if e.Type != "" { // it was not purged
					rows = append(rows, []any{e.ID, step.BusinessID, e.AppID, e.Type, next})
				}
			}
			outbox = append(outbox, []any{shard, step.BusinessID, e.Number, e.ID})
			if i == len(step.Events)-1 && step.Webhook != "" {
				left = append(left, []any{shard, step.BusinessID, numbers[e.ID], e.ID, step.Webhook})
			}
		}
	}
	if err := t.leaveOutbox(ctx, outbox); err != nil {
		return nil, err
	}
	if err := t.insertMany(ctx, "INSERT INTO partnerkit_outbox (shard, business_id, number, event_id, webhook_id) VALUES", left); err != nil {
		return nil, err
	}
	return numbers, t.insertMany(ctx, insertNumbers, rows)
}

// leaveOutbox deletes rows of the outbox, those of one business after each other in the order of
// their events. A statement is for one business and a range of its events, which tells a
// database where they are: PostgreSQL may read all rows of the business for a list, and the
// whole table for a list of keys.
func (t *tx) leaveOutbox(ctx context.Context, rows [][]any) error {
	for len(rows) > 0 {
		n := 1
		for n < min(len(rows), maxMany) && rows[n][1] == rows[0][1] && rows[n][2] == rows[0][2] {
			n++
		}
		args := append(make([]any, 0, 5+n), rows[0][:3]...)
		args = append(args, rows[0][3], rows[n-1][3])
		for _, row := range padded(rows[:n]) {
			args = append(args, row[3])
		}
		err := storage.Later(ctx, t.on, t.sql.many(`DELETE FROM partnerkit_outbox WHERE shard = $1 AND business_id = $2 AND number = $3
			AND event_id >= $4 AND event_id <= $5 AND event_id IN (`, ")", len(args)-5, func(n int) string { return places(5, n) }), args...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

const insertQueued = "INSERT INTO partnerkit_delivery_queue (shard, webhook_id, due_at, delivery_id) VALUES"

// queue adds deliveries that are due at once, and tells the dispatchers through the feed of a
// shard.
func (t *tx) queue(ctx context.Context, all []partner.Delivery, feed webhookstore.ShardID) error {
	rows := make([][]any, len(all))
	for i, d := range all {
		rows[i] = deliveryValues(d)
	}
	if err := t.insertMany(ctx, `INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body,
		attempts, next_attempt_at, round, sequence, created_at) VALUES`, rows); err != nil {
		return err
	}
	return t.enqueue(ctx, all, feed)
}

// enqueue is queue for deliveries that are there.
func (t *tx) enqueue(ctx context.Context, all []partner.Delivery, feed webhookstore.ShardID) error {
	rows := make([][]any, len(all))
	for i, d := range all {
		rows[i] = t.queueValues(d)
	}
	if err := t.insertMany(ctx, insertQueued, rows); err != nil {
		return err
	}
	return t.tell(ctx, all, feed)
}

func deliveryValues(d partner.Delivery) []any {
	return []any{
		d.ID, d.WebhookID, d.AppID, nullText(d.EventID), d.EventType, d.BusinessID, d.Body,
		d.Attempts, nullMS(d.NextAttemptAt), d.Round, nullInt(int(d.Sequence)), ms(d.CreatedAt),
	}
}

// queueValues returns the place of a delivery that is due at its next attempt.
func (t *tx) queueValues(d partner.Delivery) []any {
	return []any{webhookstore.ShardOf(d.WebhookID, t.shards), d.WebhookID, ms(d.NextAttemptAt), d.ID}
}
