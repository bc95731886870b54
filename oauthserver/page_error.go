package oauthserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partner"
)

// PageError identifies the reason of a page that refuses, beside the message, which is
// for partners and their support. The texts of languages explain it: error.<code>.
type PageError string

// The reasons of pages that refuse.
const (
	PageInvalidClient       PageError = "invalid_client"
	PageInvalidRedirect     PageError = "invalid_redirect_uri"
	PageInvalidScope        PageError = "invalid_scope"
	PagePKCERequired        PageError = "pkce_required"
	PageInvalidTarget       PageError = "invalid_target"
	PageInvalidRequest      PageError = "invalid_request" // a parameter, or anything else
	PageRequestExpired      PageError = "request_expired"
	PageReviewRequired      PageError = "review_required"
	PageNotOffered          PageError = "connection_not_offered"
	PageConnectionsReached  PageError = "connections_reached"
	PagePermissionRequired  PageError = "permission_required"
	PageDisconnectForbidden PageError = "disconnect_forbidden"
	PageBusinessRequired    PageError = "business_required"
	PageBusinessChanged     PageError = "business_changed"
	PageNobodyLeft          PageError = "nobody_left"
	PageTakeOverPublic      PageError = "take_over_public"
	PageTakeOverClosed      PageError = "take_over_closed"
	PageFormExpired         PageError = "form_expired"
	PageCrossSite           PageError = "cross_site"
	PageAccountSuspended    PageError = "account_suspended"
	PageUserCodeMissing     PageError = "user_code_missing"
	PageUserCodeInvalid     PageError = "user_code_invalid"
	PageForbidden           PageError = "forbidden"
	PageNotFound            PageError = "not_found"
	PageMethodNotAllowed    PageError = "method_not_allowed"
	PageTooManyRequests     PageError = "too_many_requests"
	PageInternalError       PageError = "internal_error"
)

// The errors of pages that have a code of their own. Partners and their support know the texts
// by heart.
var (
	errClientID   = refused(PageInvalidClient, "Invalid client_id")
	errRedirect   = refused(PageInvalidRedirect, "redirect_uri does not match any registered URI")
	errScopes     = refused(PageInvalidScope, "Requested scopes not permitted for this client")
	errPKCE       = refused(PagePKCERequired, "PKCE is required for public clients")
	errTarget     = refused(PageInvalidTarget, "invalid_target")
	errTargetLong = refused(PageInvalidTarget, "invalid_target: resource must be one absolute URI of at most 512 characters")
	errRequest    = refused(PageRequestExpired, "invalid_request: authorization request not found or expired")
	errUserCode   = refused(PageUserCodeInvalid, "This code is not valid, or it has expired. Check the code on your device and try again.")
	errNoUserCode = refused(PageUserCodeMissing, "Enter the code that your device shows.")

	errReview     = forbidden(PageReviewRequired, "This app has not completed review and can only connect to its own sandbox businesses")
	errFull       = forbidden(PageConnectionsReached, "This app has reached its number of connections")
	errPermission = forbidden(PagePermissionRequired, "You do not have permission to connect apps to this business")
	errNotOffered = forbidden(PageNotOffered, "This app asks for no custom connection to a business of yours")
	errDisconnect = forbidden(PageDisconnectForbidden, "You do not have permission to disconnect apps from this business")
	errSuspended  = forbidden(PageAccountSuspended, "This account is suspended")
	errOrigin     = forbidden(PageCrossSite, "This form was sent from another site")

	errNoBusiness    = codedError{PageBusinessRequired, invalid(businessField, "is missing: choose the business to sign into first")}
	errOtherBusiness = codedError{PageBusinessChanged, invalid(businessField, "is not the business that you are signed into now; nothing was connected, enter the code again")}
	errForeignToken  = codedError{PageFormExpired, invalid(csrfField, "is not valid for this session; open the page again and decide there")}

	errTakeOverClosed    = refused(PageTakeOverClosed, "invalid_request: authorization request not found or expired")
	errTakeOverElsewhere = codedError{PageTakeOverClosed, invalid(businessField, "is not the business that you are signed into now; nothing was taken over")}
	errNobodyLeft        = conflict(PageNobodyLeft, "Nobody who connected this app has left the business")
	errTakeOverWider     = conflict(PageTakeOverClosed, "The app can do more now than the page showed; nothing was taken over")
	errPublicTakeOver    = conflict(PageTakeOverPublic, "The connection of this app cannot be taken over")
)

// codedError is an error whose page has a code of its own. Other errors have the code of
// their status.
type codedError struct {
	code PageError
	err  error
}

func (e codedError) Error() string { return e.err.Error() }
func (e codedError) Unwrap() error { return e.err }

// refused returns the error of a request that cannot be served: 400.
func refused(code PageError, text string) error {
	return codedError{code, apierror.Invalid(text)}
}

// forbidden returns the error of something that this person may not do: 403.
func forbidden(code PageError, text string) error {
	return codedError{code, apierror.Forbidden(text)}
}

// conflict returns the error of something that the state of a connection rules out: 409.
func conflict(code PageError, text string) error {
	return codedError{code, apierror.Entry{Code: codes.Conflict.Code, Status: http.StatusConflict, Message: text}.New()}
}

// invalid returns the error of one parameter: 400.
func invalid(parameter, problem string) error {
	return apierror.Invalid(fmt.Sprintf("invalid_request: %s %s", parameter, problem))
}

// refusal is an error that a page shows, with what else the page says about it.
type refusal struct {
	err     error
	app     string // name
	visitor visitor
	missing []MissingBusiness
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// about adds the app and the person to an error, unless it has both. A nil error stays nil.
func about(app partner.App, v visitor, err error) error {
	if _, known := errors.AsType[*refusal](err); known || err == nil {
		return err
	}
	return &refusal{err: err, app: asReviewed(app).Name, visitor: v}
}

// refusalOf returns the refusal of an error; zero if the error is not known.
func refusalOf(err error) refusal {
	if known, ok := errors.AsType[*refusal](err); ok {
		return *known
	}
	return refusal{}
}

// errorView returns the page about a failure.
func (s *Server) errorView(r *http.Request, f apierror.Failure) ErrorView {
	known := refusalOf(f.Err)
	view := ErrorView{Status: f.Status, Code: pageError(f), Message: f.Message, AppName: known.app, Missing: known.missing}
	view.Frame = s.frame(r, known.visitor)
	if view.Code == PageReviewRequired {
		view.Gap = gapOf(f.Err)
	}
	page := cmp.Or(known.visitor.page, startOf(r.URL.Path))
	if view.Code.mayBeTriedAgain() {
		view.Again = page
	}
	if r.URL.Path == devicePath && view.Code.dependsOnBusiness() {
		view.ChooseBusiness = returning(s.cfg.BusinessPath, page)
	}
	return view
}

// startOf returns the page that a path belongs to and that can be opened at any time; empty for
// the consent page, which an app opens.
func startOf(path string) string {
	switch path {
	case devicePath:
		return devicePath
	case connectedAppsPath, revokeAccessPath, uninstallPath, takeOverPath:
		return connectedAppsPath
	}
	return ""
}

// mayBeTriedAgain reports whether the person can try again by opening the same page.
func (e PageError) mayBeTriedAgain() bool {
	switch e {
	case PageInvalidRequest, PageBusinessRequired, PageBusinessChanged, PageFormExpired, PageCrossSite, PageDisconnectForbidden,
		PageNobodyLeft, PageTakeOverPublic, PageTakeOverClosed,
		PageForbidden, PageNotFound, PageMethodNotAllowed, PageInternalError:
		return true
	}
	return false
}

// dependsOnBusiness reports whether the page may be a success in another business.
func (e PageError) dependsOnBusiness() bool {
	switch e {
	case PagePermissionRequired, PageReviewRequired, PageBusinessRequired, PageBusinessChanged:
		return true
	}
	return false
}

// pageError returns the code of a failure.
func pageError(f apierror.Failure) PageError {
	if refused, ok := errors.AsType[codedError](f.Err); ok {
		return refused.code
	}
	switch {
	case f.Status >= http.StatusInternalServerError:
		return PageInternalError
	case f.Status == http.StatusForbidden:
		return PageForbidden
	case f.Status == http.StatusNotFound:
		return PageNotFound
	case f.Status == http.StatusMethodNotAllowed:
		return PageMethodNotAllowed
	case f.Status == http.StatusTooManyRequests:
		return PageTooManyRequests
	}
	return PageInvalidRequest
}
