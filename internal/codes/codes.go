// Package codes declares the errors of the API and the developer console that have a code. A
// code never changes its meaning; texts may be reworded. docs/errors.md is generated from them.
package codes

import (
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
)

var all []apierror.Entry

// All returns every error, in the order in which they are declared. The slice is the caller's.
func All() []apierror.Entry { return slices.Clone(all) }

func declare(e apierror.Entry) apierror.Entry {
	all = append(all, e)
	return e
}

// Calls made with an access token. The retry time of APP_RATE_LIMITED and IDEMPOTENCY_CONFLICT is
// in Retry-After only, so that the message cannot disagree with it.
var (
	AppRateLimited        = declare(apierror.Entry{Code: "APP_RATE_LIMITED", Status: http.StatusTooManyRequests, Message: "the app sent too many requests; Retry-After says how long to wait"})
	UnsupportedAPIVersion = declare(apierror.Entry{Code: "UNSUPPORTED_API_VERSION", Status: http.StatusBadRequest, Message: "API version {p0} does not exist or has been retired"})
	InsufficientScope     = declare(apierror.InsufficientScope)
	EndpointNotExposed    = declare(apierror.Entry{Code: "ENDPOINT_NOT_EXPOSED", Status: http.StatusForbidden, Message: "endpoint not exposed to OAuth clients"})
	PermissionRequired    = declare(apierror.Entry{Code: "PERMISSION_REQUIRED", Status: http.StatusForbidden, Message: "the user needs the permission {p0} in this business"})
	IdempotencyConflict   = declare(apierror.Entry{Code: "IDEMPOTENCY_CONFLICT", Status: http.StatusConflict, Message: "a request with this Idempotency-Key is still running"})
	IdempotencyMismatch   = declare(apierror.Entry{Code: "IDEMPOTENCY_MISMATCH", Status: http.StatusUnprocessableEntity, Message: "this Idempotency-Key was already used for a different request"})
	ResponseNotKept       = declare(apierror.Entry{Code: "IDEMPOTENCY_ANSWER_NOT_KEPT", Status: http.StatusConflict, Message: "the request with this Idempotency-Key has completed; its response was too large to store and cannot be repeated"})
)

// App data.
var (
	UnknownAppDataField     = declare(apierror.Entry{Code: "UNKNOWN_APP_DATA_FIELD", Status: http.StatusBadRequest, Message: "the app declares no field {p0} for {p1}"})
	InvalidAppDataValue     = declare(apierror.Entry{Code: "INVALID_APP_DATA_VALUE", Status: http.StatusBadRequest, Message: "values do not follow the rules of their fields; details lists each of them"})
	ProvideResourceIDs      = declare(apierror.Entry{Code: "PROVIDE_RESOURCEID_RESOURCEIDS", Status: http.StatusBadRequest, Message: "resourceId or resourceIds is required"})
	TooManyResourceIDs      = declare(apierror.Entry{Code: "RESOURCEIDS_ACCEPTS_MOST_50_IDS", Status: http.StatusBadRequest, Message: "resourceIds takes at most 50 ids"})
	AppCannotAccessType     = declare(apierror.Entry{Code: "APP_CANNOT_ACCESS_TYPE_RECORD", Status: http.StatusForbidden, Message: "the app has no read access to {p0} in this business"})
	AppDataForConnectedApps = declare(apierror.Entry{Code: "APP_DATA_API_AVAILABLE_CONNECTED_APPS_ONLY", Status: http.StatusForbidden, Message: "app data is open to connected apps only"})
	RecordNotFound          = declare(apierror.Entry{Code: "RECORD_NOT_FOUND", Status: http.StatusNotFound, Message: "this business has no {p0} with the id {p1}"})
	AppDataValueNotFound    = declare(apierror.Entry{Code: "APP_DATA_VALUE_NOT_FOUND", Status: http.StatusNotFound, Message: "the app has no value {p0} in this business"})
)

// Events API.
var (
	UnknownCursor            = declare(apierror.Entry{Code: "UNKNOWN_CURSOR", Status: http.StatusBadRequest, Message: "after: {p0} is not an event of this business from the last 30 days"})
	UnknownEventType         = declare(apierror.Entry{Code: "UNKNOWN_EVENT_TYPE_TYPES", Status: http.StatusBadRequest, Message: "types: there is no event named {p0}"})
	EventLogForConnectedApps = declare(apierror.Entry{Code: "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY", Status: http.StatusForbidden, Message: "the event log is open to connected apps only"})
	EventNotFound            = declare(apierror.Entry{Code: "EVENT_NOT_FOUND", Status: http.StatusNotFound, Message: "there is no event {p0} that the app can see"})
)

// Redelivery and test delivery of webhooks.
var (
	DeliveryNotFailed   = declare(apierror.Entry{Code: "DELIVERY_NOT_FAILED", Status: http.StatusBadRequest, Message: "only a failed delivery can be sent again; this one is {p0}"})
	DeliveryNotRetrying = declare(apierror.Entry{Code: "DELIVERY_NOT_RETRYING", Status: http.StatusBadRequest, Message: "only a retrying delivery can be sent now; this one is {p0}"})
	DeliveryTooOld      = declare(apierror.Entry{Code: "DELIVERY_TOO_OLD", Status: http.StatusBadRequest, Message: "the delivery is older than 30 days"})
	AppNotActive        = declare(apierror.Entry{Code: "APP_NOT_ACTIVE", Status: http.StatusBadRequest, Message: "the app is suspended or deactivated"})
	AppNotInstalled     = declare(apierror.Entry{Code: "APP_NOT_INSTALLED", Status: http.StatusBadRequest, Message: "the app is not installed in the business of this event"})
	EventScopeMissing   = declare(apierror.Entry{Code: "EVENT_SCOPE_MISSING", Status: http.StatusBadRequest, Message: "{p0} needs the scope {p1}, which the app or its installation no longer has"})
	WebhookNotActive    = declare(apierror.Entry{Code: "WEBHOOK_NOT_ACTIVE", Status: http.StatusBadRequest, Message: "the webhook is switched off"})
	WebhookNotVerified  = declare(apierror.Entry{Code: "WEBHOOK_NOT_VERIFIED", Status: http.StatusBadRequest, Message: "the webhook is not verified: its endpoint has not answered a challenge"})
)

// Developer console.
var (
	AppDeactivated          = declare(apierror.Entry{Code: "APP_DEACTIVATED", Status: http.StatusBadRequest, Message: "the app is deactivated and read-only"})
	Conflict                = declare(apierror.Entry{Code: "CONFLICT", Status: http.StatusConflict, Message: "it has been changed since the version that was sent; read it again, then repeat the change"})
	PublicAppHasNoSecrets   = declare(apierror.Entry{Code: "PUBLIC_APP_HAS_NO_SECRETS", Status: http.StatusBadRequest, Message: "a PUBLIC app has no client secret; it proves itself with PKCE"}) //nolint:gosec // it names the lack of some
	SecretLimitReached      = declare(apierror.Entry{Code: "SECRET_LIMIT_REACHED", Status: http.StatusBadRequest, Message: "the app has {p0} valid secrets already; end one of them first"})
	LastSecret              = declare(apierror.Entry{Code: "LAST_SECRET", Status: http.StatusBadRequest, Message: "this is the app's only valid secret; add another one first"})
	ConnectionExists        = declare(apierror.Entry{Code: "CONNECTION_EXISTS", Status: http.StatusConflict, Message: "the business that the app names has approved a custom connection; end that one first"})
	ListingExists           = declare(apierror.Entry{Code: "LISTING_EXISTS", Status: http.StatusConflict, Message: "the app already has a listing; update it instead"})
	ListingStateInvalid     = declare(apierror.Entry{Code: "LISTING_STATE_INVALID", Status: http.StatusBadRequest, Message: "a revision that is {p0} cannot become {p1}"})
	ReviewConflict          = declare(apierror.Entry{Code: "REVIEW_CONFLICT", Status: http.StatusConflict, Message: "{p0} has taken this revision or decided about it"})
	ListingIncomplete       = declare(apierror.Entry{Code: "LISTING_INCOMPLETE", Status: http.StatusBadRequest, Message: "the listing cannot be submitted yet; details lists what it lacks"})
	SlugTaken               = declare(apierror.Entry{Code: "SLUG_TAKEN", Status: http.StatusBadRequest, Message: "the slug {p0} belongs to another app"})
	AssetInUse              = declare(apierror.Entry{Code: "ASSET_IN_USE", Status: http.StatusBadRequest, Message: "the asset {p0} is shown by the live listing or an open revision"})
	ExtensionScopeRequired  = declare(apierror.Entry{Code: "EXTENSION_SCOPE_REQUIRED", Status: http.StatusBadRequest, Message: "an extension of {p0} needs the app to request {p1}"})
	ExtensionPathInvalid    = declare(apierror.Entry{Code: "EXTENSION_PATH_INVALID", Status: http.StatusBadRequest, Message: "the path {p0} does not lead to a page of the App URL's origin"})
	InvalidChoices          = declare(apierror.Entry{Code: "INVALID_CHOICES", Status: http.StatusBadRequest, Message: "choices takes 1 to 50 different texts of 1 to 60 characters"})
	FunctionTooComplex      = declare(apierror.Entry{Code: "FUNCTION_SOURCE_TOO_COMPLEX", Status: http.StatusBadRequest, Message: "the source is too complex to be checked: {p0}"})
	FunctionSourceNoHandler = declare(apierror.Entry{Code: "FUNCTION_SOURCE_NO_HANDLER", Status: http.StatusBadRequest, Message: "the source is not an ES module that exports a handler: {p0}"})
)
