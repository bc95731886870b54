package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

func (c *Console) assetRoutes() []route {
	const all, one = "/developer/apps/{appId}/assets", "/developer/apps/{appId}/assets/{assetId}"
	return []route{
		{"POST " + all, c.addAsset},
		{"GET " + all, c.listAssets},
		{"GET " + one, c.serveAsset},
		{"DELETE " + one, c.deleteAsset},
	}
}

type assetPayload struct {
	ID          string                 `json:"id"`
	Kind        consolestore.AssetKind `json:"kind"`
	ContentType string                 `json:"contentType"`
	Width       int                    `json:"width"`
	Height      int                    `json:"height"`
	Size        int                    `json:"size"`
	CreatedAt   stamp.Time             `json:"createdAt"`
}

func newAssetPayload(a consolestore.Asset) assetPayload {
	return assetPayload{
		ID: a.ID, Kind: a.Kind, ContentType: a.ContentType, Width: a.Width, Height: a.Height, Size: a.Size, CreatedAt: stamp.Of(a.CreatedAt),
	}
}

func (c *Console) addAsset(w http.ResponseWriter, r *http.Request, by Actor) error {
	n, err := ReadUpload(w, r)
	if err != nil {
		return err
	}
	asset, err := c.AddAsset(r.Context(), by, r.PathValue("appId"), n)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, newAssetPayload(asset))
}

func (c *Console) listAssets(w http.ResponseWriter, r *http.Request, by Actor) error {
	assets, err := c.Assets(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, assets, newAssetPayload)
}

func (c *Console) serveAsset(w http.ResponseWriter, r *http.Request, by Actor) error {
	asset, err := c.Asset(r.Context(), by, r.PathValue("appId"), r.PathValue("assetId"))
	if err != nil {
		return err
	}
	WriteImage(w, asset)
	return nil
}

// WriteImage sends an asset. Even if its bytes are also valid HTML or script, a browser shows
// them as an image or saves them, and never runs them.
func WriteImage(w http.ResponseWriter, asset consolestore.Asset) {
	h := w.Header()
	h.Set("Content-Type", asset.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(asset.Data)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", `attachment; filename="`+asset.ID+"."+strings.TrimPrefix(asset.ContentType, "image/")+`"`)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	_, _ = w.Write(asset.Data) //nolint:gosec // inert, see above; and a client that leaves is no error
}

func (c *Console) deleteAsset(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteAsset(r.Context(), by, r.PathValue("appId"), r.PathValue("assetId")); err != nil {
		return err
	}
	return noContent(w)
}
