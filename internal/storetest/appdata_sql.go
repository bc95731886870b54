package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlDataCases need what only sqlstore has.
var sqlDataCases = []testCase[*Env]{
	{"Foreign and deleted fields are not found", func(t *testing.T, e *Env) {
		f, other := newData(t, e), newData(t, e)
		notFound := func(whose, appID, fieldID string) {
			_, read := oneField(e)(t.Context(), appID, fieldID)
			updated := updateField(t.Context(), e, appID, fieldID, func(f valuestore.Field) (valuestore.Field, error) { return f, nil })
			w := f.write(noon, drafts(valuestore.Field{ID: fieldID}, noon, map[string]string{"inv_1": "1"}))
			w.AppID = appID
			_, written := e.WriteValues(t.Context(), w)
			for name, err := range map[string]error{
				"read": read, "update": updated, "write": written, "delete": deleteField(t.Context(), e, appID, fieldID, noon),
			} {
				if !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("%s, %s: %v", whose, name, err)
				}
			}
		}
		notFound("another app's", other.app.ID, f.field.ID)
		notFound("an absent one", f.app.ID, "adf_absent")
		must(t, deleteField(t.Context(), e, f.app.ID, f.field.ID, noon))
		notFound("a deleted one", f.app.ID, f.field.ID)
		if left := get[[]valuestore.Field](t)(e.Fields(t.Context(), f.app.ID)); len(left) != 0 {
			t.Errorf("listed %v", left)
		}
		if n := e.rows(t, "partnerkit_app_data_value"); n != 0 {
			t.Errorf("%d values were written", n)
		}
	}},
	{"What a host answers with stands or falls with the write", func(t *testing.T, e *Env) {
		f := newData(t, e)
		response := func(ctx context.Context, tx storage.Tx) error {
			_, err := tx.Exec(ctx, e.Qualified("UPDATE partnerkit_app SET name = 'answered' WHERE id = $1"), f.app.ID)
			return err
		}
		w := f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": `"a"`}))
		w.Respond = func(ctx context.Context, tx storage.Tx, _ []valuestore.Value) error {
			return errors.Join(response(ctx, tx), errGate)
		}
		if _, err := e.WriteValues(t.Context(), w); !errors.Is(err, errGate) || e.rows(t, "partnerkit_app_data_value") != 0 {
			t.Errorf("%v, %d values", err, e.rows(t, "partnerkit_app_data_value"))
		}
		w.Respond = func(ctx context.Context, tx storage.Tx, _ []valuestore.Value) error { return response(ctx, tx) }
		v := get[[]valuestore.Value](t)(e.WriteValues(t.Context(), w))[0]
		if app, err := e.App(t.Context(), f.app.ID); err != nil || app.Name != "answered" {
			t.Errorf("%v, %s", err, app.Name)
		}
		r := f.removal(v.ID)
		r.Respond = func(context.Context, storage.Tx) error { return errGate }
		if err := e.DeleteValue(t.Context(), r); !errors.Is(err, errGate) || e.rows(t, "partnerkit_app_data_value") != 1 {
			t.Errorf("%v, %d values", err, e.rows(t, "partnerkit_app_data_value"))
		}
	}},
}
