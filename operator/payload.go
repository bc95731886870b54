package operator

import (
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

type appPayload struct {
	ID             string             `json:"id"`
	ClientID       string             `json:"clientId"`
	Name           string             `json:"name"`
	OrganizationID *string            `json:"organizationId"`
	Type           partner.ClientType `json:"type"`
	Status         partner.AppStatus  `json:"status"`
	StatusReason   *string            `json:"statusReason"`
	Reviewed       bool               `json:"reviewed"`
	Origin         partner.AppOrigin  `json:"origin"`
	CreatedAt      stamp.Time         `json:"createdAt"`
}

func newAppPayload(a partner.App) appPayload {
	return appPayload{
		ID: a.ID, ClientID: a.ClientID, Name: a.Name, OrganizationID: jsonapi.OrNull(a.OrganizationID), Type: a.Type, Status: a.Status,
		StatusReason: jsonapi.OrNull(a.StatusReason), Reviewed: a.Reviewed, Origin: a.Origin, CreatedAt: stamp.Of(a.CreatedAt),
	}
}

type detailsPayload struct {
	appPayload
	RedirectURIs  []string              `json:"redirectUris"`
	Scopes        identity.Scopes       `json:"scopes"`
	AppURL        *string               `json:"appUrl"`
	CustomID      string                `json:"customBusinessId,omitempty"` // the business of a custom connection
	Installations []installationPayload `json:"installations"`
	Webhooks      []healthPayload       `json:"webhooks"`
	Calls         callsPayload          `json:"calls"`
	Limits        []limitPayload        `json:"limits"`
	Listing       *listingPayload       `json:"listing"`
	Review        appReviewPayload      `json:"review"`
	History       []auditPayload        `json:"history"`
}

type installationPayload struct {
	BusinessID  string                     `json:"businessId"`
	Status      partner.InstallationStatus `json:"status"`
	Scopes      identity.Scopes            `json:"scopes"`
	InstalledAt stamp.Time                 `json:"installedAt"`
}

// callsPayload is of the last 30 days in an app, and of the last 24 hours in figures.
type callsPayload struct {
	Calls       int64 `json:"calls"`
	Errors      int64 `json:"errors"`
	RateLimited int64 `json:"rateLimited"`
}

func newDetailsPayload(d AppDetails) detailsPayload {
	total := d.Calls.Totals
	p := detailsPayload{
		appPayload: newAppPayload(d.App), RedirectURIs: append([]string{}, d.RedirectURIs...), Scopes: d.Scopes, AppURL: jsonapi.OrNull(d.AppURL), CustomID: d.CustomBusinessID,
		Installations: jsonapi.Convert(d.Installations, func(i partner.Installation) installationPayload {
			return installationPayload{i.BusinessID, i.Status, i.Scopes, stamp.Of(i.CreatedAt)}
		}),
		Webhooks: jsonapi.Convert(d.Webhooks, newHealthPayload),
		Calls:    callsPayload{total.Calls, total.Errors, total.RateLimited},
		Limits:   jsonapi.Convert(d.Limits, newLimitPayload),
		History:  jsonapi.Convert(d.History, newAuditPayload),
		Review:   newAppReviewPayload(d.Review),
	}
	if d.Review.Listing != nil {
		listing := newListingPayload(*d.Review.Listing)
		p.Listing = &listing
	}
	return p
}

type limitPayload struct {
	Name       console.LimitName `json:"name"`
	BusinessID string            `json:"businessId,omitempty"`
	Limit      int               `json:"limit"`
	Window     int               `json:"windowSeconds,omitempty"` // left out for a minute
	Used       int               `json:"used"`
	ResetsAt   stamp.Time        `json:"resetsAt"`
}

func newLimitPayload(u console.LimitUse) limitPayload {
	return limitPayload{u.Name, u.BusinessID, u.Limit, u.WindowSeconds(), u.Used, stamp.Of(u.ResetsAt)}
}

type healthPayload struct {
	ID           string      `json:"id"`
	AppID        string      `json:"appId"`
	URL          string      `json:"url"`
	Enabled      bool        `json:"enabled"`
	Failing      bool        `json:"failing"`
	FailingSince *stamp.Time `json:"failingSince"`
}

func newHealthPayload(h consolestore.WebhookHealth) healthPayload {
	return healthPayload{h.ID, h.AppID, h.URL, h.Enabled, !h.FailingSince.IsZero(), stamp.OrNull(h.FailingSince)}
}

type reviewPayload struct {
	AppID          string                     `json:"appId"`
	AppName        string                     `json:"appName"`
	OrganizationID string                     `json:"organizationId"`
	RevisionID     *string                    `json:"revisionId"` // null without a listing
	Name           string                     `json:"name"`
	State          consolestore.RevisionState `json:"state"`
	ReviewerID     *string                    `json:"reviewerId"`
	SubmittedAt    stamp.Time                 `json:"submittedAt"`
}

func newReviewPayload(r consolestore.QueuedReview) reviewPayload {
	p := reviewPayload{r.AppID, r.AppName, r.OrganizationID, nil, r.AppName, r.State, jsonapi.OrNull(r.ReviewerID), stamp.Of(r.SubmittedAt)}
	if r.ListingName != "" {
		p.RevisionID, p.Name = &r.ID, r.ListingName
	}
	return p
}

// appReviewPayload is what was submitted of an app beside what was reviewed last.
type appReviewPayload struct {
	Current   *profilePayload `json:"current"`   // null: it was never reviewed
	Submitted *subjectPayload `json:"submitted"` // null: nothing was
}

type profilePayload struct {
	Name         string          `json:"name"`
	RedirectURIs []string        `json:"redirectUris"`
	Scopes       identity.Scopes `json:"scopes"`
	AppURL       *string         `json:"appUrl"`
	Publisher    *string         `json:"publisher"`
	IconAssetID  *string         `json:"icon"`
}

type subjectPayload struct {
	profilePayload
	ID          string                     `json:"id"`
	State       consolestore.RevisionState `json:"state"`
	Note        string                     `json:"note"`
	ReviewerID  *string                    `json:"reviewerId"`
	SubmittedAt stamp.Time                 `json:"submittedAt"`
}

// newProfilePayload returns a profile with what a revision of the listing adds to it; nil: it
// has none.
func newProfilePayload(p partner.Profile, r *consolestore.Revision) profilePayload {
	payload := profilePayload{Name: p.Name, RedirectURIs: append([]string{}, p.RedirectURIs...), Scopes: p.Scopes, AppURL: jsonapi.OrNull(p.AppURL)}
	if r != nil {
		payload.Publisher, payload.IconAssetID = jsonapi.OrNull(r.Publisher), jsonapi.OrNull(r.IconAssetID)
	}
	return payload
}

func newAppReviewPayload(r AppReview) appReviewPayload {
	var p appReviewPayload
	if r.App.Reviewed {
		current := newProfilePayload(r.App.ReviewedAs, r.Live())
		p.Current = &current
	}
	if subject := r.Subject(); subject != nil {
		revision := r.Live()
		if subject.OfListing() {
			revision = subject.Revision
		}
		p.Submitted = &subjectPayload{
			newProfilePayload(subject.App, revision), subject.ID, subject.State, subject.Note, jsonapi.OrNull(subject.ReviewerID), stamp.Of(subject.SubmittedAt),
		}
	}
	return p
}

type listingPayload struct {
	Live     *revisionPayload `json:"live"`
	Revision revisionPayload  `json:"revision"`
}

type revisionPayload struct {
	ID                 string                     `json:"id"`
	State              consolestore.RevisionState `json:"state"`
	Slug               string                     `json:"slug"`
	Name               string                     `json:"name"`
	Summary            string                     `json:"summary"`
	Description        string                     `json:"description"`
	IconAssetID        *string                    `json:"iconAssetId"`
	ScreenshotAssetIDs []string                   `json:"screenshotAssetIds"`
	Publisher          string                     `json:"publisher"`
	TermsURL           string                     `json:"termsUrl"`
	PrivacyURL         string                     `json:"privacyUrl"`
	Note               string                     `json:"note"`
	ReviewerID         *string                    `json:"reviewerId"`
	SubmittedAt        *stamp.Time                `json:"submittedAt"`
	CreatedAt          stamp.Time                 `json:"createdAt"`
	UpdatedAt          stamp.Time                 `json:"updatedAt"`
}

func newListingPayload(l consolestore.Listing) listingPayload {
	p := listingPayload{Revision: newRevisionPayload(l.Revision)}
	if l.Live != nil {
		live := newRevisionPayload(*l.Live)
		p.Live = &live
	}
	return p
}

func newRevisionPayload(r consolestore.Revision) revisionPayload {
	return revisionPayload{
		ID: r.ID, State: r.State, Slug: r.Slug, Name: r.Name, Summary: r.Summary, Description: r.Description,
		IconAssetID: jsonapi.OrNull(r.IconAssetID), ScreenshotAssetIDs: append([]string{}, r.ScreenshotAssetIDs...),
		Publisher: r.Publisher, TermsURL: r.TermsURL, PrivacyURL: r.PrivacyURL, Note: r.Note, ReviewerID: jsonapi.OrNull(r.ReviewerID),
		SubmittedAt: stamp.OrNull(r.SubmittedAt), CreatedAt: stamp.Of(r.CreatedAt), UpdatedAt: stamp.Of(r.UpdatedAt),
	}
}

type userPayload struct {
	ID       string              `json:"id"`
	Name     string              `json:"name"`
	Email    *string             `json:"email"`
	Operator bool                `json:"operator"`
	Status   identity.UserStatus `json:"status"`
}

func newUserPayload(u UserDetails) userPayload {
	return userPayload{u.ID, u.Name, jsonapi.OrNull(u.Email), u.IsOperator, u.Status}
}

type documentPayload struct {
	ID        string     `json:"id"`
	Host      string     `json:"host"`
	CreatedAt stamp.Time `json:"createdAt"`
}

func newDocumentPayload(d consolestore.TrustedDocument) documentPayload {
	return documentPayload{d.ID, d.Host, stamp.Of(d.CreatedAt)}
}

type auditPayload struct {
	ID        string       `json:"id"`
	AppID     *string      `json:"appId"`
	UserID    *string      `json:"userId"`
	Action    audit.Action `json:"action"`
	Target    *string      `json:"target"`
	Reason    *string      `json:"reason"`
	Detail    string       `json:"detail,omitempty"`
	Token     string       `json:"token,omitempty"` // the name of the console token
	CreatedAt stamp.Time   `json:"createdAt"`
}

func newAuditPayload(e audit.Entry) auditPayload {
	return auditPayload{e.ID, jsonapi.OrNull(e.AppID), jsonapi.OrNull(e.UserID), e.Action, jsonapi.OrNull(e.Target), jsonapi.OrNull(e.Reason), e.Detail, e.Token, stamp.Of(e.At)}
}

type figuresPayload struct {
	Since stamp.Time `json:"since"`
	callsPayload
	Apps struct {
		Active      int `json:"active"`
		Suspended   int `json:"suspended"`
		Deactivated int `json:"deactivated"`
	} `json:"apps"`
	Installations int `json:"installations"`
	Deliveries    struct {
		Created int64 `json:"created"`
		Failed  int64 `json:"failed"`
		Queued  int64 `json:"queued"`
	} `json:"deliveries"`
	Reviews         int             `json:"reviews"`
	FailingWebhooks int             `json:"failingWebhooks"`
	Failing         []healthPayload `json:"failing"`
}

func newFiguresPayload(f PlatformFigures) figuresPayload {
	p := figuresPayload{
		Since: stamp.Of(f.Since), callsPayload: callsPayload{f.Calls, f.Errors, f.RateLimited}, Installations: f.Installations,
		Reviews: f.Reviews, FailingWebhooks: f.FailingWebhooks, Failing: jsonapi.Convert(f.Failing, newHealthPayload),
	}
	p.Apps.Active, p.Apps.Suspended, p.Apps.Deactivated = f.Apps[partner.AppActive], f.Apps[partner.AppSuspended], f.Apps[partner.AppDeactivated]
	p.Deliveries.Created, p.Deliveries.Failed, p.Deliveries.Queued = f.Deliveries, f.FailedDeliveries, f.QueuedDeliveries
	return p
}
