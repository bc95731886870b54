package pages

import (
	"github.com/partnerkit/partnerkit/console"
)

func assetRoutes() []route {
	const all, one = "/apps/{appId}/assets", "/apps/{appId}/assets/{assetId}"
	return []route{
		{"POST", all, (*visit).addAsset},
		{"GET", one, (*visit).showAsset},
		{"POST", one + "/delete", (*visit).deleteAsset},
	}
}

// assetView is an image, and whether a listing shows it.
type assetView struct {
	console.Asset
	InUse bool
}

func assetViews(assets []console.Asset, listing *console.Listing) []assetView {
	all := make([]assetView, 0, len(assets))
	for _, asset := range assets {
		inUse := listing != nil && (listing.Revision.Shows(asset.ID) || listing.Live != nil && listing.Live.Shows(asset.ID))
		all = append(all, assetView{asset, inUse})
	}
	return all
}

func (v *visit) addAsset() error {
	upload, err := console.ReadUpload(v.w, v.r)
	if err == nil {
		_, err = v.cfg.Console.AddAsset(v.r.Context(), v.by, v.app.ID, upload)
	}
	if err != nil {
		return v.listingAgain(err, nil)
	}
	return v.to(path("apps", v.app.ID, "listing"), "asset-added")
}

// showAsset sends an image, with a policy of its own: it is nothing but an image.
func (v *visit) showAsset() error {
	asset, err := v.cfg.Console.Asset(v.r.Context(), v.by, v.assetRef())
	if err != nil {
		return err
	}
	console.WriteImage(v.w, asset)
	return nil
}

func (v *visit) deleteAsset() error {
	if err := v.cfg.Console.DeleteAsset(v.r.Context(), v.by, v.assetRef()); err != nil {
		return v.listingAgain(err, nil)
	}
	return v.to(path("apps", v.app.ID, "listing"), "asset-deleted")
}

func (v *visit) assetRef() console.Ref {
	return console.Ref{AppID: v.app.ID, AssetID: v.r.PathValue("assetId")}
}
