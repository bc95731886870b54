package operator

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// ErrTrusted says that the documents of a host are trusted already.
var ErrTrusted = errors.New("the host is trusted already")

// Store holds the records of the operator's side and reads those of the features.
type Store interface {
	// Transact runs several operations in one transaction; see console.Store.
	Transact(ctx context.Context, do func(ctx context.Context) error) error
	// RecordAudit adds an entry.
	RecordAudit(ctx context.Context, e audit.Entry) error
	// Audit lists entries, newest first.
	Audit(ctx context.Context, q audit.Query) ([]audit.Entry, error)
	// App returns one; partner.ErrNotFound.
	App(ctx context.Context, id string) (partner.App, error)
	// Apps lists the apps that a query asks for, by id from the last to the first.
	Apps(ctx context.Context, q partner.AppQuery) ([]partner.App, error)
	// UpdateApp changes an app; see oauthstore.Store.
	UpdateApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (partner.App, error)
	// Installations lists the ACTIVE ones that a query asks for.
	Installations(ctx context.Context, q partner.InstallationQuery) ([]partner.Installation, error)
	// UserStatus is identity.UserActive unless another one was set.
	UserStatus(ctx context.Context, userID string) (identity.UserStatus, error)
	console.ReviewStore
	// Assets lists images of an app; see console.AssetStore.
	Assets(ctx context.Context, q console.AssetQuery) ([]console.Asset, error)
	StaffStore
}

// StaffStore has the operations that only the operator's side needs.
type StaffStore interface {
	// Reviews lists the revisions of listings and the apps that were submitted or are in
	// review, of apps that are not deactivated, by the time of their submission from the
	// first to the last.
	Reviews(ctx context.Context, q ReviewQuery) ([]Review, error)
	DocumentStore
	// AddTrustedDocument trusts a host. It returns [ErrTrusted] if the host is already
	// trusted. Exactly one of several simultaneous calls succeeds.
	AddTrustedDocument(ctx context.Context, d TrustedDocument) error
	// RemoveTrustedDocument ends the trust and returns it; partner.ErrNotFound.
	RemoveTrustedDocument(ctx context.Context, documentID string) (TrustedDocument, error)
	// Figures counts what there is, and what happened from since on.
	Figures(ctx context.Context, since time.Time) (Figures, error)
	// CallHours adds up the calls of all apps by hour, of those that begin at since or later, oldest
	// first. Hours without calls are left out.
	CallHours(ctx context.Context, since time.Time) ([]analytics.Hour, error)
	// WebhookHealth lists webhooks, by id.
	WebhookHealth(ctx context.Context, q HealthQuery) ([]WebhookHealth, error)
}

// DocumentStore reads the trusted hosts.
type DocumentStore interface {
	// TrustedDocuments lists them, oldest first.
	TrustedDocuments(ctx context.Context) ([]TrustedDocument, error)
}

// ReviewQuery asks for a part of the review queue.
type ReviewQuery struct {
	AfterTime time.Time // only what was submitted later, or then with a greater id
	AfterID   string
	Limit     int
}

// Review is an entry of the review queue: the revision of a listing, or an app that was
// submitted without one.
type Review struct {
	AppID, AppName, OrganizationID string
	ID                             string // of the revision or the submission
	ListingName                    string // empty without a listing
	State                          console.RevisionState
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

// HealthQuery asks for the webhooks of an app, or for all that are failing.
type HealthQuery struct {
	AppID string // empty: the failing ones of all apps
	Limit int
}

// WebhookHealth is how a webhook does.
type WebhookHealth struct {
	ID, AppID, URL string
	Enabled        bool
	FailingSince   time.Time // zero: it is not failing
}
