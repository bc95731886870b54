package apierror

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// standardFrom finds the standard error in err, or makes one. What is not an
// error of this package is a fault, whatever its text says.
func standardFrom(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil && e.status != 0 {
		return e
	}
	if e, ok := errors.AsType[*OAuthError](err); ok && e != nil && e.status != 0 {
		return e.standard()
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge(e.Limit)
	}
	return Internal(err)
}

// oauthFrom is standardFrom for the other shape.
func oauthFrom(err error) *OAuthError {
	if e, ok := errors.AsType[*OAuthError](err); ok && e != nil && e.status != 0 {
		return e
	}
	return standardFrom(err).oauth()
}

func (e *Error) oauth() *OAuthError {
	switch e.status {
	case http.StatusTooManyRequests:
		return OAuthTooManyRequests(time.Duration(e.retryAfter) * time.Second)
	case http.StatusUnauthorized:
		return NewOAuth(InvalidClient, "") // its text speaks of access tokens
	}
	if e.status >= 500 {
		return &OAuthError{code: ServerError, status: e.status}
	}
	made := NewOAuth(InvalidRequest, strings.Join(e.messages, "; "))
	if e.status == http.StatusMethodNotAllowed {
		// HTTP's own status: whoever used the wrong method has not sent an
		// OAuth request that a 400 could be about.
		made.status, made.allow = e.status, e.allow
	}
	return made
}

func (e *OAuthError) standard() *Error {
	switch e.status {
	case http.StatusTooManyRequests:
		return TooManyRequests(time.Duration(e.retryAfter) * time.Second)
	case http.StatusUnauthorized:
		return Unauthorized()
	}
	if e.status >= 500 {
		return plain(e.status, "internal error")
	}
	if e.code == AccessDenied {
		return Forbidden(e.description)
	}
	if e.description == "" {
		return Invalid(string(e.code))
	}
	return Invalid(e.description)
}

// isGoneClient reports whether err only says that the caller left. A
// cancellation while the caller still waits is a fault of ours.
func isGoneClient(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(r.Context().Err(), context.Canceled)
}
