// Package oautherror has the errors of the OAuth endpoints (RFC 6749 section 5.2). Package
// apierror writes them.
package oautherror

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// Code is the error member of an OAuth response. Its wording never
// changes.
type Code string

// The codes of RFC 6749, RFC 7591, RFC 8628 and RFC 8707 that the service uses.
const (
	InvalidRequest         Code = "invalid_request"
	InvalidClient          Code = "invalid_client"
	InvalidGrant           Code = "invalid_grant"
	InvalidScope           Code = "invalid_scope"
	InvalidTarget          Code = "invalid_target"
	UnsupportedGrantType   Code = "unsupported_grant_type"
	AuthorizationPending   Code = "authorization_pending"
	SlowDown               Code = "slow_down"
	AccessDenied           Code = "access_denied"
	ExpiredToken           Code = "expired_token"
	InvalidRedirectURI     Code = "invalid_redirect_uri"
	InvalidClientMetadata  Code = "invalid_client_metadata"
	TemporarilyUnavailable Code = "temporarily_unavailable"
	ServerError            Code = "server_error"
)

// Reason is the error_description of an invalid_grant. Only these values
// exist: a text of any other kind could tell one client about another's grants.
type Reason string

// The reasons why a grant cannot be redeemed. GrantUnexplained means that the
// response has no description.
const (
	GrantUnexplained      Reason = ""
	GrantCodeUsed         Reason = "code already used"
	GrantExpired          Reason = "expired"
	GrantRedirectMismatch Reason = "redirect_uri mismatch"
	GrantPKCEFailed       Reason = "PKCE verification failed"
	GrantRevoked          Reason = "revoked"
	GrantReuseDetected    Reason = "refresh token reuse detected"
)

// Error is a failure in the OAuth shape.
type Error struct {
	Code        Code
	Status      int
	Description string // error_description; empty: the response has none
	Allow       []string
	RetryAfter  int // in seconds
	Cause       error
}

// New makes an OAuth error. The description is optional and shown to the
// client; characters that RFC 6749 does not allow in it are replaced. With
// InvalidGrant a description that is not a [Reason] is dropped; with
// ServerError the Writer of apierror puts a request id in its place.
func New(code Code, description string) *Error {
	switch code {
	case InvalidGrant:
		return Grant(Reason(description))
	case TemporarilyUnavailable:
		return TooManyRequests(time.Second)
	}
	return &Error{
		Code:        code,
		Status:      oauthStatus(code),
		Description: Describable(description),
	}
}

// Grant is invalid_grant with one of the fixed reasons, or without.
func Grant(reason Reason) *Error {
	switch reason {
	case GrantCodeUsed, GrantExpired, GrantRedirectMismatch, GrantPKCEFailed, GrantRevoked, GrantReuseDetected:
	default:
		reason = GrantUnexplained
	}
	return &Error{Code: InvalidGrant, Status: http.StatusBadRequest, Description: string(reason)}
}

// TooManyRequests is temporarily_unavailable: a 429 whose description and
// Retry-After both name the wait in whole seconds, rounded up, at least 1.
func TooManyRequests(wait time.Duration) *Error {
	seconds := WholeSeconds(wait)
	return &Error{
		Code:        TemporarilyUnavailable,
		Status:      http.StatusTooManyRequests,
		Description: "too many requests, retry after " + strconv.Itoa(seconds) + " seconds",
		RetryAfter:  seconds,
	}
}

// Error implements error. The text is for logs and tests, not for clients.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Description != "" {
		text += ": " + e.Description
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause given to [Error.WithCause].
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// WithCause returns a copy that wraps cause. Clients never see it.
func (e *Error) WithCause(cause error) *Error {
	changed := *e
	changed.Cause = cause
	return &changed
}

// maxDescription bounds error_description, in bytes.
const maxDescription = 1000

func oauthStatus(code Code) int {
	switch code {
	case InvalidClient:
		return http.StatusUnauthorized
	case ServerError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// Describable makes text fit for error_description: RFC 6749 section 5.2 allows
// printable ASCII without the double quote and the backslash.
func Describable(description string) string {
	allowed := func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r == '\\':
			return '/'
		case r < 0x20 || r > 0x7e:
			return '?'
		}
		return r
	}
	return strings.Map(allowed, text.Clip(description, maxDescription))
}

func WholeSeconds(wait time.Duration) int {
	seconds := wait / time.Second
	if wait%time.Second > 0 {
		seconds++
	}
	return int(max(1, seconds))
}
