package oauthserver

import (
	"fmt"

	"github.com/partnerkit/partnerkit/apierror"
)

// The texts of pages that refuse. Partners and their support know them by heart.
const (
	textClient     = "Invalid client_id"
	textRedirect   = "redirect_uri does not match any registered URI"
	textScopes     = "Requested scopes not permitted for this client"
	textPKCE       = "PKCE is required for public clients"
	textTarget     = "invalid_target"
	textTargetLong = "invalid_target: resource must be one absolute URI of at most 512 characters"
	textRequest    = "invalid_request: authorization request not found or expired"
	textReview     = "This app has not completed review and can only connect to its own sandbox businesses"
	textPermission = "You do not have permission to connect apps to this business"
	textDisconnect = "You do not have permission to disconnect apps from this business"
	textSuspended  = "This account is suspended"
	textOrigin     = "This form was sent from another site"
	textUserCode   = "This code is not valid, or it has expired. Check the code on your device and try again."
	textNoUserCode = "Enter the code that your device shows."
)

// What can be wrong with a field of our own forms.
const (
	problemNoBusiness    = "is missing: choose the business to sign into first"
	problemOtherBusiness = "is not the business that you are signed into now; nothing was connected, enter the code again"
	problemForeignToken  = "is not valid for this session; open the page again and decide there"
)

// refused is a page about a request that cannot be served: 400.
func refused(text string) error { return apierror.Invalid(text) }

// invalid is a page about one parameter: 400.
func invalid(parameter, problem string) error {
	return apierror.Invalid(invalidText(parameter, problem))
}

func invalidText(parameter, problem string) string {
	return fmt.Sprintf("invalid_request: %s %s", parameter, problem)
}

// forbidden is a page about something that this person may not do: 403.
func forbidden(text string) error { return apierror.Forbidden(text) }
