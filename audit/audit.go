// Package audit is the audit log of apps: who did what to an app, and when.
//
// An [Entry] records one change. The operation that makes the change writes the entry in
// the same transaction, so that neither exists without the other. Entries are kept for
// [Retention].
package audit

import (
	"time"
)

// Retention is how long entries are kept.
const Retention = 365 * 24 * time.Hour

// Entry is one change to an app: who made it, and when.
type Entry struct {
	ID     string // aud_…, sorted by time
	AppID  string // empty when it is about no app
	UserID string // empty when the service itself made it
	// ByDeveloper reports whether it was made in the developer console. The app's developers
	// do not see the UserID of any other entry.
	ByDeveloper bool
	// Token is the name of the console token with which it was made; empty: the user was
	// signed in.
	Token  string
	Action Action
	// Target is the id of what was changed, if that is not the app.
	Target string
	// Detail describes the change; may be empty.
	Detail string
	// Reason is the reason that an operator gave; empty in entries of others.
	Reason string
	At     time.Time
}

// Query asks for entries: those of an app, all of them, or those about no app that
// developers made for one of some organizations.
type Query struct {
	AppID           string   // empty: All or OrganizationIDs are asked for
	All             bool     // ignored when AppID is set
	OrganizationIDs []string // ignored when AppID or All is set

	UserID       string    // only entries of this user; empty: of any user
	Action       Action    // only entries of this kind; empty: of any kind
	Since, Until time.Time // only entries from Since on and before Until; zero: at any time

	Before string // only entries with a smaller id; empty: from the newest on
	Limit  int
}

// Action is the kind of a change.
type Action string

// What people decide about an app outside of the console. The target is the business, if
// there is one.
const (
	ConsentAllowed Action = "consent.allowed"
	ConsentDenied  Action = "consent.denied"
	ConsentRevoked Action = "consent.revoked"
	DeviceAllowed  Action = "device.allowed"
	DeviceDenied   Action = "device.denied"
	AccessRevoked  Action = "access.revoked"

	CustomConnectionAllowed Action = "custom_connection.allowed"
	CustomConnectionDenied  Action = "custom_connection.denied"

	Uninstalled Action = "app.uninstalled"

	// ConnectionTakenOver: the user lends the app in the business what people who left had
	// allowed.
	ConnectionTakenOver Action = "connection.taken_over"
)

// What developers do in the console.
const (
	AppCreated Action = "app.created"
	AppUpdated Action = "app.updated"
	// CustomConnectionEnded is recorded when an app no longer names the business that has
	// approved its custom connection. The target is the business.
	CustomConnectionEnded Action = "custom_connection.ended"

	SecretCreated Action = "secret.created"
	SecretEnded   Action = "secret.ended"

	WebhookCreated       Action = "webhook.created"
	WebhookUpdated       Action = "webhook.updated"
	WebhookDeleted       Action = "webhook.deleted"
	WebhookSecretRotated Action = "webhook.secret_rotated"
	WebhookTested        Action = "webhook.tested"
	WebhookChallenged    Action = "webhook.challenged"
	DeliveryRedelivered  Action = "delivery.redelivered"
	DeliveryAttemptedNow Action = "delivery.attempted_now"
	// WebhookRedelivered is about many deliveries; its target is the webhook.
	WebhookRedelivered Action = "webhook.redelivered"

	FieldCreated Action = "app_data_field.created"
	FieldUpdated Action = "app_data_field.updated"
	FieldDeleted Action = "app_data_field.deleted"

	ListingSaved     Action = "listing.saved"
	ListingSubmitted Action = "listing.submitted"
	// ReviewSubmitted is about an app without its listing; its target is the submission.
	ReviewSubmitted Action = "review.submitted"

	AssetAdded       Action = "asset.added"
	AssetDeleted     Action = "asset.deleted"
	ExtensionAdded   Action = "extension.added"
	ExtensionUpdated Action = "extension.updated"
	ExtensionDeleted Action = "extension.deleted"
	FunctionAdded    Action = "function.added"
	FunctionDeleted  Action = "function.deleted"

	// RegistrationTokenCreated is about no app; its target is the organization.
	RegistrationTokenCreated Action = "registration_token.created"

	// What is done with console tokens is about no app either; the target is the
	// organization.
	ConsoleTokenCreated Action = "console_token.created"
	ConsoleTokenRevoked Action = "console_token.revoked"
)

// WebhookDisabled is recorded when the service switches off a webhook that has failed for too
// long. The target is the webhook.
const WebhookDisabled Action = "webhook.disabled"

// What a reviewer does with a listing.
const (
	ListingInReview         Action = "listing.in_review"
	ListingChangesRequested Action = "listing.changes_requested"
	ListingRejected         Action = "listing.rejected"
	ListingApproved         Action = "listing.approved"
)

// What a reviewer does with an app that was submitted without its listing.
const (
	ReviewInReview         Action = "review.in_review"
	ReviewChangesRequested Action = "review.changes_requested"
	ReviewRejected         Action = "review.rejected"
	ReviewApproved         Action = "review.approved"
)

// What the operator does. Status changes of an app are about it; the target of those of a
// user is the user, and that of trust is the host of the documents.
const (
	AppSuspended   Action = "app.suspended"
	AppReactivated Action = "app.reactivated"
	AppDeactivated Action = "app.deactivated"

	UserSuspended   Action = "user.suspended"
	UserRestricted  Action = "user.restricted"
	UserReactivated Action = "user.reactivated"
	// UserErased has the target partner.ErasedUser: the id is not kept.
	UserErased Action = "user.erased"

	// BusinessErased has the target oauthserver.ErasedBusiness: the id is not kept.
	BusinessErased Action = "business.erased"

	// What an operator looked at, of an app.
	DeliveriesViewed Action = "app.deliveries_viewed"
	RequestsViewed   Action = "app.requests_viewed"
	// OperatorUninstalled has the business as its target.
	OperatorUninstalled Action = "installation.uninstalled"

	DocumentTrustAdded   Action = "document_trust.added"
	DocumentTrustRemoved Action = "document_trust.removed"
)
