package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
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
				m.fail("nobody cares for %s", id)
			}
		}
		m.each("SELECT id FROM partnerkit_event WHERE planned = FALSE", nil, func(scan func(...any) error) {
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
	return slices.IndexFunc(m.world.hooks[:], func(h modelHook) bool { return h.id == webhook })
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
		m.fail("there is a delivery %s that nobody knows of: %+v", id, row)
	}
	m.worlds, m.offsets = m.worlds[len(m.worlds)-1:], m.offsets[len(m.offsets)-1:]
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
	m.each(`SELECT id, webhook_id, event_id, body, created_at, status, attempts, response_code, last_error, next_attempt_at FROM partnerkit_delivery`, nil,
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
	})
	waiting := map[string]int64{}
	m.each("SELECT delivery_id, due_at, webhook_id, shard FROM partnerkit_delivery_queue", nil, func(scan func(...any) error) {
		var id, webhook string
		var due int64
		var shard int
		m.must(scan(&id, &due, &webhook, &shard))
		if r := rows[id]; r == nil || waiting[id] != 0 || r.webhook != webhook || r.state.due != due || !r.state.isWaiting() || shard != webhooks.ShardOf(webhook) {
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

// plan is DLV-04: the deliveries of new events are those that CAT-02 asks for.
func (m *model) plan(rows map[string]*row) {
	type key struct{ event, webhook string }
	made := map[key]string{}
	for id, r := range rows {
		if other := made[key{r.event, r.webhook}]; other != "" && r.event != "" {
			m.fail("event %s is delivered twice to %s: %s and %s", r.event, r.webhook, id, other)
		}
		made[key{r.event, r.webhook}] = id
	}
	for _, e := range m.pending {
		for i := range m.world.hooks {
			may, mayNot := false, false
			for _, w := range m.worlds {
				if w.number >= e.from {
					yes, no := w.hears(i, e)
					may, mayNot = may || yes, mayNot || no
				}
			}
			id := made[key{e.id, m.world.hooks[i].id}]
			switch {
			case id == "" && !mayNot:
				m.fail("webhook %d does not hear of event %s, %s", i, e.id, modelKinds[e.kind].name)
			case id != "" && !may:
				m.fail("webhook %d hears of event %s, %s", i, e.id, modelKinds[e.kind].name)
			case id != "":
				r := rows[id]
				d := &modelDelivery{id: id, event: e, hook: i, body: r.body, created: r.created, may: []modelState{queuedState(r.created, "")}}
				if _, now := m.now(); d.created < e.at || d.created > now {
					m.fail("%s was created at %s", id, showMS(d.created))
				}
				m.checkBody(d)
				m.add(d)
			}
		}
	}
	m.pending = nil
}

func (m *model) add(d *modelDelivery) {
	m.deliveries = append(m.deliveries, d)
	m.byID[d.id] = d
	event := "a test"
	if d.event != nil {
		event = d.event.id + " " + modelKinds[d.event.kind].name + " of " + business(d.event.business)
	}
	m.note("%s is for webhook %d, of %s", d.id, d.hook, event)
}

// checkBody is WH-02: the members of a body.
func (m *model) checkBody(d *modelDelivery) {
	var got map[string]any
	if err := json.Unmarshal([]byte(d.body), &got); err != nil {
		m.fail("body of %s: %v", d.id, err)
	}
	h := m.world.hooks[d.hook]
	want := map[string]any{"id": d.id, "apiVersion": got["apiVersion"]}
	if d.event == nil {
		want["eventId"], want["type"], want["businessId"], want["created"] = nil, modelKinds[h.kinds[0]].name, "test", float64(d.created/1000)
		want["data"] = got["data"] // a sample
		if got["data"].(map[string]any)["test"] != true {
			m.fail("a test does not say so: %s", d.body)
		}
	} else {
		var data any
		m.must(json.Unmarshal([]byte(d.event.data), &data))
		want["eventId"], want["type"], want["businessId"], want["created"] = d.event.id, modelKinds[d.event.kind].name, business(d.event.business), float64(d.event.at/1000)
		want["data"] = data
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.fail("body of %s (-want +got):\n%s", d.id, diff)
	}
	if !slices.ContainsFunc(m.worlds, func(w numberedWorld) bool {
		version := w.apps[h.app].version
		return got["apiVersion"] == version || version == "" && got["apiVersion"] == modelVersion
	}) {
		m.fail("apiVersion of %s is %v", d.id, got["apiVersion"])
	}
}

// arrived looks at a request, and at what it makes of its delivery.
func (m *model) arrived(p arrival) {
	id := p.header.Get("X-Webhook-Id")
	d := m.byID[id]
	if d == nil {
		m.fail("something arrived that nobody knows of: %v %s", p.header, p.body)
	}
	if m.note("%s arrived from process %d at %s: %s", id, p.process, showMS(p.clock), manners[p.manner].name); d.isGone {
		m.fail("%s arrived, and was deleted before", id)
	}
	m.checkHeader(d, p)
	var after []modelState
	for _, s := range d.may {
		after = append(after, m.posted(d, s, p)...)
	}
	if len(after) == 0 {
		why := ""
		for _, w := range m.worlds {
			why += fmt.Sprintf("%q ", w.closed(d))
		}
		m.fail("%s arrived at %s and should not have: it was %v; gates %s", id, showMS(p.clock), d.may, why)
	}
	d.may, d.posts = after, d.posts+1
}

// checkHeader is WH-02, WH-03, SIG-01, SIG-02: the request around a body, and that
// the body is always the same.
func (m *model) checkHeader(d *modelDelivery, p arrival) {
	kind, event := "", []string(nil)
	if d.event == nil {
		kind = modelKinds[m.world.hooks[d.hook].kinds[0]].name
	} else {
		kind, event = modelKinds[d.event.kind].name, []string{d.event.id}
	}
	got := map[string][]string{"method": {p.method}, "url": {p.url}, "body": {p.body}}
	for _, name := range []string{"Content-Type", "X-Webhook-Id", "X-Webhook-Event", "X-Webhook-Event-Id"} {
		got[name] = p.header.Values(name)
	}
	want := map[string][]string{
		"method": {"POST"}, "url": {"http://" + address(d.hook) + "/hook?a=b"}, "body": {d.body},
		"Content-Type": {"application/json"}, "X-Webhook-Id": {d.id}, "X-Webhook-Event": {kind}, "X-Webhook-Event-Id": event,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.fail("a request for %s (-want +got):\n%s", d.id, diff)
	}
	var valid []string
	for _, w := range m.worlds {
		for _, at := range m.startsOf(p) {
			valid = append(valid, sign(at, d.body, w.hooks[d.hook].signs(at)))
		}
	}
	if signed := p.header.Values("X-Webhook-Signature"); len(signed) != 1 || !slices.Contains(valid, signed[0]) {
		m.fail("%s arrived at %s with the signature %q, want one of %q", d.id, showMS(p.clock), signed, valid)
	}
}

func sign(at int64, body string, secrets []string) string {
	header := fmt.Sprintf("t=%d", at/1000)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at/1000, body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header
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
	case r.body != d.body || r.created != d.created || r.webhook != m.world.hooks[d.hook].id || d.event != nil && r.event != d.event.id || d.event == nil && r.event != "":
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
