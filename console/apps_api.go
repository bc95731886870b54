package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/oauthserver"
)

func (c *Console) appRoutes() []route {
	return []route{
		{"POST /developer/apps", c.createApp},
		{"GET /developer/apps", c.listApps},
		{"GET /developer/apps/{appId}", c.ofApp(c.serveApp)},
		{"PATCH /developer/apps/{appId}", c.updateApp},
	}
}

// appPayload is an app as its developers see it.
type appPayload struct {
	ID             string                 `json:"id"`
	ClientID       string                 `json:"clientId"`
	Name           string                 `json:"name"`
	Type           oauthserver.ClientType `json:"type"`
	Status         oauthserver.AppStatus  `json:"status"`
	StatusReason   *string                `json:"statusReason"` // what the operator told about the status
	OrganizationID string                 `json:"organizationId"`
	Reviewed       bool                   `json:"reviewed"`
	RedirectURIs   []string               `json:"redirectUris"`
	Scopes         identity.Scopes        `json:"scopes"`
	AppURL         *string                `json:"appUrl"`
	PinnedVersion  *string                `json:"pinnedVersion"`
	CreatedAt      stamp.Time             `json:"createdAt"`
	Version        int64                  `json:"version"`
	ClientSecret   string                 `json:"clientSecret,omitempty"` // once
}

func newAppPayload(a oauthserver.App) appPayload {
	return appPayload{
		ID: a.ID, ClientID: a.ClientID, Name: a.Name, Type: a.Type, Status: a.Status, StatusReason: orNull(a.StatusReason), OrganizationID: a.OrganizationID, Reviewed: a.Reviewed,
		RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, AppURL: orNull(a.AppURL), PinnedVersion: orNull(a.PinnedVersion), CreatedAt: stamp.Of(a.CreatedAt), Version: a.Version,
	}
}

func (c *Console) createApp(w http.ResponseWriter, r *http.Request, by Actor) error {
	var n NewApp
	if err := readBody(r, &n, func() error { _, err := c.newApp(by, n); return err }); err != nil {
		return err
	}
	created, err := c.CreateApp(r.Context(), by, n)
	if err != nil {
		return err
	}
	payload := newAppPayload(created.App)
	payload.ClientSecret = created.Secret
	return apierror.WriteJSON(w, http.StatusCreated, payload)
}

func (c *Console) listApps(w http.ResponseWriter, r *http.Request, by Actor) error {
	page, err := readPage(r)
	if err != nil {
		return err
	}
	apps, err := c.Apps(r.Context(), by, page)
	if err != nil {
		return err
	}
	return listPage(w, apps, newAppPayload)
}

func (c *Console) serveApp(w http.ResponseWriter, _ *http.Request, _ Actor, app oauthserver.App) error {
	return apierror.WriteJSON(w, http.StatusOK, newAppPayload(app))
}

func (c *Console) updateApp(w http.ResponseWriter, r *http.Request, by Actor) error {
	var change AppChange
	check := func() error {
		app, err := c.App(r.Context(), by, r.PathValue("appId"))
		if err == nil {
			_, err = c.appChange(app, change)
		}
		return err
	}
	if err := readBody(r, &change, check); err != nil {
		return err
	}
	app, err := c.UpdateApp(r.Context(), by, r.PathValue("appId"), change)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, newAppPayload(app))
}
