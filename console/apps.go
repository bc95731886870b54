package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver"
)

func (c *Console) appRoutes() []route {
	return []route{
		{"GET /developer/apps/{appId}", c.ofApp(c.serveApp)},
	}
}

func (c *Console) serveApp(w http.ResponseWriter, _ *http.Request, _ Actor, app oauthserver.App) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"id": app.ID})
}
