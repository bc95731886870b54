package apierror

import (
	"net/http"
	"slices"
)

// An Entry describes a code: its status, its text and its parameters.
type Entry struct {
	// Code identifies an error. Clients branch on it.
	Code Code
	// Status is the HTTP status, 400 to 599.
	Status int
	// Message is English text. {p0}, {p1} … stand for the values that New is
	// given and that the response repeats in params.
	Message string
	// Params is the number of those values.
	Params int
	// HasDetails reports whether the response has a details array, empty or not.
	HasDetails bool
}

// Entries returns the table of all codes, in the order in which it is written.
// The slice is the caller's.
func Entries() []Entry { return slices.Clone(table) }

// Lookup returns the entry of a code.
func Lookup(code Code) (Entry, bool) {
	i := slices.IndexFunc(table, func(e Entry) bool { return e.Code == code })
	if i < 0 {
		return Entry{}, false
	}
	return table[i], true
}

// The retry time of APP_RATE_LIMITED and IDEMPOTENCY_CONFLICT is not in the
// message: it stands in Retry-After alone, so that the two cannot disagree.
var table = []Entry{
	{Code: AppRateLimited, Status: http.StatusTooManyRequests, Message: "the app sent too many requests; Retry-After says how long to wait"},
	{Code: UnsupportedAPIVersion, Status: http.StatusBadRequest, Params: 1, Message: "API version {p0} does not exist or has been retired"},
	{Code: InsufficientScope, Status: http.StatusForbidden, Params: 1, Message: "Insufficient scope: this call needs {p0}"},
	{Code: EndpointNotExposed, Status: http.StatusForbidden, Message: "endpoint not exposed to OAuth clients"},
	{Code: PermissionRequired, Status: http.StatusForbidden, Params: 1, Message: "the user needs the permission {p0} in this business"},
	{Code: IdempotencyConflict, Status: http.StatusConflict, Message: "a request with this Idempotency-Key is still running"},
	{Code: IdempotencyMismatch, Status: http.StatusUnprocessableEntity, Message: "this Idempotency-Key was already used for a different request"},
	{Code: ResponseNotKept, Status: http.StatusConflict, Message: "the request with this Idempotency-Key has completed; its response was too large to store and cannot be repeated"},

	{Code: UnknownAppDataField, Status: http.StatusBadRequest, Params: 2, Message: "the app declares no field {p0} for {p1}"},
	{Code: InvalidAppDataValue, Status: http.StatusBadRequest, HasDetails: true, Message: "values do not follow the rules of their fields; details lists each of them"},
	{Code: ProvideResourceIDs, Status: http.StatusBadRequest, Message: "resourceId or resourceIds is required"},
	{Code: TooManyResourceIDs, Status: http.StatusBadRequest, Message: "resourceIds takes at most 50 ids"},
	{Code: AppCannotAccessType, Status: http.StatusForbidden, Params: 1, Message: "the app has no read access to {p0} in this business"},
	{Code: AppDataForConnectedApps, Status: http.StatusForbidden, Message: "app data is open to connected apps only"},
	{Code: RecordNotFound, Status: http.StatusNotFound, Params: 2, Message: "this business has no {p0} with the id {p1}"},
	{Code: AppDataValueNotFound, Status: http.StatusNotFound, Params: 1, Message: "the app has no value {p0} in this business"},

	{Code: UnknownCursor, Status: http.StatusBadRequest, Params: 1, Message: "after: {p0} is not an event of this business from the last 30 days"},
	{Code: UnknownEventType, Status: http.StatusBadRequest, Params: 1, Message: "types: there is no event named {p0}"},
	{Code: EventLogForConnectedApps, Status: http.StatusForbidden, Message: "the event log is open to connected apps only"},
	{Code: EventNotFound, Status: http.StatusNotFound, Params: 1, Message: "there is no event {p0} that the app can see"},

	{Code: DeliveryNotFailed, Status: http.StatusBadRequest, Params: 1, Message: "only a failed delivery can be sent again; this one is {p0}"},
	{Code: DeliveryNotRetrying, Status: http.StatusBadRequest, Params: 1, Message: "only a retrying delivery can be sent now; this one is {p0}"},
	{Code: DeliveryTooOld, Status: http.StatusBadRequest, Message: "the delivery is older than 30 days"},
	{Code: AppNotActive, Status: http.StatusBadRequest, Message: "the app is suspended or deactivated"},
	{Code: AppNotInstalled, Status: http.StatusBadRequest, Message: "the app is not installed in the business of this event"},
	{Code: EventScopeMissing, Status: http.StatusBadRequest, Params: 2, Message: "{p0} needs the scope {p1}, which the app or its installation no longer has"},
	{Code: WebhookNotActive, Status: http.StatusBadRequest, Message: "the webhook is switched off"},
	{Code: WebhookNotVerified, Status: http.StatusBadRequest, Message: "the webhook is not verified: its endpoint has not answered a challenge"},

	{Code: AppDeactivated, Status: http.StatusBadRequest, Message: "the app is deactivated and read-only"},
	{Code: Conflict, Status: http.StatusConflict, Message: "it has been changed since the version that was sent; read it again, then repeat the change"},
	{Code: PublicAppHasNoSecrets, Status: http.StatusBadRequest, Message: "a PUBLIC app has no client secret; it proves itself with PKCE"},
	{Code: SecretLimitReached, Status: http.StatusBadRequest, Params: 1, Message: "the app has {p0} valid secrets already; end one of them first"},
	{Code: LastSecret, Status: http.StatusBadRequest, Message: "this is the app's only valid secret; add another one first"},
	{Code: ConnectionExists, Status: http.StatusConflict, Message: "the business that the app names has approved a custom connection; end that one first"},
	{Code: ListingExists, Status: http.StatusConflict, Message: "the app already has a listing; update it instead"},
	{Code: ListingStateInvalid, Status: http.StatusBadRequest, Params: 2, Message: "a revision that is {p0} cannot become {p1}"},
	{Code: ReviewConflict, Status: http.StatusConflict, Params: 1, Message: "{p0} has taken this revision or decided about it"},
	{Code: ListingIncomplete, Status: http.StatusBadRequest, HasDetails: true, Message: "the listing cannot be submitted yet; details lists what it lacks"},
	{Code: SlugTaken, Status: http.StatusBadRequest, Params: 1, Message: "the slug {p0} belongs to another app"},
	{Code: AssetInUse, Status: http.StatusBadRequest, Params: 1, Message: "the asset {p0} is shown by the live listing or an open revision"},
	{Code: ExtensionScopeRequired, Status: http.StatusBadRequest, Params: 2, Message: "an extension of {p0} needs the app to request {p1}"},
	{Code: ExtensionPathInvalid, Status: http.StatusBadRequest, Params: 1, Message: "the path {p0} does not lead to a page of the App URL's origin"},
	{Code: InvalidChoices, Status: http.StatusBadRequest, Message: "choices takes 1 to 50 different texts of 1 to 60 characters"},
	{Code: FunctionTooComplex, Status: http.StatusBadRequest, Params: 1, Message: "the source is too complex to be checked: {p0}"},
	{Code: FunctionSourceNoHandler, Status: http.StatusBadRequest, Params: 1, Message: "the source is not an ES module that exports a handler: {p0}"},
}
