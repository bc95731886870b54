package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

func (c *Console) extensionRoutes() []route {
	const all, one = "/developer/apps/{appId}/extensions", "/developer/apps/{appId}/extensions/{extensionId}"
	return []route{
		{"POST " + all, c.addExtension},
		{"GET " + all, c.listExtensions},
		{"GET " + one, c.serveExtension},
		{"PATCH " + one, c.updateExtension},
		{"DELETE " + one, c.deleteExtension},
	}
}

type extensionPayload struct {
	ID           string     `json:"id"`
	ResourceType string     `json:"resourceType"`
	Path         string     `json:"path"`
	Label        string     `json:"label"`
	CreatedAt    stamp.Time `json:"createdAt"`
	UpdatedAt    stamp.Time `json:"updatedAt"`
}

func newExtensionPayload(e consolestore.Extension) extensionPayload {
	return extensionPayload{ID: e.ID, ResourceType: e.ResourceType, Path: e.Path, Label: e.Label, CreatedAt: stamp.Of(e.CreatedAt), UpdatedAt: stamp.Of(e.UpdatedAt)}
}

// readExtension reads a body whose strings checkExtension checks for control characters, NUL
// among them: in a path it is EXTENSION_PATH_INVALID.
func readExtension(r *http.Request, into any, check func() error) error {
	return strictjson.Decode(r, into, strictjson.Limits{AllowNUL: true, Check: check})
}

func (c *Console) addExtension(w http.ResponseWriter, r *http.Request, by Actor) error {
	var n NewExtension
	check := func() error {
		return c.checkTexts(consolestore.Extension{ResourceType: n.ResourceType, Path: n.Path, Label: n.Label})
	}
	if err := readExtension(r, &n, check); err != nil {
		return err
	}
	added, err := c.AddExtension(r.Context(), by, r.PathValue("appId"), n)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, newExtensionPayload(added))
}

func (c *Console) listExtensions(w http.ResponseWriter, r *http.Request, by Actor) error {
	extensions, err := c.Extensions(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, extensions, newExtensionPayload)
}

func (c *Console) serveExtension(w http.ResponseWriter, r *http.Request, by Actor) error {
	extension, err := c.Extension(r.Context(), by, r.PathValue("appId"), r.PathValue("extensionId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newExtensionPayload(extension))
}

func (c *Console) updateExtension(w http.ResponseWriter, r *http.Request, by Actor) error {
	var change ExtensionChange
	check := func() error {
		was, err := c.Extension(r.Context(), by, r.PathValue("appId"), r.PathValue("extensionId"))
		if err != nil {
			return err
		}
		return c.checkExtensionChange(was, change)
	}
	if err := readExtension(r, &change, check); err != nil {
		return err
	}
	changed, err := c.UpdateExtension(r.Context(), by, r.PathValue("appId"), r.PathValue("extensionId"), change)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newExtensionPayload(changed))
}

func (c *Console) deleteExtension(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.DeleteExtension(r.Context(), by, r.PathValue("appId"), r.PathValue("extensionId")); err != nil {
		return err
	}
	return noContent(w)
}
