// Package audited names what the audit log records. They are strings, so that package audit can
// list them without naming each for hosts.
package audited

// What people decide about an app outside of the console. The target is the business, if
// there is one.
const (
	ConsentAllowed = "consent.allowed"
	ConsentDenied  = "consent.denied"
	ConsentRevoked = "consent.revoked"
	DeviceAllowed  = "device.allowed"
	DeviceDenied   = "device.denied"
	AccessRevoked  = "access.revoked"

	CustomConnectionAllowed = "custom_connection.allowed"
	CustomConnectionDenied  = "custom_connection.denied"

	Uninstalled = "app.uninstalled"

	// ConnectionTakenOver: the user lends the app in the business what people who left had
	// allowed.
	ConnectionTakenOver = "connection.taken_over"
)

// What developers do in the console.
const (
	AppCreated = "app.created"
	AppUpdated = "app.updated"
	// CustomConnectionEnded is recorded when an app no longer names the business that has
	// approved its custom connection. The target is the business.
	CustomConnectionEnded = "custom_connection.ended"

	SecretCreated = "secret.created"
	SecretEnded   = "secret.ended"

	WebhookCreated       = "webhook.created"
	WebhookUpdated       = "webhook.updated"
	WebhookDeleted       = "webhook.deleted"
	WebhookSecretRotated = "webhook.secret_rotated"
	WebhookTested        = "webhook.tested"
	WebhookChallenged    = "webhook.challenged"
	DeliveryRedelivered  = "delivery.redelivered"
	DeliveryAttemptedNow = "delivery.attempted_now"
	// WebhookRedelivered is about many deliveries; its target is the webhook.
	WebhookRedelivered = "webhook.redelivered"

	FieldCreated = "app_data_field.created"
	FieldUpdated = "app_data_field.updated"
	FieldDeleted = "app_data_field.deleted"

	ListingSaved     = "listing.saved"
	ListingSubmitted = "listing.submitted"
	// ReviewSubmitted is about an app without its listing; its target is the submission.
	ReviewSubmitted = "review.submitted"

	AssetAdded       = "asset.added"
	AssetDeleted     = "asset.deleted"
	ExtensionAdded   = "extension.added"
	ExtensionUpdated = "extension.updated"
	ExtensionDeleted = "extension.deleted"
	FunctionAdded    = "function.added"
	FunctionDeleted  = "function.deleted"

	// RegistrationTokenCreated is about no app; its target is the organization.
	RegistrationTokenCreated = "registration_token.created"

	// What is done with console tokens is about no app either; the target is the
	// organization.
	ConsoleTokenCreated = "console_token.created"
	ConsoleTokenRevoked = "console_token.revoked"
)

// WebhookDisabled is recorded when the service switches off a webhook that has failed for too
// long. The target is the webhook.
const WebhookDisabled = "webhook.disabled"

// What a reviewer does with a listing.
const (
	ListingInReview         = "listing.in_review"
	ListingChangesRequested = "listing.changes_requested"
	ListingRejected         = "listing.rejected"
	ListingApproved         = "listing.approved"
)

// What a reviewer does with an app that was submitted without its listing.
const (
	ReviewInReview         = "review.in_review"
	ReviewChangesRequested = "review.changes_requested"
	ReviewRejected         = "review.rejected"
	ReviewApproved         = "review.approved"
)

// What the operator does. Status changes of an app are about it; the target of those of a
// user is the user, and that of trust is the host of the documents.
const (
	AppSuspended   = "app.suspended"
	AppReactivated = "app.reactivated"
	AppDeactivated = "app.deactivated"

	UserSuspended   = "user.suspended"
	UserRestricted  = "user.restricted"
	UserReactivated = "user.reactivated"
	// UserErased has the target partner.ErasedUser: the id is not kept.
	UserErased = "user.erased"

	// BusinessErased has the target partner.ErasedBusiness: the id is not kept.
	BusinessErased = "business.erased"

	// What an operator looked at, of an app.
	DeliveriesViewed = "app.deliveries_viewed"
	RequestsViewed   = "app.requests_viewed"
	// OperatorUninstalled has the business as its target.
	OperatorUninstalled = "installation.uninstalled"

	DocumentTrustAdded   = "document_trust.added"
	DocumentTrustRemoved = "document_trust.removed"
)

// Known are the actions, each with what the consoles call it.
var Known = []struct{ Action, Words string }{
	{ConsentAllowed, "A person allowed access"},
	{ConsentDenied, "A person denied access"},
	{ConsentRevoked, "A person withdrew consent"},
	{DeviceAllowed, "A person allowed access on a device"},
	{DeviceDenied, "A person denied access on a device"},
	{AccessRevoked, "A business revoked access"},
	{CustomConnectionAllowed, "A person allowed a custom connection"},
	{CustomConnectionDenied, "A person denied a custom connection"},
	{Uninstalled, "A business uninstalled the app"},
	{ConnectionTakenOver, "A person took over a connection"},
	{AppCreated, "App created"},
	{AppUpdated, "App updated"},
	{CustomConnectionEnded, "Custom connection ended"},
	{SecretCreated, "Client secret created"},
	{SecretEnded, "Client secret ended"},
	{WebhookCreated, "Webhook created"},
	{WebhookUpdated, "Webhook updated"},
	{WebhookDeleted, "Webhook deleted"},
	{WebhookSecretRotated, "Secret of the webhook rotated"},
	{WebhookTested, "Test sent to the webhook"},
	{WebhookChallenged, "Webhook challenged"},
	{DeliveryRedelivered, "Delivery sent again"},
	{DeliveryAttemptedNow, "Delivery attempted at once"},
	{WebhookRedelivered, "Failed deliveries sent again"},
	{FieldCreated, "App data field created"},
	{FieldUpdated, "App data field updated"},
	{FieldDeleted, "App data field deleted"},
	{ListingSaved, "Listing saved"},
	{ListingSubmitted, "Listing submitted"},
	{ReviewSubmitted, "App submitted for review"},
	{AssetAdded, "Image uploaded"},
	{AssetDeleted, "Image deleted"},
	{ExtensionAdded, "Extension added"},
	{ExtensionUpdated, "Extension updated"},
	{ExtensionDeleted, "Extension deleted"},
	{FunctionAdded, "Function uploaded"},
	{FunctionDeleted, "Function deleted"},
	{RegistrationTokenCreated, "Registration token created"},
	{ConsoleTokenCreated, "Console token created"},
	{ConsoleTokenRevoked, "Console token revoked"},
	{WebhookDisabled, "Webhook disabled"},
	{ListingInReview, "Review of the listing began"},
	{ListingChangesRequested, "Changes to the listing requested"},
	{ListingRejected, "Listing rejected"},
	{ListingApproved, "Listing approved"},
	{ReviewInReview, "Review of the app began"},
	{ReviewChangesRequested, "Changes to the app requested"},
	{ReviewRejected, "App rejected"},
	{ReviewApproved, "App approved"},
	{AppSuspended, "App suspended"},
	{AppReactivated, "App reactivated"},
	{AppDeactivated, "App deactivated"},
	{UserSuspended, "User suspended"},
	{UserRestricted, "User restricted"},
	{UserReactivated, "User reactivated"},
	{UserErased, "User erased"},
	{BusinessErased, "Business erased"},
	{DeliveriesViewed, "An operator viewed deliveries"},
	{RequestsViewed, "An operator viewed requests"},
	{OperatorUninstalled, "An operator uninstalled the app"},
	{DocumentTrustAdded, "Client metadata documents trusted"},
	{DocumentTrustRemoved, "Client metadata documents no longer trusted"},
}
