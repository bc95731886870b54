package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/storage"
)

const functionsOf = "SELECT id, name, source, created_at FROM partnerkit_function WHERE app_id = $1"

func scanFunction(appID string, scan func(...any) error) (console.Function, error) {
	f := console.Function{AppID: appID}
	var created int64
	err := scan(&f.ID, &f.Name, &f.Source, &created)
	f.CreatedAt = fromMS(created)
	return f, err
}

// AddFunction implements console.FunctionStore.
func (s *Store) AddFunction(ctx context.Context, f console.Function, limit int) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.roomFor(ctx, f.AppID, "partnerkit_function", limit); err != nil {
			return err
		}
		_, err := tx.exec(ctx, "INSERT INTO partnerkit_function (id, app_id, name, source, created_at) VALUES ($1, $2, $3, $4, $5)",
			f.ID, f.AppID, f.Name, f.Source, ms(f.CreatedAt))
		return err
	})
	return wrap("add function", err)
}

// Functions implements console.FunctionStore.
func (s *Store) Functions(ctx context.Context, appID string) ([]console.Function, error) {
	var all []console.Function
	err := storage.Each(ctx, s, s.sql.of(functionsOf+" ORDER BY id"), []any{appID}, func(scan func(...any) error) error {
		one, err := scanFunction(appID, scan)
		all = append(all, one)
		return err
	})
	return all, wrap("functions", err)
}

// Function implements console.FunctionStore.
func (s *Store) Function(ctx context.Context, appID, functionID string) (console.Function, error) {
	f, err := scanFunction(appID, func(dest ...any) error {
		return s.read(ctx, functionsOf+" AND id = $2", []any{appID, functionID}, dest...)
	})
	return f, wrap("function", notFound(err))
}

// DeleteFunction implements console.FunctionStore.
func (s *Store) DeleteFunction(ctx context.Context, appID, functionID string) error {
	err := changedOne(s.exec(ctx, "DELETE FROM partnerkit_function WHERE app_id = $1 AND id = $2", appID, functionID))
	return wrap("delete function", err)
}
