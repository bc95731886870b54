package consent

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// The reasons of pages that refuse.
const (
	pageInvalidClient       pages.ErrorCode = "invalid_client"
	pageInvalidRedirect     pages.ErrorCode = "invalid_redirect_uri"
	pageInvalidScope        pages.ErrorCode = "invalid_scope"
	pagePKCERequired        pages.ErrorCode = "pkce_required"
	pageInvalidTarget       pages.ErrorCode = "invalid_target"
	pageInvalidRequest      pages.ErrorCode = "invalid_request" // a parameter, or anything else
	pageNotOffered          pages.ErrorCode = "connection_not_offered"
	pageConnectionsReached  pages.ErrorCode = "connections_reached"
	pageDisconnectForbidden pages.ErrorCode = "disconnect_forbidden"
	pageBusinessRequired    pages.ErrorCode = "business_required"
	pageBusinessChanged     pages.ErrorCode = "business_changed"
	pageNobodyLeft          pages.ErrorCode = "nobody_left"
	pageTakeOverPublic      pages.ErrorCode = "take_over_public"
	pageTakeOverClosed      pages.ErrorCode = "take_over_closed"
	pageFormExpired         pages.ErrorCode = "form_expired"
	pageCrossSite           pages.ErrorCode = "cross_site"
	pageAccountSuspended    pages.ErrorCode = "account_suspended"
	pageUserCodeMissing     pages.ErrorCode = "user_code_missing"
	pageUserCodeInvalid     pages.ErrorCode = "user_code_invalid"
	pageForbidden           pages.ErrorCode = "forbidden"
	pageNotFound            pages.ErrorCode = "not_found"
	pageMethodNotAllowed    pages.ErrorCode = "method_not_allowed"
	pageTooManyRequests     pages.ErrorCode = "too_many_requests"
	pageInternalError       pages.ErrorCode = "internal_error"
)

// The errors of pages that have a code of their own. Partners and their support know the texts
// by heart.
var (
	errClientID   = refused(pageInvalidClient, "Invalid client_id")
	errRedirect   = refused(pageInvalidRedirect, "redirect_uri does not match any registered URI")
	errScopes     = refused(pageInvalidScope, "Requested scopes not permitted for this client")
	errPKCE       = refused(pagePKCERequired, "PKCE is required for public clients")
	errTarget     = refused(pageInvalidTarget, "invalid_target")
	errTargetLong = refused(pageInvalidTarget, "invalid_target: resource must be one absolute URI of at most 512 characters")
	errRequest    = refused(pages.RequestExpired, "invalid_request: authorization request not found or expired")
	errUserCode   = refused(pageUserCodeInvalid, "This code is not valid, or it has expired. Check the code on your device and try again.")
	errNoUserCode = refused(pageUserCodeMissing, "Enter the code that your device shows.")

	errReview     = forbidden(pages.ReviewRequired, "This app has not completed review and can only connect to its own sandbox businesses")
	errFull       = forbidden(pageConnectionsReached, "This app has reached its number of connections")
	errPermission = forbidden(pages.PermissionRequired, "You do not have permission to connect apps to this business")
	errNotOffered = forbidden(pageNotOffered, "This app asks for no custom connection to a business of yours")
	errDisconnect = forbidden(pageDisconnectForbidden, "You do not have permission to disconnect apps from this business")
	errSuspended  = forbidden(pageAccountSuspended, "This account is suspended")
	errOrigin     = forbidden(pageCrossSite, "This form was sent from another site")

	errNoBusiness    = codedError{pageBusinessRequired, invalid(businessField, "is missing: choose the business to sign into first")}
	errOtherBusiness = codedError{pageBusinessChanged, invalid(businessField, "is not the business that you are signed into now; nothing was connected, enter the code again")}
	errForeignToken  = codedError{pageFormExpired, invalid(csrfField, "is not valid for this session; open the page again and decide there")}

	errTakeOverClosed    = refused(pageTakeOverClosed, "invalid_request: authorization request not found or expired")
	errTakeOverElsewhere = codedError{pageTakeOverClosed, invalid(businessField, "is not the business that you are signed into now; nothing was taken over")}
	errNobodyLeft        = conflict(pageNobodyLeft, "Nobody who connected this app has left the business")
	errTakeOverWider     = conflict(pageTakeOverClosed, "The app can do more now than the page showed; nothing was taken over")
	errPublicTakeOver    = conflict(pageTakeOverPublic, "The connection of this app cannot be taken over")
)

// codedError is an error whose page has a code of its own. Other errors have the code of
// their status.
type codedError struct {
	code pages.ErrorCode
	err  error
}

func (e codedError) Error() string { return e.err.Error() }
func (e codedError) Unwrap() error { return e.err }

// refused returns the error of a request that cannot be served: 400.
func refused(code pages.ErrorCode, text string) error {
	return codedError{code, apierror.Invalid(text)}
}

// forbidden returns the error of something that this person may not do: 403.
func forbidden(code pages.ErrorCode, text string) error {
	return codedError{code, apierror.Forbidden(text)}
}

// conflict returns the error of something that the state of a connection rules out: 409.
func conflict(code pages.ErrorCode, text string) error {
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
	missing []pages.MissingBusiness
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
func (s *Server) errorView(r *http.Request, f apierror.Failure) pages.ErrorView {
	known := refusalOf(f.Err)
	view := pages.ErrorView{Status: f.Status, Code: pageError(f), Message: f.Message, AppName: known.app, Missing: known.missing}
	view.Frame = s.frame(r, known.visitor)
	if view.Code == pages.ReviewRequired {
		view.Gap = gapOf(f.Err)
	}
	page := cmp.Or(known.visitor.page, startOf(r.URL.Path))
	if mayBeTriedAgain(view.Code) {
		view.Again = page
	}
	if r.URL.Path == devicePath && dependsOnBusiness(view.Code) {
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
func mayBeTriedAgain(code pages.ErrorCode) bool {
	switch code {
	case pageInvalidRequest, pageBusinessRequired, pageBusinessChanged, pageFormExpired, pageCrossSite, pageDisconnectForbidden,
		pageNobodyLeft, pageTakeOverPublic, pageTakeOverClosed,
		pageForbidden, pageNotFound, pageMethodNotAllowed, pageInternalError:
		return true
	}
	return false
}

// dependsOnBusiness reports whether the page may be a success in another business.
func dependsOnBusiness(code pages.ErrorCode) bool {
	switch code {
	case pages.PermissionRequired, pages.ReviewRequired, pageBusinessRequired, pageBusinessChanged:
		return true
	}
	return false
}

// pageError returns the code of a failure.
func pageError(f apierror.Failure) pages.ErrorCode {
	if refused, ok := errors.AsType[codedError](f.Err); ok {
		return refused.code
	}
	switch {
	case f.Status >= http.StatusInternalServerError:
		return pageInternalError
	case f.Status == http.StatusForbidden:
		return pageForbidden
	case f.Status == http.StatusNotFound:
		return pageNotFound
	case f.Status == http.StatusMethodNotAllowed:
		return pageMethodNotAllowed
	case f.Status == http.StatusTooManyRequests:
		return pageTooManyRequests
	}
	return pageInvalidRequest
}
