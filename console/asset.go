package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
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

// Asset is an image that the listing of an app may show.
type Asset struct {
	ID          string // ast_…
	AppID       string
	Kind        AssetKind
	ContentType string // detected from the content, regardless of the declared type
	Width       int    // in pixels
	Height      int
	Size        int // in bytes
	CreatedAt   time.Time
	Data        []byte // the image; nil in lists
}

// NewAsset is an image as its developer sends it.
type NewAsset struct {
	Kind AssetKind
	Data []byte
}

// AssetKind is the purpose of an asset.
type AssetKind string

// The kinds of assets.
const (
	AssetIcon       AssetKind = "icon"
	AssetScreenshot AssetKind = "screenshot"
)

var (
	// ErrAssetInUse says that a listing shows the asset.
	ErrAssetInUse = errors.New("the asset is in use")
	// ErrFull says that the app has as many as it may have.
	ErrFull = errors.New("there is no room for another one")
)

// AssetStore keeps assets. Those of another app are not found: partner.ErrNotFound,
// as for an app that does not exist.
type AssetStore interface {
	// AddAsset adds one with its Data, unless the app has limit of them: [ErrFull]. Of
	// several at once no more than fit are added.
	AddAsset(ctx context.Context, a Asset, limit int) error
	// Assets lists those that a query asks for, oldest first.
	Assets(ctx context.Context, q AssetQuery) ([]Asset, error)
	// DeleteAsset deletes one, unless the live revision or the latest one of the
	// app's listing shows it: [ErrAssetInUse]. Of a deletion and a save that names
	// the asset, at once, one succeeds.
	DeleteAsset(ctx context.Context, appID, assetID string) error
}

// AssetQuery asks for the assets of an app, or for one of them.
type AssetQuery struct {
	AppID   string
	AssetID string // the asset, with its Data; empty: all, without
}

// AddAsset keeps an image of PNG, JPEG or WebP for the listing of an app. Its error is
// one of apierror: 404, that the app is deactivated, 413, or everything that is wrong.
func (c *Console) AddAsset(ctx context.Context, by Actor, appID string, n NewAsset) (Asset, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return Asset{}, err
	}
	if len(n.Data) > MaxAssetBytes {
		return Asset{}, apierror.TooLarge(MaxAssetBytes)
	}
	shape, err := checkImage(n)
	if err != nil {
		return Asset{}, err
	}
	now := stamp.Of(c.cfg.Clock.Now()).Time
	asset := Asset{
		ID: id.New(id.Asset, now), AppID: appID, Kind: n.Kind, ContentType: shape.contentType,
		Width: shape.width, Height: shape.height, Size: len(n.Data), CreatedAt: now, Data: n.Data,
	}
	err = c.changeApp(ctx, by, appID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audit.AssetAdded, appID, asset.ID), c.cfg.Store.AddAsset(ctx, asset, MaxAssets)
	})
	if errors.Is(err, ErrFull) {
		return Asset{}, apierror.Invalid(fmt.Sprintf("an app has at most %d assets", MaxAssets))
	}
	if err != nil {
		return Asset{}, absent("app", err)
	}
	return asset, nil
}

// Assets lists those of an app, oldest first.
func (c *Console) Assets(ctx context.Context, by Actor, appID string) ([]Asset, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return nil, err
	}
	return c.cfg.Store.Assets(ctx, AssetQuery{AppID: appID})
}

// Asset returns one with its Data.
func (c *Console) Asset(ctx context.Context, by Actor, ref Ref) (Asset, error) {
	if _, err := c.App(ctx, by, ref.AppID); err != nil {
		return Asset{}, err
	}
	asset, err := oneAsset(ctx, c.cfg.Store, AssetQuery{AppID: ref.AppID, AssetID: ref.AssetID})
	return asset, absent("asset", err)
}

// oneAsset returns the asset that a query names; partner.ErrNotFound.
func oneAsset(ctx context.Context, store AssetStore, q AssetQuery) (Asset, error) {
	found, err := store.Assets(ctx, q)
	if err == nil && len(found) == 0 {
		err = partner.ErrNotFound
	}
	if err != nil {
		return Asset{}, err
	}
	return found[0], nil
}

// DeleteAsset deletes one. Its error is one of apierror: 404, that the app is
// deactivated, or that the live listing or an open revision shows it (ASSET_IN_USE).
func (c *Console) DeleteAsset(ctx context.Context, by Actor, ref Ref) error {
	err := c.changeApp(ctx, by, ref.AppID, func(ctx context.Context, _ partner.App) (audit.Entry, error) {
		return by.did(audit.AssetDeleted, ref.AppID, ref.AssetID), c.cfg.Store.DeleteAsset(ctx, ref.AppID, ref.AssetID)
	})
	if errors.Is(err, ErrAssetInUse) {
		return apierror.New(apierror.AssetInUse, ref.AssetID)
	}
	return absent("asset", err)
}
