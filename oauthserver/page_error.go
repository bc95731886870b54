package oauthserver

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
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
	PagePermissionRequired  PageError = "permission_required"
	PageDisconnectForbidden PageError = "disconnect_forbidden"
	PageBusinessRequired    PageError = "business_required"
	PageBusinessChanged     PageError = "business_changed"
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
func about(app App, v visitor, err error) error {
	if _, known := errors.AsType[*refusal](err); known || err == nil {
		return err
	}
	return &refusal{err: err, app: app.asReviewed().Name, visitor: v}
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
	case connectedAppsPath, revokeAccessPath, uninstallPath:
		return connectedAppsPath
	}
	return ""
}

// mayBeTriedAgain reports whether the person can try again by opening the same page.
func (e PageError) mayBeTriedAgain() bool {
	switch e {
	case PageInvalidRequest, PageBusinessRequired, PageBusinessChanged, PageFormExpired, PageCrossSite, PageDisconnectForbidden,
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

// pageErrors are the codes of texts. Texts that are not among them have the code of their
// status.
var pageErrors = map[string]PageError{
	textClient:     PageInvalidClient,
	textRedirect:   PageInvalidRedirect,
	textScopes:     PageInvalidScope,
	textPKCE:       PagePKCERequired,
	textTarget:     PageInvalidTarget,
	textTargetLong: PageInvalidTarget,
	textRequest:    PageRequestExpired,
	textReview:     PageReviewRequired,
	textPermission: PagePermissionRequired,
	textDisconnect: PageDisconnectForbidden,
	textSuspended:  PageAccountSuspended,
	textOrigin:     PageCrossSite,
	textUserCode:   PageUserCodeInvalid,
	textNoUserCode: PageUserCodeMissing,

	invalidText(businessField, problemNoBusiness):    PageBusinessRequired,
	invalidText(businessField, problemOtherBusiness): PageBusinessChanged,
	invalidText(csrfField, problemForeignToken):      PageFormExpired,
}

// pageError returns the code of a failure.
func pageError(f apierror.Failure) PageError {
	if code, ok := pageErrors[f.Message]; ok {
		return code
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
