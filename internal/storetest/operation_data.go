package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// data returns the app with a field.
func (s *Scene) data(t testing.TB) *dataFixture {
	t.Helper()
	if s.declared == nil {
		s.declared = &dataFixture{oauthFixture: s.oauthFixture}
		s.declared.field = s.declared.another("shipment")
		s.declared.field.ID = s.shared("adf")
		must(t, createField(t.Context(), s, s.declared.field, 100))
	}
	return s.declared
}

// value returns the value on a record that all operations of the scene use.
func (s *Scene) value(t testing.TB) valuestore.Value {
	t.Helper()
	f, id := s.data(t), s.shared("adv")
	s.once(id, func() {
		w := f.write(noon, drafts(f.field, noon, map[string]string{"inv_0": `"before"`}))
		w.Drafts[0].ID = id
		get[[]valuestore.Value](t)(s.WriteValues(t.Context(), w))
	})
	return valuestore.Value{ID: id, ResourceID: "inv_0"}
}

const ofData = "appdata"

// dataOperations are the operations on app data. The first two find the rows of every app,
// so they come before operations that leave such rows.
var dataOperations = []Operation{
	{Name: "Purge app data", Of: ofData, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.data(t)
		s.value(t)
		must(t, deleteField(t.Context(), s, f.app.ID, f.field.ID, noon))
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				n, err := purge(on, storage.PurgeAppData)(ctx, noon, 10)
				return answered(outcome(err, n == 2))
			},
			Check: func(t testing.TB, happened bool) {
				e, ok := s.Store.(*Env)
				if ok && ((e.rows(t, "partnerkit_app_data_value") == 0) != happened || (e.rows(t, "partnerkit_app_data_field") == 0) != happened) {
					t.Errorf("happened %v: %d values", happened, e.rows(t, "partnerkit_app_data_value"))
				}
				f.wantField(t, f.field.ID, false)
			},
		}
	}},
	// APD-08: the notice and the end of the values, both or neither.
	{Name: "Redact", Of: ofData, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		f, v := s.data(t), s.value(t)
		s.code(t) // installs
		must(t, f.end(t, partner.InstallationRemoved))
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) { return answered(f.redactOn(ctx, on)) },
			Check: func(t testing.TB, happened bool) {
				f.wantSeen(t, v.ResourceID, !happened)
				if (f.recorded(t, events.BusinessRedact) == 1) != happened {
					t.Errorf("happened %v, and the event does not say so", happened)
				}
			},
		}
	}},
	{Name: "Declare a field", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.data(t)
		field := f.another("wanted")
		field.ID = s.id("adf")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(createField(ctx, on, field, maxFields), valuestore.ErrTaken, errTooManyFields)
			},
			Check: func(t testing.TB, happened bool) { f.wantField(t, field.ID, happened) },
		}
	}},
	{Name: "Change a field", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.data(t)
		label, label0 := s.id("new"), f.field.Label
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(updateField(ctx, on, f.app.ID, f.field.ID, func(f valuestore.Field) (valuestore.Field, error) {
					f.Label, f.MaxLength, f.Version = label, new(1), f.Version+1
					return f, nil
				}), partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				got := get[valuestore.Field](t)(oneField(s)(t.Context(), f.app.ID, f.field.ID))
				if (got.Label == label) != happened || (got.Label == label0) == happened || (*got.MaxLength == 1) != happened {
					t.Errorf("happened %v: %+v", happened, got)
				}
			},
		}
	}},
	{Name: "Delete a field", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f, v := s.data(t), s.value(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(deleteField(ctx, on, f.app.ID, f.field.ID, noon), partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				f.wantField(t, f.field.ID, !happened)
				f.wantSeen(t, v.ResourceID, !happened)
			},
		}
	}},
	// APD-02: never some of the values, never values without their event.
	{Name: "Write values", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.data(t)
		s.value(t)
		after := `"` + s.id("after") + `"`
		var all []valuestore.Draft
		for _, resource := range numbered(appdata.MaxValues) {
			d := drafts(f.field, noon, map[string]string{resource: after})[0]
			d.ID = s.id("adv_" + resource)
			all = append(all, d)
		}
		w := f.write(noon, all)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.WriteValues(ctx, w)
				return answered(err, partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				want, changed := 1, 0
				if happened {
					want, changed = appdata.MaxValues, appdata.MaxValues
				}
				seen := f.seen(t, numbered(appdata.MaxValues)...)
				for _, v := range seen {
					if string(v.Value) == after {
						changed--
					}
				}
				if len(seen) != want || changed != 0 || (f.recorded(t, events.AppDataUpdated) == 2) != happened {
					t.Errorf("happened %v: %d values", happened, len(seen))
				}
			},
		}
	}},
	{Name: "Write a value", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f, v := s.data(t), s.value(t)
		after := `"` + s.id("after") + `"`
		w := f.write(noon, drafts(f.field, noon, map[string]string{v.ResourceID: after}))
		w.Drafts[0].ID = s.id("adv")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.WriteValues(ctx, w)
				return answered(err, partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				seen := f.seen(t, v.ResourceID)
				if len(seen) != 1 || seen[0].ID != v.ID || (string(seen[0].Value) == after) != happened || (f.recorded(t, events.AppDataUpdated) == 2) != happened {
					t.Errorf("happened %v: %v", happened, seen)
				}
			},
		}
	}},
	{Name: "Delete a value", Of: ofData, Prepare: func(t testing.TB, s *Scene) Act {
		f, v := s.data(t), s.value(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.DeleteValue(ctx, f.removal(v.ID)), partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				f.wantSeen(t, v.ResourceID, !happened)
				if (f.recorded(t, events.AppDataUpdated) == 2) != happened {
					t.Errorf("happened %v, and the event does not say so", happened)
				}
			},
		}
	}},
}
