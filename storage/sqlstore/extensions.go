package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Extensions implements consolestore.Store.
func (s *Store) Extensions(ctx context.Context, appID string) ([]consolestore.Extension, error) {
	all, err := readExtensions(ctx, s, s.sql, appID)
	return all, wrap("extensions", err)
}

func readExtensions(ctx context.Context, from storage.Querier, sql *sqlText, appID string) ([]consolestore.Extension, error) {
	var all []consolestore.Extension
	err := storage.Each(ctx, from, sql.of("SELECT id, resource_type, path, label, created_at, updated_at FROM partnerkit_extension WHERE app_id = $1 ORDER BY id"), []any{appID},
		func(scan func(...any) error) error {
			e := consolestore.Extension{AppID: appID}
			var created, updated int64
			err := scan(&e.ID, &e.ResourceType, &e.Path, &e.Label, &created, &updated)
			e.CreatedAt, e.UpdatedAt = fromMS(created), fromMS(updated)
			all = append(all, e)
			return err
		})
	return all, err
}

// ChangeExtensions implements consolestore.Store. It holds the app, which every change of
// its extensions waits for.
func (s *Store) ChangeExtensions(ctx context.Context, appID string, change func(partner.App, []consolestore.Extension) ([]consolestore.Extension, error)) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, err := tx.lockApp(ctx, appID, tx.dialect.ForUpdate)
		if err != nil {
			return err
		}
		before, err := readExtensions(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		diff, err := changedItems(before, func(e consolestore.Extension) string { return e.ID }, func(all []consolestore.Extension) ([]consolestore.Extension, error) { return change(app, all) })
		if err != nil {
			return err
		}
		for _, e := range diff.gone {
			if _, err := tx.exec(ctx, "DELETE FROM partnerkit_extension WHERE id = $1", e.ID); err != nil {
				return err
			}
		}
		for _, e := range diff.changed {
			if _, err := tx.exec(ctx, "UPDATE partnerkit_extension SET resource_type = $2, path = $3, label = $4, updated_at = $5 WHERE id = $1",
				e.ID, e.ResourceType, e.Path, e.Label, ms(e.UpdatedAt)); err != nil {
				return err
			}
		}
		for _, e := range diff.added {
			if _, err := tx.exec(ctx, "INSERT INTO partnerkit_extension (id, app_id, resource_type, path, label, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
				e.ID, appID, e.ResourceType, e.Path, e.Label, ms(e.CreatedAt), ms(e.UpdatedAt)); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("change extensions", err)
}
