package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/storage"
)

// Functions implements consolestore.Store.
func (s *Store) Functions(ctx context.Context, appID string) ([]consolestore.Function, error) {
	all, err := readFunctions(ctx, s, s.sql, appID)
	return all, wrap("functions", err)
}

func readFunctions(ctx context.Context, from storage.Querier, sql *sqlText, appID string) ([]consolestore.Function, error) {
	var all []consolestore.Function
	err := storage.Each(ctx, from, sql.of("SELECT id, name, source, created_at FROM partnerkit_function WHERE app_id = $1 ORDER BY id"), []any{appID},
		func(scan func(...any) error) error {
			f := consolestore.Function{AppID: appID}
			var created int64
			err := scan(&f.ID, &f.Name, &f.Source, &created)
			f.CreatedAt = fromMS(created)
			all = append(all, f)
			return err
		})
	return all, err
}

// ChangeFunctions implements consolestore.Store. It holds the app, which every change of
// its functions waits for.
func (s *Store) ChangeFunctions(ctx context.Context, appID string, change func([]consolestore.Function) ([]consolestore.Function, error)) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.lockApp(ctx, appID, tx.dialect.ForUpdate); err != nil {
			return err
		}
		before, err := readFunctions(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		diff, err := changedItems(before, func(f consolestore.Function) string { return f.ID }, change)
		if err != nil {
			return err
		}
		for _, f := range diff.gone {
			if _, err := tx.exec(ctx, "DELETE FROM partnerkit_function WHERE id = $1", f.ID); err != nil {
				return err
			}
		}
		for _, f := range diff.added {
			if _, err := tx.exec(ctx, "INSERT INTO partnerkit_function (id, app_id, name, source, created_at) VALUES ($1, $2, $3, $4, $5)",
				f.ID, appID, f.Name, f.Source, ms(f.CreatedAt)); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("change functions", err)
}
