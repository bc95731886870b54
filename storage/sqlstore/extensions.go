package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

const extensionsOf = "SELECT id, resource_type, path, label, created_at, updated_at FROM partnerkit_extension WHERE app_id = $1"

func scanExtension(appID string, scan func(...any) error) (console.Extension, error) {
	e := console.Extension{AppID: appID}
	var created, updated int64
	err := scan(&e.ID, &e.ResourceType, &e.Path, &e.Label, &created, &updated)
	e.CreatedAt, e.UpdatedAt = fromMS(created), fromMS(updated)
	return e, err
}

// AddExtension implements console.ExtensionStore.
func (s *Store) AddExtension(ctx context.Context, e console.Extension, limit int, judge func(oauthserver.App) error) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, err := tx.roomFor(ctx, e.AppID, "partnerkit_extension", limit)
		if err != nil {
			return err
		}
		if err := judge(app); err != nil {
			return err
		}
		_, err = tx.exec(ctx, "INSERT INTO partnerkit_extension (id, app_id, resource_type, path, label, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			e.ID, e.AppID, e.ResourceType, e.Path, e.Label, ms(e.CreatedAt), ms(e.UpdatedAt))
		return err
	})
	return wrap("add extension", err)
}

// Extensions implements console.ExtensionStore.
func (s *Store) Extensions(ctx context.Context, appID string) ([]console.Extension, error) {
	var all []console.Extension
	err := storage.Each(ctx, s, s.sql.of(extensionsOf+" ORDER BY id"), []any{appID}, func(scan func(...any) error) error {
		one, err := scanExtension(appID, scan)
		all = append(all, one)
		return err
	})
	return all, wrap("extensions", err)
}

// Extension implements console.ExtensionStore.
func (s *Store) Extension(ctx context.Context, appID, extensionID string) (console.Extension, error) {
	e, err := scanExtension(appID, func(dest ...any) error {
		return s.read(ctx, extensionsOf+" AND id = $2", []any{appID, extensionID}, dest...)
	})
	return e, wrap("extension", notFound(err))
}

// UpdateExtension implements console.ExtensionStore. It holds the app, then the
// extension.
func (s *Store) UpdateExtension(ctx context.Context, appID, extensionID string, change func(oauthserver.App, console.Extension) (console.Extension, error)) (console.Extension, error) {
	var changed console.Extension
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		app, err := tx.lockApp(ctx, appID, tx.dialect.ForShare)
		if err != nil {
			return err
		}
		before, err := scanExtension(appID, func(dest ...any) error {
			return tx.one(ctx, extensionsOf+" AND id = $2"+tx.dialect.ForUpdate, []any{appID, extensionID}, dest...)
		})
		if err != nil {
			return notFound(err)
		}
		if changed, err = change(app, before); err != nil {
			return err
		}
		changed.ID, changed.AppID, changed.CreatedAt = before.ID, before.AppID, before.CreatedAt
		_, err = tx.exec(ctx, "UPDATE partnerkit_extension SET resource_type = $2, path = $3, label = $4, updated_at = $5 WHERE id = $1",
			changed.ID, changed.ResourceType, changed.Path, changed.Label, ms(changed.UpdatedAt))
		return err
	})
	return changed, wrap("update extension", err)
}

// DeleteExtension implements console.ExtensionStore.
func (s *Store) DeleteExtension(ctx context.Context, appID, extensionID string) error {
	err := changedOne(s.exec(ctx, "DELETE FROM partnerkit_extension WHERE app_id = $1 AND id = $2", appID, extensionID))
	return wrap("delete extension", err)
}
