package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	// MaxAssetBytes is how large an asset may be.
	MaxAssetBytes = 5 << 20
	// MaxAssets is how many an app may have.
	MaxAssets = 50
)

// NewAsset is an image as its developer sends it.
type NewAsset struct {
	Kind consolestore.AssetKind
	Data []byte
}

// AddAsset keeps an image of PNG, JPEG or WebP for the listing of an app. Its error is
// one of apierror: 404, that the app is deactivated, 413, or everything that is wrong.
func (c *Console) AddAsset(ctx context.Context, by Actor, appID string, n NewAsset) (consolestore.Asset, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return consolestore.Asset{}, err
	}
	if len(n.Data) > MaxAssetBytes {
		return consolestore.Asset{}, apierror.TooLarge(MaxAssetBytes)
	}
	shape, err := checkImage(n)
	if err != nil {
		return consolestore.Asset{}, err
	}
	now := stamp.Of(c.cfg.Clock.Now()).Time
	asset := consolestore.Asset{
		ID: id.New(id.Asset, now), AppID: appID, Kind: n.Kind, ContentType: shape.contentType,
		Width: shape.width, Height: shape.height, Size: len(n.Data), CreatedAt: now, Data: n.Data,
	}
	err = c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.AssetAdded, appID, asset.ID), c.cfg.Store.AddAsset(ctx, asset, MaxAssets)
	})
	if errors.Is(err, consolestore.ErrFull) {
		return consolestore.Asset{}, apierror.Invalid(fmt.Sprintf("an app has at most %d assets", MaxAssets))
	}
	if err != nil {
		return consolestore.Asset{}, absent("app", err)
	}
	return asset, nil
}

// Assets lists those of an app, oldest first.
func (c *Console) Assets(ctx context.Context, by Actor, appID string) ([]consolestore.Asset, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Store.Assets(ctx, appID)
}

// Asset returns one with its Data.
func (c *Console) Asset(ctx context.Context, by Actor, appID, assetID string) (consolestore.Asset, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return consolestore.Asset{}, err
	}
	asset, err := c.cfg.Store.Asset(ctx, appID, assetID)
	return asset, absent("asset", err)
}

// DeleteAsset deletes one. Its error is one of apierror: 404, that the app is
// deactivated, or that the live listing or an open revision shows it (ASSET_IN_USE).
func (c *Console) DeleteAsset(ctx context.Context, by Actor, appID, assetID string) error {
	err := c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audited.AssetDeleted, appID, assetID), c.cfg.Store.DeleteAsset(ctx, appID, assetID)
	})
	if errors.Is(err, consolestore.ErrAssetInUse) {
		return codes.AssetInUse.New(assetID)
	}
	return absent("asset", err)
}
