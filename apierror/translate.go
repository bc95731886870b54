package apierror

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// standardFrom finds the standard error in err, or makes one. What is not an
// error of this package is an internal error, regardless of its text.
func standardFrom(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil && e.status != 0 {
		return e
	}
	if e, ok := errors.AsType[*oautherror.Error](err); ok && e != nil && e.Status != 0 {
		return standardOf(e)
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return TooLarge(e.Limit)
	}
	return Internal(err)
}

// oauthFrom is standardFrom for the other shape.
func oauthFrom(err error) *oautherror.Error {
	if e, ok := errors.AsType[*oautherror.Error](err); ok && e != nil && e.Status != 0 {
		return e
	}
	return standardFrom(err).oauth()
}

func (e *Error) oauth() *oautherror.Error {
	switch e.status {
	case http.StatusTooManyRequests:
		return oautherror.TooManyRequests(time.Duration(e.retryAfter) * time.Second)
	case http.StatusUnauthorized:
		return oautherror.New(oautherror.InvalidClient, "") // its text speaks of access tokens
	}
	if e.status >= 500 {
		return &oautherror.Error{Code: oautherror.ServerError, Status: e.status}
	}
	made := oautherror.New(oautherror.InvalidRequest, strings.Join(e.Messages(), "; "))
	if e.status == http.StatusMethodNotAllowed {
		// HTTP's own status: a client that used the wrong method has not sent an
		// OAuth request that a 400 could be about.
		made.Status, made.Allow = e.status, e.allow
	}
	return made
}

// standardOf is e in the standard shape.
func standardOf(e *oautherror.Error) *Error {
	switch e.Status {
	case http.StatusTooManyRequests:
		return TooManyRequests(time.Duration(e.RetryAfter) * time.Second)
	case http.StatusUnauthorized:
		return Unauthorized()
	}
	if e.Status >= 500 {
		return plain(e.Status, "internal error")
	}
	if e.Code == oautherror.AccessDenied {
		return Forbidden(e.Description)
	}
	if e.Description == "" {
		return Invalid(string(e.Code))
	}
	return Invalid(e.Description)
}

// isGoneClient reports whether err only says that the client has gone: net/http cancels the
// request's context when the client closes the connection, or its side of it. A
// cancellation while the client still waits, and one that the host gave another cause, is an
// internal error.
func isGoneClient(r *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(context.Cause(r.Context()), context.Canceled)
}

// responded returns the error that is sent to the client. A disconnected client is not an
// internal error: the response is a 400, in case the client only closed its side of the
// connection, and the log line is for debugging.
func (wr Writer) responded(w http.ResponseWriter, r *http.Request, err error) error {
	if !isGoneClient(r, err) || standardFrom(err).status < http.StatusInternalServerError {
		return err
	}
	wr.logFailure(r, requestID(w, r), err)
	return Invalid("the connection was closed before the response")
}
