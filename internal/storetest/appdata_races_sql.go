package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlDataRaceCases need what only sqlstore has.
var sqlDataRaceCases = []testCase[*Env]{
	{"Race of writing, deleting and purging", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newData(t, e)
			v := f.put(t, "inv_1", `"a"`)
			testdb.Race(12, func(i int) {
				var err error
				switch i % 4 {
				case 0:
					_, err = e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, map[string]string{"inv_1": fmt.Sprint(i), "inv_2": "1"})))
				case 1:
					err = e.DeleteValue(t.Context(), f.removal(v.ID))
				case 2:
					_, err = purge(e, storage.PurgeAppData)(t.Context(), noon, 1)
				case 3:
					err = deleteField(t.Context(), e, f.app.ID, f.field.ID, noon)
				}
				if err != nil && !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("contender %d: %v", i, err)
				}
			})
			for purged := 1; purged > 0; {
				purged = get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 10))
			}
			if n := e.rows(t, "partnerkit_app_data_value"); n != 0 {
				t.Fatalf("%d values are left of a deleted field", n)
			}
		}
	}},
	// APD-08: concurrent purges leave no value behind.
	{"Race of purges", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newData(t, e)
			values := map[string]string{}
			for _, resource := range numbered(20) {
				values[resource] = "1"
			}
			get[[]valuestore.Value](t)(e.WriteValues(t.Context(), f.write(noon, drafts(f.field, noon, values))))
			must(t, f.end(t, partner.InstallationRemoved))
			must(t, f.redact(t.Context()))
			testdb.Race(4, func(int) {
				for range 3 {
					if _, err := purge(e, storage.PurgeAppData)(t.Context(), noon, 3); err != nil {
						t.Error(err)
					}
				}
			})
			for purged := 1; purged > 0; {
				purged = get[int](t)(purge(e, storage.PurgeAppData)(t.Context(), noon, 10))
			}
			if n := e.rows(t, "partnerkit_app_data_value"); n != 0 {
				t.Fatalf("%d values are left", n)
			}
		}
	}},
}
