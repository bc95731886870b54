package pages

import (
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
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
	consolestore.Asset
	InUse bool
}

func assetViews(assets []consolestore.Asset, listing *consolestore.Listing) []assetView {
	all := make([]assetView, 0, len(assets))
	for _, asset := range assets {
		inUse := listing != nil && (listing.Revision.Shows(asset.ID) || listing.Live != nil && listing.Live.Shows(asset.ID))
		all = append(all, assetView{asset, inUse})
	}
	return all
}

// addAsset adds an image. The form has the fields of the listing too, which are kept.
func (v *visit) addAsset() error {
	upload, values, err := console.ReadUploadForm(v.w, v.r)
	form := bodies.Form(values)
	if err == nil {
		_, err = v.cfg.Console.AddAsset(v.r.Context(), v.by, v.app.ID, upload)
	}
	if err != nil {
		if form != nil {
			form["kind"] = []string{string(upload.Kind)}
		}
		marked := v.mark(err, form, listingFields)
		if site.IsStatus(err, http.StatusRequestEntityTooLarge) {
			marked.problems = map[string]problem{"file": {ID: "file-problem", Text: "File is larger than 5 MB", IsFirst: true}}
		}
		return v.listingAgain(err, marked)
	}
	return v.imagesChanged(form, "asset-added")
}

// imagesChanged leads on after a change of the images. A listing that was being edited is
// shown as it was sent.
func (v *visit) imagesChanged(form bodies.Form, done string) error {
	if !hasListing(form) {
		return v.to(path("apps", v.app.ID, "listing"), done)
	}
	data, err := v.listingPage(filled{Form: form})
	if err != nil {
		return err
	}
	data.IsUnsaved = true
	page := look.Page{Frame: v.frame(listingTitle), Data: data}
	page.Notice = notices[done] + " What you have entered is not saved yet."
	return v.site.Show(v.w, http.StatusOK, "listing", page)
}

// hasListing reports whether a form has the fields of the listing.
func hasListing(form bodies.Form) bool { return form.Has("slug") }

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
	form, err := v.form()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteAsset(v.r.Context(), v.by, v.assetRef()); err != nil {
		return v.listingAgain(err, filled{Form: form})
	}
	for _, field := range []string{"icon", "screenshots"} {
		form[field] = slices.DeleteFunc(form[field], func(id string) bool { return id == v.assetRef().AssetID })
	}
	return v.imagesChanged(form, "asset-deleted")
}

func (v *visit) assetRef() console.Ref {
	return console.Ref{AppID: v.app.ID, AssetID: v.r.PathValue("assetId")}
}
