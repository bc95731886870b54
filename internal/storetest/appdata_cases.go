package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// dataCases are the operations on app data, one at a time.
var dataCases = []testCase[partnerkit.Store]{
	{"Fields come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newData(t, e)
		number := f.another("amount")
		number.Type, number.Label, number.CreatedAt = valuestore.Number, "", noon.Add(time.Second)
		number.Rules = valuestore.Rules{Min: new(json.Number("-1e2")), Max: new(json.Number("0.10")), Decimals: new(0)}
		choice := f.another("state")
		choice.Type, choice.Rules, choice.CreatedAt = valuestore.Choice, valuestore.Rules{Choices: []string{"ü", `"`, "<"}}, noon.Add(2*time.Second)
		for _, more := range []valuestore.Field{number, choice} {
			must(t, createField(t.Context(), e, more, maxFields))
		}
		newData(t, e)
		want := []valuestore.Field{f.field, number, choice}
		for _, field := range want {
			if diff := cmp.Diff(field, get[valuestore.Field](t)(oneField(e)(t.Context(), f.app.ID, field.ID))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
		if diff := cmp.Diff(want, get[[]valuestore.Field](t)(e.Fields(t.Context(), f.app.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"An app has only so many fields, and one for a key", func(t *testing.T, e partnerkit.Store) {
		f, other := newData(t, e), newData(t, e)
		add := func(field valuestore.Field) error { return createField(t.Context(), e, field, maxFields) }
		if err := add(f.another("shipment")); !errors.Is(err, valuestore.ErrTaken) {
			t.Errorf("the same key: %v", err)
		}
		customers := f.another("shipment")
		customers.ResourceType = "customer"
		must(t, add(customers))
		must(t, add(f.another("Shipment")))
		if err := add(f.another("more")); !errors.Is(err, errTooManyFields) {
			t.Errorf("one too many: %v", err)
		}
		must(t, deleteField(t.Context(), e, f.app.ID, f.field.ID, noon))
		must(t, add(f.another("shipment")))
		must(t, add(other.another("more")))
		absent := f.another("x")
		absent.AppID = "app_absent"
		if err := add(absent); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
	{"A field changes in one step", func(t *testing.T, e partnerkit.Store) {
		f := newData(t, e)
		want := f.field
		want.Label, want.Rules, want.UpdatedAt = "new", valuestore.Rules{MaxLength: new(5)}, noon.Add(time.Minute)
		must(t, updateField(t.Context(), e, f.app.ID, f.field.ID, func(before valuestore.Field) (valuestore.Field, error) {
			if diff := cmp.Diff(f.field, before); diff != "" {
				t.Errorf("before (-want +got)\n%s", diff)
			}
			next := want
			next.AppID, next.Key, next.ResourceType, next.Type, next.CreatedAt = "other", "other", "other", "other", noon.Add(time.Hour)
			return next, nil
		}))
		if err := updateField(t.Context(), e, f.app.ID, f.field.ID, func(f valuestore.Field) (valuestore.Field, error) { f.Label = "never"; return f, errGate }); !errors.Is(err, errGate) {
			t.Errorf("a change that fails: %v", err)
		}
		if diff := cmp.Diff(want, get[valuestore.Field](t)(oneField(e)(t.Context(), f.app.ID, f.field.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// APD-02: an upsert keeps the id and when it was created.
	{"Values are added, changed and left alone", func(t *testing.T, e partnerkit.Store) {
		f := newData(t, e)
		second := f.declared(t, "second")
		first := get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": `"a"`, "inv_2": `"b"`}))))
		if n := f.recorded(t, events.AppDataUpdated); n != 1 {
			t.Errorf("%d events", n)
		}
		later := noon.Add(time.Hour)
		byResource := map[string]valuestore.Value{first[0].ResourceID: first[0], first[1].ResourceID: first[1]}
		mixed := append(drafts(f.field, later, map[string]string{"inv_1": `"a"`}), append(drafts(f.field, later, map[string]string{"inv_2": `"c"`}), drafts(second, later, map[string]string{"inv_1": "1.50"})...)...)
		same, changed, added := mixed[0].Value, mixed[1].Value, mixed[2].Value
		same.ID, same.CreatedAt, same.UpdatedAt = byResource["inv_1"].ID, noon, noon
		changed.ID, changed.CreatedAt = byResource["inv_2"].ID, noon
		var told, responded []valuestore.Value
		w := f.write(later, mixed)
		record := w.Record
		w.Record = func(changed []valuestore.Value) []partner.Event { told = changed; return record(changed) }
		w.Respond = func(_ context.Context, _ storage.Tx, all []valuestore.Value) error { responded = all; return nil }
		written := get[[]valuestore.Value](t)(e.WriteValues(t.Context(), w))
		for name, got := range map[string][2][]valuestore.Value{
			"written": {{same, changed, added}, written}, "answered": {{same, changed, added}, responded}, "told": {{changed, added}, told},
			"on inv_1": {{same, added}, f.seen(t, "inv_1")}, "on both": {{same, changed, added}, f.seen(t, "inv_2", "inv_1", "inv_3")},
		} {
			byID := func(all []valuestore.Value) map[string]valuestore.Value {
				set := map[string]valuestore.Value{}
				for _, v := range all {
					set[v.ID] = v
				}
				return set
			}
			if diff := cmp.Diff(byID(got[0]), byID(got[1])); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		w = f.write(later, []valuestore.Draft{{FieldID: f.field.ID, Value: same}, {FieldID: second.ID, Value: added}})
		w.Record = func([]valuestore.Value) []partner.Event { t.Error("nothing has changed"); return nil }
		get[[]valuestore.Value](t)(e.WriteValues(t.Context(), w))
		if n := f.recorded(t, events.AppDataUpdated); n != 2 {
			t.Errorf("%d events", n)
		}
	}},
	// APD-01: by record, type of record and key; APD-05 too: of this app, in this
	// business.
	{"Values are the app's own in the business", func(t *testing.T, e partnerkit.Store) {
		f, other := newData(t, e), newData(t, e)
		customers := f.another("shipment")
		customers.ResourceType = "customer"
		must(t, createField(t.Context(), e, customers, 100))
		second := f.declared(t, "second")
		byField := map[string]string{}
		for _, field := range []valuestore.Field{f.field, customers, second} {
			byField[field.ID] = get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(field, noon, map[string]string{"same": `"x"`}))))[0].ID
		}
		other.put(t, "same", `"theirs"`)
		elsewhere := f.write(noon, drafts(f.field, noon, map[string]string{"same": `"elsewhere"`}))
		elsewhere.BusinessID = other.business
		get[[]valuestore.Value](t)(e.WriteValues(t.Context(), elsewhere))
		for name, test := range map[string]struct {
			change func(*valuestore.Query)
			want   []string
		}{
			"all":          {func(*valuestore.Query) {}, []string{f.field.ID, customers.ID, second.ID}},
			"type":         {func(q *valuestore.Query) { q.ResourceType = "customer" }, []string{customers.ID}},
			"key":          {func(q *valuestore.Query) { q.Key = "shipment" }, []string{f.field.ID, customers.ID}},
			"type and key": {func(q *valuestore.Query) { q.ResourceType, q.Key = "invoice", "second" }, []string{second.ID}},
			"no such key":  {func(q *valuestore.Query) { q.Key = "none" }, nil},
			"no record":    {func(q *valuestore.Query) { q.ResourceIDs = nil }, nil},
			"many records": {func(q *valuestore.Query) { q.ResourceIDs = append(numbered(49), "same") }, []string{f.field.ID, customers.ID, second.ID}},
			"another app":  {func(q *valuestore.Query) { q.AppID = "app_absent" }, nil},
			"elsewhere":    {func(q *valuestore.Query) { q.BusinessID = "biz_absent" }, nil},
		} {
			q := f.query("same")
			test.change(&q)
			want, got := map[string]bool{}, map[string]bool{}
			for _, fieldID := range test.want {
				want[byField[fieldID]] = true
			}
			for _, v := range get[[]valuestore.Value](t)(e.Values(t.Context(), q)) {
				got[v.ID] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		for name, change := range map[string]func(*valuestore.Removal){
			"another app's": func(r *valuestore.Removal) { r.AppID = other.app.ID },
			"elsewhere":     func(r *valuestore.Removal) { r.BusinessID = other.business },
			"absent":        func(r *valuestore.Removal) { r.ValueID = id.New(id.AppDataValue, noon) },
		} {
			r := f.removal(byField[f.field.ID])
			change(&r)
			if err := e.DeleteValue(t.Context(), r); !errors.Is(err, partner.ErrNotFound) {
				t.Errorf("delete %s: %v", name, err)
			}
		}
	}},
	// APD-05.
	{"A value is deleted once", func(t *testing.T, e partnerkit.Store) {
		f := newData(t, e)
		v := f.put(t, "inv_1", `"a"`)
		refused := f.removal(v.ID)
		refused.Check = func(got valuestore.Value) error {
			if diff := cmp.Diff(v, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			return errGate
		}
		if err := e.DeleteValue(t.Context(), refused); !errors.Is(err, errGate) || len(f.seen(t, "inv_1")) != 1 {
			t.Errorf("refused: %v", err)
		}
		must(t, e.DeleteValue(t.Context(), f.removal(v.ID)))
		if err := e.DeleteValue(t.Context(), f.removal(v.ID)); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("twice: %v", err)
		}
		if n := f.recorded(t, events.AppDataUpdated); n != 2 || len(f.seen(t, "inv_1")) != 0 {
			t.Errorf("%d events, %v left", n, f.seen(t, "inv_1"))
		}
		if again := f.put(t, "inv_1", `"a"`); again.ID == v.ID {
			t.Error("a new value has the id of the deleted one")
		}
	}},
}

func numbered(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("inv_%d", i)
	}
	return all
}
