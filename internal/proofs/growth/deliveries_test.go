package growth_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	// small is the size that single filters are compared with, and middle the one for
	// several: from there on a page of several filters reads all that it may read,
	// partner.ScannedDeliveries of a tenth.
	small, middle = 1_000, 24_000
	// most is how much more a page may cost at the large size than at the small one.
	most = 1.6
	// rare is how many deliveries a rare value has. They are the oldest.
	rare = 30
	// turns is how often a page is read at each size before its cost is known.
	turns = 40
	// patience bounds the turns that are added while a page costs too much.
	patience = 4 * time.Second
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// hook is a webhook with many deliveries, one second apart.
type hook struct {
	*testdb.Env
	appID, webhookID string
	size             int
	eventID          string // of one of its deliveries
}

func newHook(t *testing.T, open testdb.Opener, size int) *hook {
	t.Helper()
	h := &hook{Env: testdb.NewEnv(t, open), size: size}
	app := fixture.App(noon, identity.MustScopes("invoices:read"))
	must(t, fixture.AddApp(t.Context(), h, app))
	w := partner.Webhook{
		ID: id.New(id.Webhook, noon), AppID: app.ID, URL: "https://app.example/hooks", Events: []string{"invoice.paid"}, Enabled: true,
		CreatedAt: noon, UpdatedAt: noon, Secrets: partner.Secrets{Secret: []byte("s")},
	}
	must(t, h.CreateWebhook(t.Context(), w, 1))
	h.appID, h.webhookID = app.ID, w.ID
	h.fill(t)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill adds the deliveries, in batches.
func (h *hook) fill(t *testing.T) {
	t.Helper()
	const batch, columns = 500, 9
	for first := 0; first < h.size; first += batch {
		var rows []string
		var args []any
		for i := first; i < min(first+batch, h.size); i++ {
			at := h.at(i)
			places := make([]string, columns)
			for c := range places {
				places[c] = fmt.Sprint("$", len(args)+c+1)
			}
			rows = append(rows, "("+strings.Join(places, ", ")+", 1)")
			status, kind, business := h.values(i)
			event := id.New(id.Event, at)
			args = append(args, id.New(id.Delivery, at), h.webhookID, h.appID, event, kind, business, []byte(`{"id":"evt_1"}`), status, at.UnixMilli())
			if i == h.size/2 {
				h.eventID = event
			}
		}
		_, err := h.Tap.Exec(t.Context(), h.Qualified(`INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, created_at, attempts)
			VALUES `)+strings.Join(rows, ", "), args...)
		must(t, err)
	}
	_, err := h.Tap.Exec(t.Context(), h.Qualified("ANALYZE partnerkit_delivery"))
	must(t, err)
}

func (h *hook) at(i int) time.Time { return noon.Add(time.Duration(i) * time.Second) }

// values returns the status, kind and business of delivery i. Each has a common value, a
// value that a tenth of the deliveries have, and a rare value.
func (h *hook) values(i int) (status partner.DeliveryStatus, kind, business string) {
	status, kind, business = partner.DeliveryDelivered, "invoice.paid", "biz_common"
	if i%10 == 0 {
		status, kind, business = partner.DeliveryRetrying, "invoice.created", "biz_tenth"
	}
	if i < rare {
		status, kind, business = partner.DeliveryFailed, "invoice.voided", "biz_rare"
	}
	return status, kind, business
}

// query is a first page.
type query struct {
	name      string
	isSeveral bool // filters, beside bounds of time
	partner.DeliveryQuery
}

// queries are each filter alone and in pairs, each with and without bounds of time. The
// counts of a page grow up to their bound, so that they are left out.
func (h *hook) queries() (all []query) {
	filters := []query{{name: "no filter"}}
	for _, status := range []partner.DeliveryStatus{partner.DeliveryQueued, partner.DeliveryRetrying, partner.DeliveryDelivered, partner.DeliveryFailed} {
		filters = append(filters, query{name: "status " + string(status), DeliveryQuery: partner.DeliveryQuery{Statuses: []partner.DeliveryStatus{status}}})
	}
	filters = append(filters, query{name: "two statuses", DeliveryQuery: partner.DeliveryQuery{Statuses: []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryQueued}}})
	for _, kind := range []string{"invoice.paid", "invoice.created", "invoice.voided", "invoice.absent"} {
		filters = append(filters, query{name: "event " + kind, DeliveryQuery: partner.DeliveryQuery{EventType: kind}})
	}
	for _, business := range []string{"biz_common", "biz_tenth", "biz_rare", "biz_absent"} {
		filters = append(filters, query{name: "business " + business, DeliveryQuery: partner.DeliveryQuery{BusinessID: business}})
	}
	filters = append(filters,
		query{name: "eventId", DeliveryQuery: partner.DeliveryQuery{EventID: h.eventID}},
		query{name: "event and status", isSeveral: true, DeliveryQuery: partner.DeliveryQuery{EventType: "invoice.paid", Statuses: []partner.DeliveryStatus{partner.DeliveryFailed}}},
		query{name: "event and business", isSeveral: true, DeliveryQuery: partner.DeliveryQuery{EventType: "invoice.paid", BusinessID: "biz_rare"}},
		query{name: "business and status", isSeveral: true, DeliveryQuery: partner.DeliveryQuery{BusinessID: "biz_common", Statuses: []partner.DeliveryStatus{partner.DeliveryRetrying}}},
		query{name: "all three", isSeveral: true, DeliveryQuery: partner.DeliveryQuery{BusinessID: "biz_common", EventType: "invoice.created", Statuses: []partner.DeliveryStatus{partner.DeliveryFailed}}},
	)
	quarter, last := h.at(h.size/4), h.at(h.size*3/4)
	for _, q := range filters {
		q.AppID, q.WebhookID, q.Limit, q.Now = h.appID, h.webhookID, rare-5, h.at(h.size)
		for _, span := range []struct {
			name         string
			since, until time.Time
		}{{}, {name: ", since", since: quarter}, {name: ", until", until: last}, {name: ", since and until", since: quarter, until: last}} {
			bounded := q
			bounded.name, bounded.Since, bounded.Until = q.name+span.name, span.since, span.until
			all = append(all, bounded)
		}
	}
	return all
}

// read reads a page and returns how long that took.
func (h *hook) read(t *testing.T, q query) (time.Duration, int) {
	t.Helper()
	began := time.Now()
	page, err := h.Deliveries(t.Context(), q.DeliveryQuery)
	must(t, err)
	return time.Since(began), len(page.Deliveries)
}

// DLV-09: the first page of each filter costs at most 1.6 times as much for 100,000
// deliveries of one webhook as for 1,000, and what a page of several filters costs is
// bounded: it is the same for 100,000 as for 24,000.
func TestDeliveries(t *testing.T) {
	if !testenv.Proving() || raceEnabled {
		t.Skip("this measures time: make prove runs it, without the race detector")
	}
	for name, open := range map[string]testdb.Opener{"SQLite": testdb.SQLite, "PostgreSQL": testdb.Postgres} {
		t.Run(name, func(t *testing.T) {
			many := newHook(t, open, 100_000)
			few, some := newHook(t, open, small), newHook(t, open, middle)
			p := proof.Begin(t, "First pages of deliveries, "+name, "pages")
			single, several := few.queries(), some.queries()
			worst := 0.0
			for i, q := range many.queries() {
				fewer, like := few, single[i]
				if q.isSeveral {
					fewer, like = some, several[i]
				}
				ratio := compare(t, fewer, many, like, q)
				worst = max(worst, ratio)
				p.Tried(1)
				if ratio > most {
					p.Violation("%s costs %.2f times as much for %d deliveries as for %d", q.name, ratio, many.size, fewer.size)
				}
			}
			p.Notef("at %d at most %.2f times the cost", many.size, worst)
		})
	}
}

// compare returns how many times as much a page costs at the large size.
func compare(t *testing.T, few, many *hook, q, large query) float64 {
	t.Helper()
	smaller, larger := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	began := time.Now()
	for turn := 0; ; turn++ {
		a, n := few.read(t, q)
		b, m := many.read(t, large)
		if n != m {
			t.Fatalf("%s: %d deliveries and %d", q.name, n, m)
		}
		smaller, larger = min(smaller, a), min(larger, b)
		ratio := float64(larger) / float64(smaller)
		if turn >= turns && (ratio <= most || time.Since(began) > patience) {
			return ratio
		}
	}
}
