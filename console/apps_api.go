package console

import (
	"encoding/json"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

func (c *Console) appRoutes() []route {
	return []route{
		{"POST /developer/apps", c.createApp},
		{"GET /developer/apps", c.listApps},
		{"GET /developer/apps/{appId}", c.ofApp(c.serveApp)},
		{"PATCH /developer/apps/{appId}", c.updateApp},
		{"POST /developer/apps/{appId}/review", c.submitApp},
	}
}

// appPayload is an app as its developers see it.
type appPayload struct {
	ID             string             `json:"id"`
	ClientID       string             `json:"clientId"`
	Name           string             `json:"name"`
	Type           partner.ClientType `json:"type"`
	Status         partner.AppStatus  `json:"status"`
	StatusReason   *string            `json:"statusReason"` // what the operator told about the status
	OrganizationID string             `json:"organizationId"`
	Reviewed       bool               `json:"reviewed"`
	RedirectURIs   []string           `json:"redirectUris"`
	Scopes         identity.Scopes    `json:"scopes"`
	AppURL         *string            `json:"appUrl"`
	PinnedVersion  *string            `json:"pinnedVersion"`
	CustomBusiness *nullable          `json:"customBusinessId,omitempty"` // with the option
	CreatedAt      stamp.Time         `json:"createdAt"`
	Version        int64              `json:"version"`
	Review         reviewPayload      `json:"review"`
	ClientSecret   string             `json:"clientSecret,omitempty"` // once
}

// nullable is a text that is null if it is empty.
type nullable string

// MarshalJSON implements json.Marshaler.
func (n nullable) MarshalJSON() ([]byte, error) { return json.Marshal(jsonapi.OrNull(string(n))) }

// reviewPayload is how far the review of an app has come.
type reviewPayload struct {
	Reviewed bool                       `json:"reviewed"`
	State    consolestore.RevisionState `json:"state,omitempty"` // of what is open
	Pending  *pendingPayload            `json:"pending,omitempty"`
	Decision *decisionPayload           `json:"decision,omitempty"` // the last one
}

// pendingPayload is what no review covers yet.
type pendingPayload struct {
	Name         string   `json:"name,omitempty"`
	RedirectURIs []string `json:"redirectUris,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	AppURL       *string  `json:"appUrl,omitempty"`
	Publisher    string   `json:"publisher,omitempty"`
	Icon         string   `json:"icon,omitempty"`
}

type decisionPayload struct {
	State consolestore.RevisionState `json:"state"`
	Note  string                     `json:"note"`
}

func newReviewPayload(r AppReview) reviewPayload {
	p := reviewPayload{Reviewed: r.IsReviewed}
	if r.HasPending() {
		p.Pending = &pendingPayload{
			Name: r.Pending.Name, RedirectURIs: r.Pending.RedirectURIs, Scopes: r.Pending.Scopes.Names(), AppURL: jsonapi.OrNull(r.Pending.AppURL),
			Publisher: r.Publisher, Icon: r.IconAssetID,
		}
	}
	switch subject := r.Subject(); {
	case subject == nil:
	case subject.State.IsOpen():
		p.State = subject.State
	default:
		p.Decision = &decisionPayload{subject.State, subject.Note}
	}
	return p
}

func (c *Console) newAppPayload(a partner.App, review AppReview) appPayload {
	p := appPayload{
		ID: a.ID, ClientID: a.ClientID, Name: a.Name, Type: a.Type, Status: a.Status, StatusReason: jsonapi.OrNull(a.StatusReason), OrganizationID: a.OrganizationID, Reviewed: a.Reviewed,
		RedirectURIs: a.RedirectURIs, Scopes: a.Scopes, AppURL: jsonapi.OrNull(a.AppURL), PinnedVersion: jsonapi.OrNull(a.PinnedVersion), CreatedAt: stamp.Of(a.CreatedAt), Version: a.Version,
		Review: newReviewPayload(review),
	}
	if c.cfg.OAuth.HasCustomConnections() {
		p.CustomBusiness = new(nullable(a.CustomBusinessID))
	}
	return p
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
	payload := c.newAppPayload(created.App, AppReview{Pending: created.App.Unreviewed()})
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
	reviews, err := ReadReviews(r.Context(), c.cfg.Store, apps.Items...)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, jsonapi.NewPage(apps.Items, apps.NextCursor, func(a partner.App) appPayload { return c.newAppPayload(a, reviews[a.ID]) }))
}

func (c *Console) serveApp(w http.ResponseWriter, r *http.Request, _ Actor, app partner.App) error {
	review, err := c.review(r.Context(), app)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, c.newAppPayload(app, review))
}

func (c *Console) submitApp(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	app, review, err := c.submit(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusAccepted, c.newAppPayload(app, review))
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
	app, review, err := c.updateAndReview(r.Context(), by, r.PathValue("appId"), change)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusOK, c.newAppPayload(app, review))
}
