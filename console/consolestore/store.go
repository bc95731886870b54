// Package consolestore is what the two consoles ask of a store: package console, for the
// developers of apps, and package operator, for the platform's own staff. Both work on the same
// apps, listings, submissions and audit log, so that they share one contract. Authors of stores
// implement [Store]; a host needs no name of it but those of the records that the consoles show.
package consolestore

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Store keeps the records of the two consoles and reads those of the features. All methods are
// safe for concurrent use. What belongs to another app is not found: [partner.ErrNotFound], as
// for an app that does not exist.
type Store interface {
	// Transact runs several operations of the store in one transaction and returns
	// after its commit: each operation under the context that do is given joins it.
	// When do fails, the transaction is rolled back and the error of do is returned.
	// The function do may run more than once.
	Transact(ctx context.Context, do func(ctx context.Context) error) error

	// Apps and what they have.

	// App returns one; [partner.ErrNotFound].
	App(ctx context.Context, id string) (partner.App, error)
	// Apps lists the apps that a query asks for, by id from the last to the first.
	Apps(ctx context.Context, q partner.AppQuery) ([]partner.App, error)
	// LockApp returns an app, which nothing else changes or locks until the transaction of
	// Transact that it is called in ends; [partner.ErrNotFound]. A change of an app, or of what
	// belongs to it, begins with the lock, so that it is decided in the transaction of the
	// change.
	LockApp(ctx context.Context, id string) (partner.App, error)
	// UpdateApp changes an app; see oauthstore.Store.
	UpdateApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (partner.App, error)
	// ClientSecrets lists those of an app, ended ones too, oldest first.
	ClientSecrets(ctx context.Context, appID string) ([]partner.ClientSecret, error)
	// Installations lists the ACTIVE ones that a query asks for, by id from the first to the
	// last.
	Installations(ctx context.Context, q partner.InstallationQuery) ([]partner.Installation, error)
	// BusinessInstallations lists the newest installation of an app in each business, ended
	// ones too, by the ids of the businesses: limit of those after an id.
	BusinessInstallations(ctx context.Context, appID, afterBusinessID string, limit int) ([]partner.Installation, error)
	// Owner returns the app of a webhook, a delivery, a call of the request log or an
	// installation, the webhook of a delivery, and the business of an event. It returns the zero
	// value if there is no such record.
	Owner(ctx context.Context, recordID string) (Owner, error)

	// Users.

	// UserStatus is [identity.UserActive] unless another one was set.
	UserStatus(ctx context.Context, userID string) (identity.UserStatus, error)

	// The audit log, in which the OAuth server records its own entries.

	// RecordAudit adds an entry.
	RecordAudit(ctx context.Context, e audit.Entry) error
	// Audit lists entries, newest first.
	Audit(ctx context.Context, q audit.Query) ([]audit.Entry, error)

	// Events of an app.

	// NumberEvents gives numbers to the events of a business that have none; see
	// eventstore.Store.
	NumberEvents(ctx context.Context, businessID string) (hasMore bool, err error)
	// AppEvents returns numbered events by their ids, from the last to the first.
	AppEvents(ctx context.Context, q EventQuery) ([]partner.Event, error)
	// EventDeliveries returns the deliveries of events to the webhooks of an app that are not
	// deleted, without their bodies, by their ids, from the last to the first.
	EventDeliveries(ctx context.Context, appID string, eventIDs []string) ([]partner.Delivery, error)

	// Listings: of each app the live revision and the latest one. A slug belongs to one app at
	// a time: from the save that names it until neither of these two revisions does.

	// Listing returns the one of an app; [partner.ErrNotFound].
	Listing(ctx context.Context, appID string) (Listing, error)
	// Listings returns the listing of each of the apps that has one, by app.
	Listings(ctx context.Context, appIDs ...string) (map[string]Listing, error)
	// ChangeListing makes an app's listing, or the next step of it, in one transaction. step
	// sees how things stand, under a lock that asset deletion takes too, and returns the latest
	// revision as it should be; under a new id it is another one. The Version of the listing
	// grows by one. What step fails with is returned and changes nothing; it may be called more
	// than once.
	//
	// An approved revision is live from here on, in place of the one before. [ErrSlugTaken];
	// [partner.ErrNotFound] when there is no such app.
	ChangeListing(ctx context.Context, appID string, step func(ListingStanding) (Revision, error)) (Listing, error)

	// Submissions of apps for review, without their listings.

	// Submissions returns the last submission of each of the apps that has one, by app.
	Submissions(ctx context.Context, appIDs ...string) (map[string]Submission, error)
	// SaveSubmission replaces the last submission of its app, or adds the first one.
	SaveSubmission(ctx context.Context, s Submission) error

	// Assets, the images of listings.

	// AddAsset adds one with its Data, unless the app has limit of them: [ErrFull]. Of
	// several at once no more than fit are added.
	AddAsset(ctx context.Context, a Asset, limit int) error
	// Assets lists those of an app without their Data, oldest first.
	Assets(ctx context.Context, appID string) ([]Asset, error)
	// Asset returns one with its Data; [partner.ErrNotFound].
	Asset(ctx context.Context, appID, assetID string) (Asset, error)
	// DeleteAsset deletes one, unless the live revision or the latest one of the
	// app's listing shows it: [ErrAssetInUse]. Of a deletion and a save that names
	// the asset, at once, one succeeds.
	DeleteAsset(ctx context.Context, appID, assetID string) error

	// Extensions and functions.

	// Extensions lists those of an app, oldest first.
	Extensions(ctx context.Context, appID string) ([]Extension, error)
	// ChangeExtensions changes the extensions of an app in one transaction: change gets the
	// app and its extensions as they stand, locked, and returns the extensions as they
	// should be; its error is returned and nothing is changed. It may be called more than
	// once. An extension with a new id is added, and one that is missing is deleted.
	// AppID and CreatedAt of one that stays are kept.
	ChangeExtensions(ctx context.Context, appID string, change func(partner.App, []Extension) ([]Extension, error)) error
	// Functions lists those of an app, oldest first.
	Functions(ctx context.Context, appID string) ([]Function, error)
	// ChangeFunctions changes the functions of an app in one transaction: change gets them
	// as they stand, locked, and returns them as they should be; its error is returned and
	// nothing is changed. It may be called more than once. A function with a new id is
	// added, and one that is missing is deleted. One that stays is not changed.
	ChangeFunctions(ctx context.Context, appID string, change func([]Function) ([]Function, error)) error

	// Console tokens.

	// CreateConsoleToken adds a token, unless its organization has limit tokens that are
	// valid when it is created: [ErrTooManyTokens]. Of tokens that are added at the same time
	// none exceeds the limit.
	CreateConsoleToken(ctx context.Context, t Token, limit int) error
	// ConsoleToken returns the token with a digest, valid or not; [partner.ErrNotFound].
	ConsoleToken(ctx context.Context, digest storage.Digest) (Token, error)
	// ConsoleTokens lists the tokens of an organization that are not revoked, oldest first.
	ConsoleTokens(ctx context.Context, organizationID string) ([]Token, error)
	// RevokeConsoleToken revokes a token of an organization and returns its name. It
	// returns [partner.ErrNotFound] if there is no such token or it is already revoked.
	RevokeConsoleToken(ctx context.Context, organizationID, tokenID string, at time.Time) (name string, err error)

	// The operator's side.

	// Reviews lists the revisions of listings and the apps that were submitted or are in
	// review, of apps that are not deactivated, by the time of their submission from the
	// first to the last and then by id: limit of those after a time and an id.
	Reviews(ctx context.Context, afterTime time.Time, afterID string, limit int) ([]QueuedReview, error)
	// TrustedDocuments lists the trusted hosts, oldest first.
	TrustedDocuments(ctx context.Context) ([]TrustedDocument, error)
	// AddTrustedDocument trusts a host. It returns [ErrTrusted] if the host is already
	// trusted. Exactly one of several simultaneous calls succeeds.
	AddTrustedDocument(ctx context.Context, d TrustedDocument) error
	// RemoveTrustedDocument ends the trust and returns it; [partner.ErrNotFound].
	RemoveTrustedDocument(ctx context.Context, documentID string) (TrustedDocument, error)
	// Figures counts what there is, and what happened from since on.
	Figures(ctx context.Context, since time.Time) (Figures, error)
	// CallHours adds up the calls of all apps by hour, of those that begin at since or later, oldest
	// first. Hours without calls are left out.
	CallHours(ctx context.Context, since time.Time) ([]analytics.Hour, error)
	// WebhookHealth lists the first limit webhooks of an app, by id.
	WebhookHealth(ctx context.Context, appID string, limit int) ([]WebhookHealth, error)
	// FailingWebhooks lists the first limit webhooks of all apps that are failing, by id.
	FailingWebhooks(ctx context.Context, limit int) ([]WebhookHealth, error)
}
