package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

func newBusiness() string { return fmt.Sprintf("biz_%d", serial.Add(1)) }

// happened makes n events of a type, one after the other from noon on.
func happened(business, name string, n int) []partner.Event {
	made := make([]partner.Event, n)
	for i := range made {
		at := noon.Add(time.Duration(i) * time.Millisecond)
		made[i] = partner.Event{ID: id.New(id.Event, at), Type: name, BusinessID: business, Data: []byte(`{"n":1}`), CreatedAt: at}
	}
	return made
}

// page reads the events of a business that have no app, of these types.
func page(t *testing.T, e partnerkit.Store, business string, types ...string) []partner.Event {
	t.Helper()
	return get[[]partner.Event](t)(e.Events(t.Context(), eventstore.Query{BusinessID: business, Types: types, Since: noon, Limit: 10_000}))
}

// event reads one event, which must be there.
func event(t testing.TB, e partnerkit.Store, business, eventID string) partner.Event {
	t.Helper()
	found := get[[]partner.Event](t)(e.Events(t.Context(), eventstore.Query{BusinessID: business, EventID: eventID}))
	if len(found) != 1 {
		t.Fatalf("%d events of %s have the id %s", len(found), business, eventID)
	}
	return found[0]
}

func idsOf(some []partner.Event) []string {
	ids := make([]string, len(some))
	for i, e := range some {
		ids[i] = e.ID
	}
	return ids
}

// eventCases are the store of events.
var eventCases = []testCase[partnerkit.Store]{
	{"Events come back as they were recorded", func(t *testing.T, e partnerkit.Store) {
		business := newBusiness()
		recorded := happened(business, "a.b", 120) // several statements
		recorded[0].Data = []byte(`{"text":"ü <&> \u0000 \ud83d\ude00","n":1.50,"a":[{}]}`)
		recorded[1].AppID = "app_1"
		must(t, e.RecordEvents(t.Context(), recorded...))
		must(t, e.RecordEvents(t.Context()))
		for _, want := range recorded {
			got := event(t, e, business, want.ID)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
		}
		for _, absent := range [][2]string{{newBusiness(), recorded[0].ID}, {business, id.New(id.Event, noon)}} {
			if found := get[[]partner.Event](t)(e.Events(t.Context(), eventstore.Query{BusinessID: absent[0], EventID: absent[1]})); len(found) != 0 {
				t.Errorf("%v: %v", absent, found)
			}
		}
	}},
	{"Events that are recorded in a transaction share its end", func(t *testing.T, e partnerkit.Store) {
		business := newBusiness()
		kept := happened(business, "a.b", 3)
		failed := errors.New("failed")
		for _, end := range []error{failed, nil} {
			err := e.InTx(t.Context(), func(tx storage.Tx) error {
				return errors.Join(e.RecordEventsIn(t.Context(), tx, kept[0]), end)
			})
			if !errors.Is(err, end) {
				t.Errorf("InTx returned %v, want %v", err, end)
			}
			if found := get[[]partner.Event](t)(e.Events(t.Context(), eventstore.Query{BusinessID: business, EventID: kept[0].ID})); (len(found) == 1) != (end == nil) {
				t.Errorf("after %v: %v", end, found)
			}
		}
		tx := get[storage.OpenTx](t)(e.BeginTx(t.Context()))
		must(t, e.RecordEventsIn(t.Context(), tx, kept[1]))
		must(t, tx.Rollback())
		tx = get[storage.OpenTx](t)(e.BeginTx(t.Context()))
		must(t, e.RecordEventsIn(t.Context(), tx, kept[2]))
		must(t, tx.Commit(t.Context()))
		number(t, e, business)
		if diff := cmp.Diff(idsOf([]partner.Event{kept[0], kept[2]}), idsOf(page(t, e, business, "a.b"))); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
	}},
	// EVT-05.
	{"Numbers are given once, in order, to one business", func(t *testing.T, e partnerkit.Store) {
		business, other := newBusiness(), newBusiness()
		recorded := happened(business, "a.b", 1_100) // several rounds
		must(t, e.RecordEvents(t.Context(), recorded...))
		must(t, e.RecordEvents(t.Context(), happened(other, "a.b", 1)...))
		if got := page(t, e, business, "a.b"); len(got) != 0 {
			t.Errorf("%d events without a number are shown", len(got))
		}
		number(t, e, business)
		first := page(t, e, business, "a.b")
		if diff := cmp.Diff(idsOf(recorded), idsOf(first)); diff != "" {
			t.Errorf("order (-want +got)\n%s", diff)
		}
		if got := page(t, e, other, "a.b"); len(got) != 0 {
			t.Error("another business was numbered too")
		}
		must(t, e.RecordEvents(t.Context(), happened(business, "a.c", 1)...))
		number(t, e, business)
		if diff := cmp.Diff(first, page(t, e, business, "a.b")); diff != "" {
			t.Errorf("numbers have changed (-before +after)\n%s", diff)
		}
	}},
	// EVT-05: by its id this event would stand before the cursor.
	{"What commits later gets a greater number", func(t *testing.T, e partnerkit.Store) {
		business := newBusiness()
		both := happened(business, "a.b", 2)
		slow, quick := both[0], both[1]
		must(t, e.RecordEvents(t.Context(), quick))
		number(t, e, business)
		must(t, e.RecordEvents(t.Context(), slow))
		number(t, e, business)
		if got := idsOf(page(t, e, business, "a.b")); !slices.Equal(got, []string{quick.ID, slow.ID}) {
			t.Errorf("order %v, want %v before %v", got, quick.ID, slow.ID)
		}
	}},
	{"Race of numberers", func(t *testing.T, e partnerkit.Store) {
		for range testenv.Rounds(5, 100) {
			business := newBusiness()
			recorded := happened(business, "a.b", 20)
			must(t, e.RecordEvents(t.Context(), recorded...))
			testdb.Race(16, func(int) {
				if _, err := e.NumberEvents(t.Context(), business); err != nil {
					t.Error(err)
				}
				// After a call that numbered events, or found none to number, all events are visible.
				got, err := e.Events(t.Context(), eventstore.Query{BusinessID: business, Types: []string{"a.b"}, Limit: 100})
				if err != nil || !slices.Equal(idsOf(got), idsOf(recorded)) {
					t.Errorf("%d events, %v", len(got), err)
				}
			})
			numbers := map[int64]bool{}
			for _, got := range page(t, e, business, "a.b") {
				numbers[got.Number] = true
			}
			if len(numbers) != len(recorded) || numbers[0] {
				t.Fatalf("%d numbers for %d events", len(numbers), len(recorded))
			}
		}
	}},
	// EVT-02.
	{"Events by type, app, place and age", func(t *testing.T, e partnerkit.Store) {
		business := newBusiness()
		made := happened(business, "a.b", 6)
		made[1].Type, made[4].Type = "c.d", "c.d"
		made[2].AppID, made[3].AppID = "app_1", "app_2"
		must(t, e.RecordEvents(t.Context(), made...))
		must(t, e.RecordEvents(t.Context(), happened(newBusiness(), "a.b", 3)...))
		number(t, e, business)
		first := event(t, e, business, made[0].ID)
		both, one := []string{"a.b", "c.d"}, []string{"a.b"}
		most := slices.Clone(both)
		for len(most) < 250 {
			most = append(most, fmt.Sprint("x.", len(most)))
		}
		for name, test := range map[string]struct {
			q    eventstore.Query
			want []int
		}{
			"no type":            {eventstore.Query{AppID: "app_1", Limit: 9}, nil},
			"unknown type":       {eventstore.Query{Types: []string{"x.y"}, Limit: 9}, nil},
			"one type":           {eventstore.Query{Types: one, Limit: 9}, []int{0, 5}},
			"a whole catalog":    {eventstore.Query{Types: most, Limit: 9}, []int{0, 1, 4, 5}},
			"two types":          {eventstore.Query{Types: both, Limit: 9}, []int{0, 1, 4, 5}},
			"an app's own":       {eventstore.Query{AppID: "app_1", AppTypes: both, Limit: 9}, []int{2}},
			"both":               {eventstore.Query{Types: both, AppID: "app_2", AppTypes: both, Limit: 9}, []int{0, 1, 3, 4, 5}},
			"no app":             {eventstore.Query{Types: both, AppTypes: both, Limit: 9}, []int{0, 1, 4, 5}},
			"after":              {eventstore.Query{Types: both, After: first.Number, Limit: 9}, []int{1, 4, 5}},
			"since":              {eventstore.Query{Types: both, Since: made[4].CreatedAt, Limit: 9}, []int{4, 5}},
			"limit":              {eventstore.Query{Types: both, AppID: "app_1", AppTypes: one, Limit: 3}, []int{0, 1, 2}},
			"limit in one type":  {eventstore.Query{Types: one, Limit: 1}, []int{0}},
			"after and a limit":  {eventstore.Query{Types: both, After: first.Number, Limit: 1}, []int{1}},
			"a type of one only": {eventstore.Query{Types: one, AppID: "app_1", AppTypes: []string{"c.d"}, Limit: 9}, []int{0, 5}},
		} {
			test.q.BusinessID = business
			want := make([]string, len(test.want))
			for i, n := range test.want {
				want[i] = made[n].ID
			}
			if diff := cmp.Diff(want, idsOf(get[[]partner.Event](t)(e.Events(t.Context(), test.q)))); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	}},
	// EVT-06.
	{"Old events are purged, a few at a time", func(t *testing.T, e partnerkit.Store) {
		business := newBusiness()
		made := happened(business, "a.b", 6)
		must(t, e.RecordEvents(t.Context(), made...))
		number(t, e, business)
		must(t, e.RecordEvents(t.Context(), happened(newBusiness(), "a.b", 1)...)) // without a number, too
		for _, want := range []int{2, 2, 2, 0} {
			if n := get[int](t)(purge(e, storage.PurgeEvents)(t.Context(), made[5].CreatedAt, 2)); n != want {
				t.Errorf("purged %d, want %d", n, want)
			}
		}
		if got := idsOf(page(t, e, business, "a.b")); !slices.Equal(got, []string{made[5].ID}) {
			t.Errorf("%v is left", got)
		}
		later := happened(business, "a.b", 1)[0] // what was purged does not come back as a number
		must(t, e.RecordEvents(t.Context(), later))
		number(t, e, business)
		if got := idsOf(page(t, e, business, "a.b")); !slices.Equal(got, []string{made[5].ID, later.ID}) {
			t.Errorf("order %v", got)
		}
	}},
}
