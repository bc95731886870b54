// Package audit is the audit log of apps: who did what to an app, and when.
//
// An [Entry] tells of one change. The operation that makes the change writes the entry in
// the same transaction, so that neither exists without the other. Entries are kept for
// [Retention].
package audit

import "time"

// Retention is how long entries are kept.
const Retention = 365 * 24 * time.Hour

// Entry is one change to an app: who made it, and when.
type Entry struct {
	ID     string // aud_…, sorted by time
	AppID  string // empty when it is about no app
	UserID string // empty when the service itself made it
	// ByDeveloper says that it was made in the developer console. The app's developers
	// do not see the UserID of any other entry.
	ByDeveloper bool
	Action      Action
	// Target is the id of what was changed, if that is not the app.
	Target string
	At     time.Time
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
	Uninstalled    Action = "app.uninstalled"
)

// What developers do in the console.
const (
	AppCreated Action = "app.created"
	AppUpdated Action = "app.updated"

	SecretCreated Action = "secret.created"
	SecretEnded   Action = "secret.ended"

	WebhookCreated       Action = "webhook.created"
	WebhookUpdated       Action = "webhook.updated"
	WebhookDeleted       Action = "webhook.deleted"
	WebhookSecretRotated Action = "webhook.secret_rotated"
	WebhookTested        Action = "webhook.tested"
	DeliveryRedelivered  Action = "delivery.redelivered"

	FieldCreated Action = "app_data_field.created"
	FieldUpdated Action = "app_data_field.updated"
	FieldDeleted Action = "app_data_field.deleted"

	ListingSaved     Action = "listing.saved"
	ListingSubmitted Action = "listing.submitted"

	AssetAdded       Action = "asset.added"
	AssetDeleted     Action = "asset.deleted"
	ExtensionAdded   Action = "extension.added"
	ExtensionUpdated Action = "extension.updated"
	ExtensionDeleted Action = "extension.deleted"
	FunctionAdded    Action = "function.added"
	FunctionDeleted  Action = "function.deleted"

	// RegistrationTokenCreated is about no app; its target is the organization.
	RegistrationTokenCreated Action = "registration_token.created"
)

// What a reviewer does with a listing.
const (
	ListingInReview         Action = "listing.in_review"
	ListingChangesRequested Action = "listing.changes_requested"
	ListingRejected         Action = "listing.rejected"
	ListingApproved         Action = "listing.approved"
)
