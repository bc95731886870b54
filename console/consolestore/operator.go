package consolestore

import (
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/partner"
)

// ErrTrusted says that the documents of a host are trusted already.
var ErrTrusted = errors.New("the host is trusted already")

// QueuedReview is an entry of the review queue: the revision of a listing, or an app that was
// submitted without one.
type QueuedReview struct {
	AppID, AppName, OrganizationID string
	ID                             string // of the revision or the submission
	ListingName                    string // empty without a listing
	State                          RevisionState
	ReviewerID                     string // empty until an operator takes it
	SubmittedAt                    time.Time
}

// TrustedDocument is a host whose client metadata documents count as reviewed.
type TrustedDocument struct {
	ID        string // tdh_…
	Host      string // or the beginning of an https URL; see oauthserver.NormalizeTrust
	CreatedAt time.Time
}

// Figures are figures of the whole platform.
type Figures struct {
	Apps             map[partner.AppStatus]int
	Installations    int   // active ones
	Calls            int64 // of apps since the beginning of the period
	Errors           int64 // of Calls
	RateLimited      int64 // of Calls
	Deliveries       int64 // created since the beginning of the period
	FailedDeliveries int64 // of Deliveries
	QueuedDeliveries int64 // at the moment, retrying ones included
	FailingWebhooks  int   // at the moment
	Reviews          int   // in the review queue
}

// WebhookHealth says whether a webhook is enabled and failing.
type WebhookHealth struct {
	ID, AppID, URL string
	Enabled        bool
	FailingSince   time.Time // zero: it is not failing
}
