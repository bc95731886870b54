package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// eventFaultCases are the operations on events under faults, and what they cost.
var eventFaultCases = []testCase[*Env]{
	{"Record events under faults", func(t *testing.T, e *Env) {
		var recorded []partner.Event
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { recorded = happened(newBusiness(), "a.b", 60) },
			Act:     func(ctx context.Context) error { return e.RecordEvents(ctx, recorded...) },
			Check: func(t *testing.T, happened bool) {
				number(t, e, recorded[0].BusinessID)
				if n := len(page(t, e, recorded[0].BusinessID, "a.b")); (n == len(recorded)) != happened || !happened && n != 0 {
					t.Errorf("happened %v, and there are %d events", happened, n)
				}
			},
		})
	}},
	{"Read events under faults", func(t *testing.T, e *Env) {
		business := newBusiness()
		recorded := happened(business, "a.b", 3)
		must(t, e.RecordEvents(t.Context(), recorded...))
		number(t, e, business)
		var got []partner.Event
		EveryFault(t, e.Tap, Faulty{
			Act: func(ctx context.Context) (err error) {
				got, err = e.Events(ctx, eventstore.Query{BusinessID: business, Types: []string{"a.b"}, Limit: 10})
				return err
			},
			Check: func(t *testing.T, happened bool) {
				if happened && !slices.Equal(idsOf(got), idsOf(recorded)) {
					t.Errorf("%d events", len(got))
				}
			},
		})
		EveryFault(t, e.Tap, Faulty{
			Act: func(ctx context.Context) error {
				_, err := e.Events(ctx, eventstore.Query{BusinessID: business, EventID: recorded[0].ID})
				return err
			},
			Check: func(*testing.T, bool) {},
		})
	}},
	{"What events cost", func(t *testing.T, e *Env) {
		business := newBusiness()
		recorded := happened(business, "a.b", 64)
		wantCost(t, e.Tap, 2, 1, func() { must(t, e.RecordEvents(t.Context(), recorded...)) })
		wantCost(t, e.Tap, 4, 1, func() { number(t, e, business) })
		wantCost(t, e.Tap, 1, 0, func() { number(t, e, business) }) // writes nothing
		q := eventstore.Query{BusinessID: business, Types: []string{"a.b", "c.d"}, AppID: "app_1", AppTypes: []string{"e.f"}, Limit: 10}
		wantCost(t, e.Tap, 1, 0, func() { get[[]partner.Event](t)(e.Events(t.Context(), q)) })
	}},
	// What a page costs does not depend on how many events there are.
	{"Reading events uses the indexes", func(t *testing.T, e *Env) {
		business := newBusiness()
		many := slices.Concat(happened(business, "a.b", 1_000), happened(business, "c.d", 1_000))
		for i := range many {
			many[i].Data = []byte(`{"text":"` + strings.Repeat("x", 1_800) + `"}`) // a table worth an index
			if i%4 == 0 {
				many[i].AppID = "app_1"
			}
		}
		must(t, e.RecordEvents(t.Context(), many...))
		number(t, e, business)
		must(t, e.RecordEvents(t.Context(), happened(newBusiness(), "a.b", 1_000)...))
		plans := &explainer{DB: e.Tap.DB}
		e.Tap.DB = plans

		number(t, e, business)
		plans.want(t)
		get[[]partner.Event](t)(e.Events(t.Context(), eventstore.Query{
			BusinessID: business, Types: []string{"a.b", "c.d"}, AppID: "app_1", AppTypes: []string{"a.b"}, After: 10, Limit: 51,
		}))
		plans.want(t, "pk_event_number", "pk_event_number", "pk_event_number")
	}},
}

// explainer remembers the last query.
type explainer struct {
	storage.DB
	query string
	args  []any
}

func (x *explainer) Query(ctx context.Context, query string, args ...any) (storage.Rows, error) {
	x.query, x.args = query, args
	return x.DB.Query(ctx, query, args...)
}

// want asks the database how it ran the last query: by these indexes, as often as
// they are named, and in no other way.
func (x *explainer) want(t *testing.T, indexes ...string) {
	t.Helper()
	plan := x.plan(t)
	for _, bad := range []string{"Seq Scan", "Bitmap", "SCAN partnerkit_event"} {
		if strings.Contains(plan, bad) {
			t.Errorf("the plan has a %s:\n%s", bad, plan)
		}
	}
	left := plan
	for _, index := range indexes {
		_, after, ok := strings.Cut(left, index)
		if !ok {
			t.Fatalf("the plan does not use %v:\n%s", indexes, plan)
		}
		left = after
	}
}

func (x *explainer) plan(t *testing.T) string {
	t.Helper()
	var lines []string
	line := ""
	explain, dest := "EXPLAIN ", []any{&line}
	if x.Dialect().Name == "sqlite" {
		var ignored [3]int
		explain, dest = "EXPLAIN QUERY PLAN ", []any{&ignored[0], &ignored[1], &ignored[2], &line}
	} else {
		get[int64](t)(x.Exec(t.Context(), `ANALYZE "`+x.Dialect().Schema+`".partnerkit_event, "`+x.Dialect().Schema+`".partnerkit_event_number`))
	}
	must(t, storage.Each(t.Context(), x.DB, explain+x.query, x.args, func(scan func(...any) error) error {
		err := scan(dest...)
		lines = append(lines, line)
		return err
	}))
	return strings.Join(lines, "\n")
}
