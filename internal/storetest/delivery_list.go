package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// deliveryListCases are lists of deliveries with filters, and what is done with many
// deliveries at once.
var deliveryListCases = []testCase[partnerkit.Store]{
	// DLV-09: every filter, every pair of filters, in pages of every size, against a filter
	// of our own.
	{"DLV-09 filters", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		newWebhook(t, e).mixed(t, 3)
		all := f.mixed(t, 24)
		for name, q := range filters(all) {
			want := matching(q, all)
			for _, limit := range []int{1, 3, 100} {
				q.Limit = limit
				got, pages := f.paged(t, q)
				if diff := cmp.Diff(deliveryIDs(want), deliveryIDs(got)); diff != "" {
					t.Errorf("%s in pages of %d (-want +got)\n%s", name, limit, diff)
				}
				if most := len(want)/limit + 1; pages > most {
					t.Errorf("%s in pages of %d: %d pages for %d deliveries", name, limit, pages, len(want))
				}
			}
			q.Statuses, q.Limit = nil, 1
			q.CountUpTo = 5
			page := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), q))
			if diff := cmp.Diff(counted(matching(q, all), 5), page.Counts); diff != "" {
				t.Errorf("%s: counts (-want +got)\n%s", name, diff)
			}
		}
	}},
	// DLV-09: what a page leaves out is on the next one, also beyond what is read for one.
	{"DLV-09 a page of several filters is bounded, and nothing is lost", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		rare := f.planned(t, noon, func(d *partner.Delivery) { d.EventType = "invoice.created" })
		for i := range 11 {
			at := noon.Add(time.Duration(i+1) * time.Minute)
			f.plannedMany(t, at, 100)
		}
		q := f.listed(10)
		q.BusinessID, q.EventType = f.business, "invoice.created"
		q.CountUpTo = 5
		first := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), q))
		if len(first.Deliveries) != 0 || first.Next == "" || first.Counts.Queued != 1 {
			t.Errorf("the first page has %v, next %q, counts %+v", deliveryIDs(first.Deliveries), first.Next, first.Counts)
		}
		q.CountUpTo = 0
		if got, _ := f.paged(t, q); !slices.Equal(deliveryIDs(got), []string{rare.ID}) {
			t.Errorf("listed %v, want %s", deliveryIDs(got), rare.ID)
		}
		q.BusinessID = ""
		if got, _ := f.paged(t, q); !slices.Equal(deliveryIDs(got), []string{rare.ID}) {
			t.Errorf("of the type: %v, want %s", deliveryIDs(got), rare.ID)
		}
		q.EventType, q.Statuses = "", []partner.DeliveryStatus{partner.DeliveryQueued}
		if got, _ := f.paged(t, q); len(got) != 1101 {
			t.Errorf("%d of 1101 queued ones", len(got))
		}
	}},
	// DLV-09: also below more newer deliveries than are read, but for those that arrived.
	{"DLV-09 old deliveries of rare statuses are counted", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		f.mixed(t, 8) // of each event one of each status
		for i := range 11 {
			f.plannedMany(t, noon.Add(time.Duration(i+1)*time.Minute), 100)
		}
		q := f.listed(1)
		q.Now, q.CountUpTo = noon.Add(time.Hour), partner.ScannedDeliveries
		for event, want := range map[string]partner.DeliveryCounts{
			"invoice.paid":    {Queued: partner.ScannedDeliveries, Retrying: 1, Failed: 1},
			"invoice.created": {Queued: 1, Retrying: 1, Failed: 1},
		} {
			q.EventType = event
			if got := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), q)).Counts; got != want {
				t.Errorf("%s: counts %+v, want %+v", event, got, want)
			}
		}
	}},
	// DLV-09.
	{"DLV-09 bodies come on request", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		bodies := map[string]string{}
		for i := range 8 {
			body := fmt.Sprintf(`{"number": %d}`, i)
			d := f.planned(t, noon.Add(time.Duration(i)*time.Second), func(d *partner.Delivery) { d.Body = []byte(body) })
			bodies[d.ID] = body
		}
		q := f.listed(5)
		for _, q.WithBodies = range []bool{false, true} {
			page := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), q))
			if len(page.Deliveries) != 5 {
				t.Errorf("%d deliveries, want 5", len(page.Deliveries))
			}
			for _, got := range page.Deliveries {
				want := []byte(bodies[got.ID])
				if !q.WithBodies {
					want = nil
				}
				if !slices.Equal(got.Body, want) {
					t.Errorf("WithBodies %t: the body of %s is %q, want %q", q.WithBodies, got.ID, got.Body, want)
				}
			}
		}
	}},
	// RDL-04: several at once, each checked for itself.
	{"RDL-04 redelivers many", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		failed, retrying, skipped := f.failed(t, noon), f.waiting(t, noon), f.failed(t, noon)
		r := f.again(failed, noon.Add(time.Hour))
		r.DeliveryIDs = []string{failed.ID, "dlv_absent", retrying.ID, skipped.ID}
		r.Check = func(d partner.Delivery, _ webhookstore.Standing) error {
			if d.ID != failed.ID {
				return webhookstore.ErrSkip
			}
			return nil
		}
		queued := get[[]partner.Delivery](t)(e.Redeliver(t.Context(), r))
		if !slices.Equal(deliveryIDs(queued), []string{failed.ID}) {
			t.Fatalf("queued %v", deliveryIDs(queued))
		}
		want := failed
		want.Status, want.Attempts, want.ResponseCode, want.LastError, want.NextAttemptAt, want.Round = partner.DeliveryQueued, 0, 0, "", r.Now, 1
		f.wantQueued(t, want, queued[0])
		if got, _, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, skipped.ID); err != nil || got.Status != partner.DeliveryFailed {
			t.Errorf("the one that was left out is %v, %v", got.Status, err)
		}
	}},
	// RDL-04: of 32 at once each delivery is queued by one.
	{"RDL-04 race to redeliver many", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		var ids []string
		for range 20 {
			ids = append(ids, f.failed(t, noon).ID)
		}
		var queued atomic.Int64
		testdb.Race(32, func(i int) {
			r := f.again(partner.Delivery{}, noon.Add(time.Duration(i)*time.Second))
			r.DeliveryIDs = ids[i%10 : i%10+10]
			check := r.Check
			r.Check = func(d partner.Delivery, s webhookstore.Standing) error {
				if check(d, s) != nil {
					return webhookstore.ErrSkip
				}
				return nil
			}
			got, err := e.Redeliver(t.Context(), r)
			if err != nil {
				t.Error(err)
			}
			queued.Add(int64(len(got)))
		})
		if n := len(f.inQueue(t)); queued.Load() != 19 || n != 19 { // 0 to 18
			t.Errorf("%d were queued, %d are in the queue", queued.Load(), n)
		}
	}},
	// RDL-05.
	{"RDL-05 moves the next attempt", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		d := f.waiting(t, noon)
		r := f.again(d, noon.Add(10*time.Second))
		r.From, r.Check = partner.DeliveryRetrying, func(d partner.Delivery, _ webhookstore.Standing) error {
			if d.Status != partner.DeliveryRetrying {
				return errGate
			}
			return nil
		}
		want := d
		want.NextAttemptAt = r.Now
		f.wantQueued(t, want, get[[]partner.Delivery](t)(e.Redeliver(t.Context(), r))[0])

		// One that is due in a moment may be under way, and stays where it is.
		soon := f.waiting(t, noon)
		again := r
		again.DeliveryIDs, again.Now = []string{soon.ID}, soon.NextAttemptAt.Add(-time.Second)
		f.wantQueued(t, soon, get[[]partner.Delivery](t)(e.Redeliver(t.Context(), again))[0])
		again.DeliveryIDs = []string{f.failed(t, noon).ID}
		if _, err := e.Redeliver(t.Context(), again); !isRefused(err) {
			t.Errorf("a failed one: %v", err)
		}
	}},
}

// planned stores a queued delivery.
func (f *webhookFixture) planned(t *testing.T, at time.Time, change func(*partner.Delivery)) partner.Delivery {
	t.Helper()
	d := partner.Delivery{
		ID: id.New(id.Delivery, at), WebhookID: f.webhook.ID, AppID: f.app.ID, EventID: id.New(id.Event, at), EventType: "invoice.paid", BusinessID: f.business,
		Body: []byte("{}"), Status: partner.DeliveryQueued, NextAttemptAt: at, Sequence: 7, CreatedAt: at,
	}
	change(&d)
	f.queue(t, d)
	d.Body = nil
	return d
}

func (f *webhookFixture) plannedMany(t *testing.T, at time.Time, n int) {
	t.Helper()
	for range n {
		f.planned(t, at, func(*partner.Delivery) {})
	}
}

// mixed stores deliveries of every status, of three businesses and two events, and returns
// them newest first.
func (f *webhookFixture) mixed(t *testing.T, n int) []partner.Delivery {
	t.Helper()
	statuses := []partner.DeliveryStatus{partner.DeliveryQueued, partner.DeliveryRetrying, partner.DeliveryDelivered, partner.DeliveryFailed}
	var all []partner.Delivery
	for i := range n {
		at := noon.Add(time.Duration(i) * time.Second)
		d := f.planned(t, at, func(d *partner.Delivery) {
			d.BusinessID, d.EventType = fmt.Sprintf("%s_%d", f.business, i%3), []string{"invoice.paid", "invoice.created"}[i/4%2]
		})
		after := d
		after.Status, after.Attempts, after.NextAttemptAt = statuses[i%4], 1, time.Time{}
		attempt := &partner.Attempt{Number: 1, StartedAt: at, ResponseCode: 500, Error: "answered 500"}
		switch after.Status {
		case partner.DeliveryQueued:
			all = append(all, d)
			continue
		case partner.DeliveryRetrying:
			after.NextAttemptAt = at.Add(time.Hour)
		case partner.DeliveryDelivered:
			attempt.ResponseCode, attempt.Error = 200, ""
			if i%8 == 2 { // after a retry
				tried := d
				tried.Status, tried.Attempts, tried.NextAttemptAt = partner.DeliveryRetrying, 1, at.Add(time.Millisecond)
				f.finish(t, d, tried, &partner.Attempt{Number: 1, StartedAt: at, ResponseCode: 500})
				d, attempt.Number, after.Attempts = tried, 2, 2
			}
		}
		after.ResponseCode, after.LastError = attempt.ResponseCode, attempt.Error
		f.finish(t, d, after, attempt)
		all = append(all, after)
	}
	slices.Reverse(all)
	return all
}

// filters are queries for some of the deliveries that mixed has made.
func filters(all []partner.Delivery) map[string]partner.DeliveryQuery {
	one := all[len(all)/2]
	single := map[string]func(*partner.DeliveryQuery){
		"business":  func(q *partner.DeliveryQuery) { q.BusinessID = one.BusinessID },
		"event":     func(q *partner.DeliveryQuery) { q.EventType = one.EventType },
		"event id":  func(q *partner.DeliveryQuery) { q.EventID = one.EventID },
		"queued":    func(q *partner.DeliveryQuery) { q.Statuses = []partner.DeliveryStatus{partner.DeliveryQueued} },
		"retrying":  func(q *partner.DeliveryQuery) { q.Statuses = []partner.DeliveryStatus{partner.DeliveryRetrying} },
		"delivered": func(q *partner.DeliveryQuery) { q.Statuses = []partner.DeliveryStatus{partner.DeliveryDelivered} },
		"failed":    func(q *partner.DeliveryQuery) { q.Statuses = []partner.DeliveryStatus{partner.DeliveryFailed} },
		"two statuses": func(q *partner.DeliveryQuery) {
			q.Statuses = []partner.DeliveryStatus{partner.DeliveryDelivered, partner.DeliveryQueued}
		},
		"since": func(q *partner.DeliveryQuery) { q.Since = one.CreatedAt },
		"until": func(q *partner.DeliveryQuery) { q.Until = one.CreatedAt },
		"between": func(q *partner.DeliveryQuery) {
			q.Since, q.Until = one.CreatedAt.Add(-3*time.Second-time.Microsecond), one.CreatedAt.Add(3*time.Second+time.Microsecond)
		},
		"nothing": func(*partner.DeliveryQuery) {},
	}
	queries := map[string]partner.DeliveryQuery{}
	for a, first := range single {
		for b, second := range single {
			q := partner.DeliveryQuery{AppID: one.AppID, WebhookID: one.WebhookID, Now: noon.Add(time.Minute)}
			first(&q)
			second(&q)
			queries[a+", "+b] = q
		}
	}
	return queries
}

func matching(q partner.DeliveryQuery, all []partner.Delivery) []partner.Delivery {
	return slices.DeleteFunc(slices.Clone(all), func(d partner.Delivery) bool {
		return len(q.Statuses) > 0 && !slices.Contains(q.Statuses, d.Status) || q.EventType != "" && q.EventType != d.EventType ||
			q.BusinessID != "" && q.BusinessID != d.BusinessID || q.EventID != "" && q.EventID != d.EventID ||
			!q.Since.IsZero() && d.CreatedAt.Before(q.Since) || !q.Until.IsZero() && !d.CreatedAt.Before(q.Until)
	})
}

func counted(all []partner.Delivery, most int) partner.DeliveryCounts {
	n := map[partner.DeliveryStatus]int{}
	for _, d := range all {
		n[d.Status] = min(n[d.Status]+1, most)
	}
	return partner.DeliveryCounts{Queued: n[partner.DeliveryQueued], Retrying: n[partner.DeliveryRetrying], Delivered: n[partner.DeliveryDelivered], Failed: n[partner.DeliveryFailed]}
}

func deliveryIDs(all []partner.Delivery) []string {
	ids := make([]string, len(all))
	for i, d := range all {
		ids[i] = d.ID
	}
	return ids
}

// paged lists all pages of a query, and returns how many there were.
func (f *webhookFixture) paged(t *testing.T, q partner.DeliveryQuery) (all []partner.Delivery, pages int) {
	t.Helper()
	for {
		page := get[partner.DeliveryPage](t)(f.Deliveries(t.Context(), q))
		all, pages, q.After = append(all, page.Deliveries...), pages+1, page.Next
		if len(page.Deliveries) > q.Limit {
			t.Fatalf("a page of %d", len(page.Deliveries))
		}
		if page.Next == "" || pages > 5000 {
			return all, pages
		}
	}
}
