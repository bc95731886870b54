package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlDataEndCases need what only sqlstore has.
var sqlDataEndCases = []testCase[*Env]{
	// APD-08: values end with business.redact and cannot be read again.
	{"Redaction ends the values of the app in the business", func(t *testing.T, e *Env) {
		f, other := newData(t, e), newData(t, e)
		old := f.put(t, "inv_1", `"old"`)
		elsewhere := f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": `"elsewhere"`}))
		elsewhere.BusinessID = other.business
		get[[]valuestore.Value](t)(e.WriteValues(t.Context(), elsewhere))
		other.put(t, "inv_1", `"other"`)
		must(t, f.end(t, partner.InstallationRemoved))
		if len(f.seen(t, "inv_1")) != 1 {
			t.Error("gone with the installation, before business.redact")
		}
		must(t, f.redact(t.Context()))
		if n := f.recorded(t, events.BusinessRedact); n != 1 || len(f.seen(t, "inv_1")) != 0 {
			t.Errorf("%d events, and %v is to be seen", n, f.seen(t, "inv_1"))
		}
		if err := e.DeleteValue(t.Context(), f.removal(old.ID)); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("delete: %v", err)
		}
		f.code(t) // installed again, before any purge
		if got := f.seen(t, "inv_1"); len(got) != 0 {
			t.Errorf("the next installation sees %v", got)
		}
		fresh := f.put(t, "inv_1", `"old"`)
		if fresh.ID == old.ID || e.rows(t, "partnerkit_app_data_value") != 4 {
			t.Errorf("%s after %s, %d rows", fresh.ID, old.ID, e.rows(t, "partnerkit_app_data_value"))
		}
		for purged := 1; purged > 0; {
			purged = get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 10))
		}
		theirs := f.query("inv_1")
		theirs.BusinessID = other.business
		if mine, there := f.seen(t, "inv_1"), get[[]valuestore.Value](t)(e.Values(t.Context(), theirs)); len(mine) != 1 || len(there) != 1 || len(other.seen(t, "inv_1")) != 1 || e.rows(t, "partnerkit_app_data_value") != 3 {
			t.Errorf("left: %v, %v, %d rows", mine, there, e.rows(t, "partnerkit_app_data_value"))
		}
	}},
	{"A deleted field takes its values along", func(t *testing.T, e *Env) {
		f := newData(t, e)
		second := f.declared(t, "second")
		old := f.put(t, "inv_1", `"old"`)
		get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(second, noon, map[string]string{"inv_1": `"stays"`}))))
		must(t, deleteField(t.Context(), e, f.app.ID, f.field.ID, noon))
		f.field = f.declared(t, "shipment") // the same key, before any purge
		if got := f.seen(t, "inv_1"); len(got) != 1 || got[0].Key != "second" {
			t.Errorf("seen %v", got)
		}
		if err := e.DeleteValue(t.Context(), f.removal(old.ID)); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("delete: %v", err)
		}
		if fresh := f.put(t, "inv_1", `"old"`); fresh.ID == old.ID {
			t.Error("the old value is there again")
		}
		for _, want := range []int{2, 0} {
			if n := get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 10)); n != want || e.rows(t, "partnerkit_app_data_value") != 2 || len(f.seen(t, "inv_1")) != 2 {
				t.Errorf("%d went, want %d; %d rows", n, want, e.rows(t, "partnerkit_app_data_value"))
			}
		}
	}},
	{"A purge takes a few rows at a time", func(t *testing.T, e *Env) {
		f := newData(t, e)
		second := f.declared(t, "second")
		for _, field := range []valuestore.Field{f.field, second} {
			values := map[string]string{}
			for _, resource := range numbered(5) {
				values[resource] = "1"
			}
			get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(field, noon, values))))
		}
		if n := get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 2)); n != 0 || e.rows(t, "partnerkit_app_data_value") != 10 {
			t.Errorf("%d went though nothing has ended", n)
		}
		must(t, deleteField(t.Context(), e, f.app.ID, second.ID, noon.Add(time.Second)))
		for _, want := range []int{2, 2, 2, 0} { // the last two: a value and the field
			if n := get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 2)); n != want {
				t.Errorf("%d rows of the field went, want %d", n, want)
			}
		}
		must(t, f.end(t, partner.InstallationRemoved))
		must(t, f.redact(t.Context()))
		for _, want := range []int{5, 1, 0} { // full, then the space
			if n := get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 5)); n != want {
				t.Errorf("%d rows of the space went, want %d", n, want)
			}
		}
		for _, table := range []string{"partnerkit_app_data_value", "partnerkit_app_data_space"} {
			if n := e.count(t, "SELECT COUNT(*) FROM "+table); n != 0 {
				t.Errorf("%d left in %s", n, table)
			}
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_app_data_field"); n != 1 {
			t.Errorf("%d fields", n)
		}
	}},
}
