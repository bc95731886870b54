package apierror

import (
	"net/http"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// An OAuthCode is the error member of an OAuth response. Its wording never
// changes.
type OAuthCode string

// The codes of RFC 6749, RFC 7591, RFC 8628 and RFC 8707 that the service uses.
const (
	InvalidRequest         OAuthCode = "invalid_request"
	InvalidClient          OAuthCode = "invalid_client"
	InvalidGrant           OAuthCode = "invalid_grant"
	InvalidScope           OAuthCode = "invalid_scope"
	InvalidTarget          OAuthCode = "invalid_target"
	UnsupportedGrantType   OAuthCode = "unsupported_grant_type"
	AuthorizationPending   OAuthCode = "authorization_pending"
	SlowDown               OAuthCode = "slow_down"
	AccessDenied           OAuthCode = "access_denied"
	ExpiredToken           OAuthCode = "expired_token"
	InvalidRedirectURI     OAuthCode = "invalid_redirect_uri"
	InvalidClientMetadata  OAuthCode = "invalid_client_metadata"
	TemporarilyUnavailable OAuthCode = "temporarily_unavailable"
	ServerError            OAuthCode = "server_error"
)

// A GrantReason is the error_description of an invalid_grant. Only these values
// exist: a text of any other kind could tell one client about another's grants.
type GrantReason string

// The reasons why a grant cannot be redeemed. GrantUnexplained means that the
// response has no description.
const (
	GrantUnexplained      GrantReason = ""
	GrantCodeUsed         GrantReason = "code already used"
	GrantExpired          GrantReason = "expired"
	GrantRedirectMismatch GrantReason = "redirect_uri mismatch"
	GrantPKCEFailed       GrantReason = "PKCE verification failed"
	GrantRevoked          GrantReason = "revoked"
	GrantReuseDetected    GrantReason = "refresh token reuse detected"
)

// An OAuthError is a failure in the OAuth shape. It is immutable.
type OAuthError struct {
	code        OAuthCode
	status      int
	description string
	allow       []string
	retryAfter  int
	cause       error
}

// NewOAuth makes an OAuth error. The description is optional and shown to the
// client; characters that RFC 6749 does not allow in it are replaced. With
// InvalidGrant a description that is not a [GrantReason] is dropped; with
// ServerError the [Writer] puts a request id in its place.
func NewOAuth(code OAuthCode, description string) *OAuthError {
	switch code {
	case InvalidGrant:
		return GrantError(GrantReason(description))
	case TemporarilyUnavailable:
		return OAuthTooManyRequests(time.Second)
	}
	return &OAuthError{
		code:        code,
		status:      oauthStatus(code),
		description: describable(text.Clip(description, maxDescription)),
	}
}

// GrantError is invalid_grant with one of the fixed reasons, or without.
func GrantError(reason GrantReason) *OAuthError {
	switch reason {
	case GrantCodeUsed, GrantExpired, GrantRedirectMismatch, GrantPKCEFailed, GrantRevoked, GrantReuseDetected:
	default:
		reason = GrantUnexplained
	}
	return &OAuthError{code: InvalidGrant, status: http.StatusBadRequest, description: string(reason)}
}

// OAuthTooManyRequests is temporarily_unavailable: a 429 whose description and
// Retry-After both name the wait in whole seconds, rounded up, at least 1.
func OAuthTooManyRequests(wait time.Duration) *OAuthError {
	seconds := wholeSeconds(wait)
	return &OAuthError{
		code:        TemporarilyUnavailable,
		status:      http.StatusTooManyRequests,
		description: interpolate(tooManyRequests, []string{strconv.Itoa(seconds)}),
		retryAfter:  seconds,
	}
}

// Status returns the HTTP status.
func (e *OAuthError) Status() int { return e.status }

// Code returns the error member.
func (e *OAuthError) Code() OAuthCode { return e.code }

// Description returns error_description, empty when the response has none.
func (e *OAuthError) Description() string { return e.description }

// Error implements error. The text is for logs and tests, not for clients.
func (e *OAuthError) Error() string {
	text := string(e.code)
	if e.description != "" {
		text += ": " + e.description
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause given to [OAuthError.WithCause].
func (e *OAuthError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// WithCause returns a copy that wraps cause. Clients never see it.
func (e *OAuthError) WithCause(cause error) *OAuthError {
	changed := *e
	changed.cause = cause
	return &changed
}

// maxDescription bounds error_description, in bytes.
const maxDescription = 1000

func oauthStatus(code OAuthCode) int {
	switch code {
	case InvalidClient:
		return http.StatusUnauthorized
	case ServerError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
