package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const assetColumns = "id, kind, content_type, width, height, size, created_at"

// assetRow scans a row of assetColumns.
type assetRow struct {
	asset   consolestore.Asset
	created int64
}

func (r *assetRow) dest() []any {
	a := &r.asset
	return []any{&a.ID, &a.Kind, &a.ContentType, &a.Width, &a.Height, &a.Size, &r.created}
}

func (r *assetRow) value() consolestore.Asset {
	r.asset.CreatedAt = fromMS(r.created)
	return r.asset
}

// AddAsset implements consolestore.Store.
func (s *Store) AddAsset(ctx context.Context, a consolestore.Asset, limit int) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.roomFor(ctx, a.AppID, "partnerkit_asset", limit); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `INSERT INTO partnerkit_asset (id, app_id, kind, content_type, width, height, size, created_at, data)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			a.ID, a.AppID, string(a.Kind), a.ContentType, a.Width, a.Height, a.Size, ms(a.CreatedAt), a.Data)
		return err
	})
	return wrap("add asset", err)
}

// roomFor locks an app that has fewer than limit rows in a table. A concurrent insert for
// the same app waits, so that the count stays correct.
func (t *tx) roomFor(ctx context.Context, appID, table string, limit int) (partner.App, error) {
	app, err := t.lockApp(ctx, appID, t.dialect.ForUpdate)
	if err != nil {
		return app, err
	}
	var has int
	if err := t.one(ctx, "SELECT COUNT(*) FROM "+table+" WHERE app_id = $1", []any{appID}, &has); err != nil {
		return app, err
	}
	if has >= limit {
		return app, consolestore.ErrFull
	}
	return app, nil
}

// Assets implements consolestore.Store.
func (s *Store) Assets(ctx context.Context, appID string) ([]consolestore.Asset, error) {
	all, err := readAssets(ctx, s, s.sql, appID)
	return all, wrap("assets", err)
}

// Asset implements consolestore.Store.
func (s *Store) Asset(ctx context.Context, appID, assetID string) (consolestore.Asset, error) {
	row := assetRow{asset: consolestore.Asset{AppID: appID}}
	err := s.read(ctx, "SELECT "+assetColumns+", data FROM partnerkit_asset WHERE app_id = $1 AND id = $2", []any{appID, assetID}, append(row.dest(), &row.asset.Data)...)
	if err != nil {
		return consolestore.Asset{}, wrap("asset", notFound(err))
	}
	return row.value(), nil
}

func readAssets(ctx context.Context, from storage.Querier, sql *sqlText, appID string) ([]consolestore.Asset, error) {
	var all []consolestore.Asset
	err := storage.Each(ctx, from, sql.of("SELECT "+assetColumns+" FROM partnerkit_asset WHERE app_id = $1 ORDER BY id"), []any{appID},
		func(scan func(...any) error) error {
			row := assetRow{asset: consolestore.Asset{AppID: appID}}
			if err := scan(row.dest()...); err != nil {
				return err
			}
			all = append(all, row.value())
			return nil
		})
	return all, err
}

// DeleteAsset implements consolestore.Store. It holds the app as a save does.
func (s *Store) DeleteAsset(ctx context.Context, appID, assetID string) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if _, err := tx.lockApp(ctx, appID, tx.dialect.ForUpdate); err != nil {
			return err
		}
		listings, err := readListings(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		if listing := listings[appID]; listing.Revision.Shows(assetID) || listing.Live != nil && listing.Live.Shows(assetID) {
			return consolestore.ErrAssetInUse
		}
		return changedOne(tx.exec(ctx, "DELETE FROM partnerkit_asset WHERE app_id = $1 AND id = $2", appID, assetID))
	})
	return wrap("delete asset", err)
}
