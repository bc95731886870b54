package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/optional"
)

func (c *Console) listingRoutes() []route {
	const listing = "/developer/apps/{appId}/listing"
	return []route{
		{"GET " + listing, c.serveListing},
		{"POST " + listing, c.createListing},
		{"PUT " + listing, c.updateListing},
		{"POST " + listing + "/submit", c.submitListing},
	}
}

// listingBody is the content of a listing as it is sent. What is left out is empty.
type listingBody struct {
	Slug               string   `json:"slug"`
	Name               string   `json:"name"`
	Summary            string   `json:"summary"`
	Description        string   `json:"description"`
	IconAssetID        *string  `json:"iconAssetId"`
	ScreenshotAssetIDs []string `json:"screenshotAssetIds"`
	Publisher          string   `json:"publisher,omitempty"`
	TermsURL           string   `json:"termsUrl,omitempty"`
	PrivacyURL         string   `json:"privacyUrl,omitempty"`
}

func (b listingBody) content() consolestore.ListingContent {
	content := consolestore.ListingContent{
		Slug: b.Slug, Name: b.Name, Summary: b.Summary, Description: b.Description, ScreenshotAssetIDs: b.ScreenshotAssetIDs,
		Publisher: b.Publisher, TermsURL: b.TermsURL, PrivacyURL: b.PrivacyURL,
	}
	if b.IconAssetID != nil {
		content.IconAssetID = *b.IconAssetID
	}
	return content
}

type listingPayload struct {
	Live     *revisionPayload `json:"live"`
	Revision revisionPayload  `json:"revision"`
	Version  int64            `json:"version"`
}

type revisionPayload struct {
	ID    string                     `json:"id"`
	State consolestore.RevisionState `json:"state"`
	listingBody
	Note      string     `json:"note"`
	CreatedAt stamp.Time `json:"createdAt"`
	UpdatedAt stamp.Time `json:"updatedAt"`
}

func newRevisionPayload(r consolestore.Revision) revisionPayload {
	return revisionPayload{
		ID: r.ID, State: r.State, Note: r.Note, CreatedAt: stamp.Of(r.CreatedAt), UpdatedAt: stamp.Of(r.UpdatedAt),
		listingBody: listingBody{
			Slug: r.Slug, Name: r.Name, Summary: r.Summary, Description: r.Description,
			IconAssetID: jsonapi.OrNull(r.IconAssetID), ScreenshotAssetIDs: append([]string{}, r.ScreenshotAssetIDs...),
			Publisher: r.Publisher, TermsURL: r.TermsURL, PrivacyURL: r.PrivacyURL,
		},
	}
}

func writeListing(w http.ResponseWriter, status int, l consolestore.Listing) error {
	payload := listingPayload{Revision: newRevisionPayload(l.Revision), Version: l.Version}
	if l.Live != nil {
		live := newRevisionPayload(*l.Live)
		payload.Live = &live
	}
	return apierror.WriteJSON(w, status, payload)
}

func (c *Console) serveListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	listing, err := c.Listing(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return writeListing(w, http.StatusOK, listing)
}

func readListing(r *http.Request, into any, check func() error) error {
	return readBodyWith("screenshotAssetIds", strictjson.List{Most: maxScreenshots}, r, into, check)
}

func (c *Console) createListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	var body listingBody
	if err := readListing(r, &body, func() error { return checkContent(body.content()) }); err != nil {
		return err
	}
	saved, err := c.CreateListing(r.Context(), by, r.PathValue("appId"), body.content())
	if err != nil {
		return err
	}
	return writeListing(w, http.StatusCreated, saved)
}

func (c *Console) updateListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	var body struct {
		listingBody
		Version optional.Member[int64] `json:"version"`
	}
	check := func() error {
		var v apierror.Validation
		notNull(&v, "version", body.Version)
		if err := v.Include(checkContent(body.content())); err != nil {
			return err
		}
		return v.Err()
	}
	if err := readListing(r, &body, check); err != nil {
		return err
	}
	var v apierror.Validation
	change := ListingChange{ListingContent: body.content(), Version: notNull(&v, "version", body.Version)}
	if err := v.Err(); err != nil {
		return err
	}
	saved, err := c.SaveListing(r.Context(), by, r.PathValue("appId"), change)
	if err != nil {
		return err
	}
	return writeListing(w, http.StatusOK, saved)
}

func (c *Console) submitListing(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := readNothing(r); err != nil {
		return err
	}
	submitted, err := c.SubmitListing(r.Context(), by, r.PathValue("appId"))
	if err != nil {
		return err
	}
	return writeListing(w, http.StatusOK, submitted)
}
