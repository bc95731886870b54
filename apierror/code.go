package apierror

// Code names a failure for programs. Clients branch on it, so a code never
// changes its meaning; the message beside it may be reworded.
type Code string

// Calls made with an access token.
const (
	AppRateLimited        Code = "APP_RATE_LIMITED"
	UnsupportedAPIVersion Code = "UNSUPPORTED_API_VERSION"
	InsufficientScope     Code = "INSUFFICIENT_SCOPE"
	EndpointNotExposed    Code = "ENDPOINT_NOT_EXPOSED"
	PermissionRequired    Code = "PERMISSION_REQUIRED"
	IdempotencyConflict   Code = "IDEMPOTENCY_CONFLICT"
	IdempotencyMismatch   Code = "IDEMPOTENCY_MISMATCH"
	ResponseNotKept       Code = "IDEMPOTENCY_ANSWER_NOT_KEPT"
)

// App data.
const (
	UnknownAppDataField     Code = "UNKNOWN_APP_DATA_FIELD"
	InvalidAppDataValue     Code = "INVALID_APP_DATA_VALUE"
	ProvideResourceIDs      Code = "PROVIDE_RESOURCEID_RESOURCEIDS"
	TooManyResourceIDs      Code = "RESOURCEIDS_ACCEPTS_MOST_50_IDS"
	AppCannotAccessType     Code = "APP_CANNOT_ACCESS_TYPE_RECORD"
	AppDataForConnectedApps Code = "APP_DATA_API_AVAILABLE_CONNECTED_APPS_ONLY"
	RecordNotFound          Code = "RECORD_NOT_FOUND"
	AppDataValueNotFound    Code = "APP_DATA_VALUE_NOT_FOUND"
)

// Events API.
const (
	UnknownCursor            Code = "UNKNOWN_CURSOR"
	UnknownEventType         Code = "UNKNOWN_EVENT_TYPE_TYPES"
	EventLogForConnectedApps Code = "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY"
	EventNotFound            Code = "EVENT_NOT_FOUND"
)

// Redelivery and test delivery of webhooks.
const (
	DeliveryNotFailed   Code = "DELIVERY_NOT_FAILED"
	DeliveryNotRetrying Code = "DELIVERY_NOT_RETRYING"
	DeliveryTooOld      Code = "DELIVERY_TOO_OLD"
	AppNotActive        Code = "APP_NOT_ACTIVE"
	AppNotInstalled     Code = "APP_NOT_INSTALLED"
	EventScopeMissing   Code = "EVENT_SCOPE_MISSING"
	WebhookNotActive    Code = "WEBHOOK_NOT_ACTIVE"
	WebhookNotVerified  Code = "WEBHOOK_NOT_VERIFIED"
)

// Developer console.
const (
	AppDeactivated          Code = "APP_DEACTIVATED"
	Conflict                Code = "CONFLICT"
	PublicAppHasNoSecrets   Code = "PUBLIC_APP_HAS_NO_SECRETS" //nolint:gosec // it names the lack of some
	SecretLimitReached      Code = "SECRET_LIMIT_REACHED"
	LastSecret              Code = "LAST_SECRET"
	ConnectionExists        Code = "CONNECTION_EXISTS"
	ListingExists           Code = "LISTING_EXISTS"
	ListingStateInvalid     Code = "LISTING_STATE_INVALID"
	ListingIncomplete       Code = "LISTING_INCOMPLETE"
	ReviewConflict          Code = "REVIEW_CONFLICT"
	SlugTaken               Code = "SLUG_TAKEN"
	AssetInUse              Code = "ASSET_IN_USE"
	ExtensionScopeRequired  Code = "EXTENSION_SCOPE_REQUIRED"
	ExtensionPathInvalid    Code = "EXTENSION_PATH_INVALID"
	InvalidChoices          Code = "INVALID_CHOICES"
	FunctionTooComplex      Code = "FUNCTION_SOURCE_TOO_COMPLEX"
	FunctionSourceNoHandler Code = "FUNCTION_SOURCE_NO_HANDLER"
)
