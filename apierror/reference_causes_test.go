package apierror_test

import (
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books/ledger"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

const referenceHead = `# Errors

Written from package internal/codes by the tests of package [apierror](../apierror): change the
codes, then run ` + "`go test ./apierror -run Reference -update`" + `.

There are two shapes. Branch on ` + "`code`" + ` in the one and on ` + "`error`" + ` in the other; they never
change. English texts may be reworded.

## The API and the developer console

` + "```json" + `
{"statusCode": 400, "message": "after: evt_1 is not an event of this business from the last 30 days",
 "error": "Bad Request", "code": "UNKNOWN_CURSOR", "params": {"p0": "evt_1"}}
` + "```" + `

` + "`error`" + ` is the name of the status. ` + "`params`" + ` repeats the values that stand in the
message, as ` + "`p0`, `p1`" + `, when there are some. Every error is sent with
` + "`Cache-Control: no-store`" + `.
`

const referencePlain = `
### Errors without a code

| status | message | when |
|---|---|---|
`

const referenceOAuth = `
## The OAuth endpoints

` + "`/oauth/token`, `/oauth/revoke`, `/oauth/introspect`, `/oauth/device/authorize`" + ` and
` + "`/oauth/register`" + ` respond in the shape of RFC 6749. Bodies that cannot be read get it too:

` + "```json" + `
{"error": "invalid_grant", "error_description": "expired", "message": "expired"}
` + "```" + `

` + "`error_description`" + ` may be absent. ` + "`message`" + ` is deprecated: do not read it. A wrong
method is a 405 with ` + "`Allow`" + `; every response has ` + "`Cache-Control: no-store` and `Pragma: no-cache`" + `.

| error | status | when |
|---|---|---|
`

const referenceGrants = `
### The descriptions of invalid_grant

Sending the same grant again is of no use: ask the business to connect again.

| error_description | when |
|---|---|
`

// areas say when each code comes. Statuses and messages come from the table.
var areas = []struct {
	title  string
	causes []cause
}{
	{"Calls with an access token", []cause{
		{codes.AppRateLimited.Code, "the app's limit in this business, or its limit over all businesses, is used up; `Retry-After` is from the one that refused"},
		{codes.UnsupportedAPIVersion.Code, "the version of the request (its header, else the app's pin, else the current one) does not exist or is past its sunset"},
		{codes.InsufficientScope.Code, "the token lacks the scope of the route: ask for a new authorization with it. `WWW-Authenticate` names the scope"},
		{codes.EndpointNotExposed.Code, "the route is not open to apps, whether it exists or not"},
		{codes.PermissionRequired.Code, "the person in whose name the token acts lacks a permission in the business"},
		{codes.IdempotencyConflict.Code, "the first request with this key has not finished yet; try again after `Retry-After`"},
		{codes.IdempotencyMismatch.Code, "the key was used for another method, path or body in the last 24 hours"},
		{codes.ResponseNotKept.Code, "the request was completed, but its response was too large to store: read the result instead"},
		{ledger.InvoiceLimitReached.Code, "the plan of the business allows no further invoice this year; nothing else is blocked"},
	}},
	{"App data", []cause{
		{codes.UnknownAppDataField.Code, "the key is not declared for this type of record"},
		{codes.InvalidAppDataValue.Code, "at least one value breaks the rules of its field; `details` has resourceType, resourceId, key and reason of each"},
		{codes.ProvideResourceIDs.Code, "`GET /app-data` without an id"},
		{codes.TooManyResourceIDs.Code, "`GET /app-data` with more than 50 ids, repeated ones included"},
		{codes.AppCannotAccessType.Code, "the installation or the token lacks the read scope of this type of record"},
		{codes.AppDataForConnectedApps.Code, "`/app-data` with a session cookie instead of an access token"},
		{codes.RecordNotFound.Code, "the record of a write is not in the business of the token"},
		{codes.AppDataValueNotFound.Code, "`DELETE /app-data/:id` for a value that the app does not have in this business"},
	}},
	{"Events", []cause{
		{codes.UnknownCursor.Code, "`after` is not an event of the business, or older than 30 days: start over without it"},
		{codes.UnknownEventType.Code, "`types` names what is not in the catalog"},
		{codes.EventLogForConnectedApps.Code, "`/events` with a session cookie instead of an access token"},
		{codes.EventNotFound.Code, "`GET /events/:id` for an event that does not exist or that the app may not see"},
	}},
	{"Redelivery and test delivery", []cause{
		{codes.DeliveryNotFailed.Code, "the delivery is queued, waits for its next attempt, or has arrived"},
		{codes.DeliveryNotRetrying.Code, "the delivery is queued already, has arrived or has failed"},
		{codes.DeliveryTooOld.Code, "it was created over 30 days ago"},
		{codes.AppNotActive.Code, "nothing is sent for an app that is suspended or deactivated"},
		{codes.AppNotInstalled.Code, "the business has uninstalled the app since"},
		{codes.EventScopeMissing.Code, "the app or its installation has lost the scope of the event since"},
		{codes.WebhookNotActive.Code, "switch it on first"},
		{codes.WebhookNotVerified.Code, "its endpoint answers a challenge first, if the platform asks for that"},
	}},
	{"Developer console", []cause{
		{codes.AppDeactivated.Code, "a write to an app whose deactivation is final"},
		{codes.Conflict.Code, "`version` of a change is not the last one of the app, webhook, field or listing; for operators also: the documents of this host are trusted already"},
		{codes.PublicAppHasNoSecrets.Code, "a secret was asked for"},
		{codes.SecretLimitReached.Code, "a third secret beside two valid ones"},
		{codes.LastSecret.Code, "the end of the only valid secret"},
		{codes.ConnectionExists.Code, "`customBusinessId` names another business while one has approved; the first connection keeps working"},
		{codes.ListingExists.Code, "a first save of a listing that exists; of two concurrent first saves, one gets this error"},
		{codes.ListingStateInvalid.Code, "a step that the revision's state does not allow"},
		{codes.ReviewConflict.Code, "an operator's step on a revision that another operator has taken or decided; `params.p0` is their name"},
		{codes.ListingIncomplete.Code, "a submission that lacks something; `details` has field and reason of each"},
		{codes.SlugTaken.Code, "another app's listing has the slug"},
		{codes.AssetInUse.Code, "the deletion of an image that a live listing or an open revision shows"},
		{codes.ExtensionScopeRequired.Code, "an extension on records that the app does not ask to read"},
		{codes.ExtensionPathInvalid.Code, "a backslash, a space or a control character in the path, or it leads away from the App URL's origin, or there is no App URL"},
		{codes.InvalidChoices.Code, "the options of a CHOICE field, after trimming, are not as the message says, or null"},
		{codes.FunctionTooComplex.Code, "the check of the upload did not finish within its processor time, memory and stack"},
		{codes.FunctionSourceNoHandler.Code, "the upload does not parse as an ES module, or exports no handler"},
	}},
}

type cause struct {
	code apierror.Code
	when string
}

var oauthCauses = []struct {
	code oautherror.Code
	when string
}{
	{oautherror.InvalidRequest, "a parameter is missing, repeated or malformed, or the body cannot be read"},
	{oautherror.InvalidClient, "client_id missing or unknown, app suspended or deactivated, secret missing or wrong, or a PUBLIC client where a secret is needed. With HTTP Basic the answer has a `WWW-Authenticate: Basic` challenge. More than 30 in a minute close the endpoint to this address and client for a minute"},
	{oautherror.InvalidGrant, "the code, refresh token, device code or session token cannot be redeemed; see below"},
	{oautherror.InvalidScope, "a scope that the app did not register (device flow), or more than the grant has (refresh)"},
	{oautherror.InvalidTarget, "resource is not one absolute URI on the API's origin"},
	{oautherror.UnsupportedGrantType, "grant_type is none of those in the metadata"},
	{oautherror.AuthorizationPending, "device flow: the user has not decided yet; keep polling"},
	{oautherror.SlowDown, "device flow: polled faster than the interval"},
	{oautherror.AccessDenied, "device flow: the person said no, or may not use the app any more. At a refresh: the person who connected the app may not use it now, or none of the granted scopes is allowed now, as the description says; the refresh token stays valid, so keep it and try again later. Registration: the organization has as many apps as it may have"},
	{oautherror.ExpiredToken, "device flow: the 10 minutes are over"},
	{oautherror.InvalidRedirectURI, "registration: redirect_uris breaks its rules"},
	{oautherror.InvalidClientMetadata, "registration: another member is missing or malformed"},
	{oautherror.TemporarilyUnavailable, "a rate limit or a lockout; `Retry-After` has the seconds that the description names"},
	{oautherror.ServerError, "an internal error of the service, 500 or 503; the description has a request id"},
}

var grantCauses = []struct {
	reason oautherror.Reason
	when   string
}{
	{oautherror.GrantUnexplained, "not found, or another client's; the app is no longer installed, or the person's consent has ended; a code whose person may not use the app, or of whose scopes none is allowed, at its redemption; and every failure of a token exchange"},
	{oautherror.GrantCodeUsed, "the code has been redeemed before. A complete replay by its own client also ends the tokens that it gave"},
	{oautherror.GrantExpired, "the code is older than 10 minutes, the refresh token older than 30 days"},
	{oautherror.GrantRedirectMismatch, "redirect_uri is not the one of the authorization request; the code is used up"},
	{oautherror.GrantPKCEFailed, "code_verifier does not match the challenge, or there was none; the code is used up"},
	{oautherror.GrantRevoked, "the refresh token was revoked: by the app, by the business, or with its family"},
	{oautherror.GrantReuseDetected, "the refresh token had been used before: the whole family is revoked now"},
}
