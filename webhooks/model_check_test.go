package webhooks_test

import (
	"context"
	"database/sql"
	"slices"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// settle lets the sender do all that is due, and holds what came of it against the
// rules.
func (m *model) settle() {
	for {
		m.revive()
		due, ok := m.rest()
		if !ok {
			continue // it was killed
		}
		ctx, cancel := context.WithTimeout(m.t.Context(), time.Second)
		err := m.process.svc.Settle(ctx)
		cancel()
		synctest.Wait()
		if m.process.isKilled() {
			continue
		}
		if err != nil {
			m.fail("everything is done, and Settle does not see it: %v", err)
		}
		m.check(due)
		return
	}
}

// quiescence is how long something may be due whose endpoint is free. Dispatchers look
// every second, and hand work over to each other within some.
const quiescence = 10 * time.Second

// rest waits until all that is due is being sent or was, and returns when that was.
// It reports false when the process was killed.
func (m *model) rest() (due int64, ok bool) {
	idle := map[string]time.Time{} // since when
	for {
		synctest.Wait()
		if m.process.isKilled() {
			return 0, false
		}
		_, due = m.now()
		still, isDone := map[string]time.Time{}, true
		waits := func(id string) {
			isDone = false
			if still[id] = idle[id]; still[id].IsZero() {
				still[id] = time.Now()
			}
			if time.Since(still[id]) > quiescence {
				m.fail("no dispatcher is responsible for %s", id)
			}
		}
		m.each("SELECT event_id FROM partnerkit_outbox", nil, func(scan func(...any) error) {
			var id string
			m.must(scan(&id))
			waits(id)
		})
		m.each("SELECT delivery_id, webhook_id FROM partnerkit_delivery_queue WHERE due_at <= $1", []any{due}, func(scan func(...any) error) {
			var id, webhook string
			m.must(scan(&id, &webhook))
			switch {
			case m.receivers.isServing(id):
			case m.receivers.isServing(address(m.hookOf(webhook))):
				isDone = false
			default:
				waits(id)
			}
		})
		if isDone {
			return due, true
		}
		idle = still
		time.Sleep(time.Second)
	}
}

func (m *model) hookOf(webhook string) int {
	return slices.IndexFunc(m.settings.hooks[:], func(h modelHook) bool { return h.id == webhook })
}

func (m *model) each(query string, args []any, row func(scan func(...any) error)) {
	m.must(storage.Each(m.t.Context(), m.Tap.DB, query, args, func(scan func(...any) error) error {
		row(scan)
		return nil
	}))
}

// check looks at everything: what is there, what has arrived, and what became of
// what was due at a time.
func (m *model) check(due int64) {
	if m.process.problems.Len() > 0 {
		m.fail("the service complains: %s", m.process.problems.String())
	}
	rows := m.rows()
	if due > 0 {
		m.plan(rows)
	}
	for _, p := range m.receivers.take() {
		m.arrived(p)
	}
	for _, d := range m.deliveries {
		if !d.isGone {
			m.compare(d, rows[d.id], due)
		}
		delete(rows, d.id)
	}
	for id, row := range rows {
		m.fail("unknown delivery %s: %+v", id, row)
	}
	m.seen, m.offsets = m.seen[len(m.seen)-1:], m.offsets[len(m.offsets)-1:]
	m.isQuiet = true
}

// row is a delivery as the database has it.
type row struct {
	webhook, event, body string
	created              int64
	state                modelState
}

// rows reads the tables: each delivery, its attempts, and its place in the queue,
// which it has while it waits and at no other time.
func (m *model) rows() map[string]*row {
	rows := map[string]*row{}
	m.each(`SELECT id, webhook_id, event_id, body, created_at, COALESCE(status, 'queued'), attempts, response_code, last_error, next_attempt_at FROM partnerkit_delivery`, nil,
		func(scan func(...any) error) {
			var (
				r                row
				id               string
				event, lastError sql.NullString
				code, next       sql.NullInt64
			)
			m.must(scan(&id, &r.webhook, &event, &r.body, &r.created, &r.state.status, &r.state.attempts, &code, &lastError, &next))
			r.event, r.state.lastError, r.state.code, r.state.due = event.String, lastError.String, int(code.Int64), next.Int64
			rows[id] = &r
		})
	m.each("SELECT delivery_id, started_at, number, COALESCE(response_code, 0) FROM partnerkit_attempt", nil, func(scan func(...any) error) {
		var id string
		var started int64
		var number, code int
		m.must(scan(&id, &started, &number, &code))
		if rows[id] == nil {
			m.fail("an attempt of %s, which is gone", id)
		}
		if number > webhooks.MaxAttempts {
			m.fail("attempt %d of %s", number, id)
		}
		rows[id].state.log = withEntry(rows[id].state.log, logEntry(started, number, code))
		if code >= 200 && code <= 299 { // the attempt takes precedence over the row
			s := &rows[id].state
			s.status, s.attempts, s.code, s.lastError, s.due = "delivered", number, code, "", 0
		}
	})
	waiting := map[string]int64{}
	m.each("SELECT delivery_id, due_at, webhook_id, shard FROM partnerkit_delivery_queue", nil, func(scan func(...any) error) {
		var id, webhook string
		var due int64
		var shard int
		m.must(scan(&id, &due, &webhook, &shard))
		if r := rows[id]; r == nil || waiting[id] != 0 || r.webhook != webhook || r.state.due != due || !r.state.isWaiting() || shard != webhookstore.ShardOf(webhook, webhookstore.DefaultShards) {
			m.fail("%s is in the queue of %s at %s, and is %+v", id, webhook, showMS(due), rows[id])
		}
		waiting[id] = due
	})
	for id, r := range rows {
		if r.state.isWaiting() && waiting[id] == 0 {
			m.fail("%s is not in the queue: %v", id, r.state)
		}
	}
	return rows
}

// compare holds a delivery against what it may be.
func (m *model) compare(d *modelDelivery, r *row, due int64) {
	_, now := m.now()
	age, most := now-d.created, webhooks.Retention.Milliseconds()
	switch {
	case r == nil && age <= most:
		m.fail("%s is lost; it was %v", d.id, d.may)
	case r == nil:
		d.isGone, d.may = true, []modelState{{status: "gone"}}
		return
	case age > most+time.Hour.Milliseconds() && !m.isDown || d.created < m.cleaned-most:
		m.fail("%s is kept for %v", d.id, time.Duration(age)*time.Millisecond)
	case r.body != d.body || r.created != d.created || r.webhook != m.settings.hooks[d.hook].id || d.event != nil && r.event != d.event.id || d.event == nil && r.event != "":
		m.fail("%s has changed: %+v", d.id, r)
	}
	var all, is []modelState
	for _, s := range d.may {
		all = append(all, m.settled(d, s, due)...)
	}
	for _, s := range all {
		shown := s
		shown.flight = modelFlight{}
		if shown == r.state && !slices.Contains(is, s) {
			is = append(is, s)
		}
	}
	if len(is) == 0 {
		m.fail("%s for webhook %d is %v,\nand was %v,\nso it may be %v", d.id, d.hook, r.state, d.may, all)
	}
	d.may = is
}
