package pages

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// advice is what a developer can do about a call that failed.
type advice struct {
	Text string
	Code string // a scope, a permission or another name, behind the text; empty: none
	Path string // of the page where it is done, below the app's own; empty: none
	Link string // the text of the link to Path
}

// adviceFor returns the advice for a call; the zero value for one that succeeded.
func (v *visit) adviceFor(r callstore.Request) advice {
	var body struct {
		Params map[string]string `json:"params"`
	}
	_ = json.Unmarshal([]byte(r.Error), &body) // a body of another shape has no parameters
	what := body.Params["p0"]
	switch {
	case r.Status < http.StatusBadRequest:
		return advice{}
	case r.Code == string(codes.InsufficientScope.Code) && what != "":
		if slices.Contains(v.app.Scopes.Names(), what) {
			return advice{"The app has this scope, but the business did not grant it, or the token was issued before. Send the person to the consent page again and ask for", what, "/installations", "See what each business granted"}
		}
		return advice{"Add this scope to the app, and ask for a new authorization with it. The call needs", what, "/settings", "Add the scope"}
	case r.Code == string(codes.PermissionRequired.Code):
		return advice{"The person who connected the app lacks a permission in the business, which an owner can give. The call needs", what, "", ""}
	case r.Code == string(codes.EndpointNotExposed.Code), r.Status == http.StatusNotFound && r.Route == "":
		return advice{"Check the method and the path: no route for apps serves them.", "", "", ""}
	case r.Status == http.StatusUnauthorized:
		return advice{"The token has expired or was revoked, or access has ended. Refresh it. If that fails with invalid_grant, ask for a new authorization.", "", "/installations", "See who has connected the app"}
	case r.Status == http.StatusTooManyRequests:
		return advice{"The app made too many calls. Wait as long as the header Retry-After says, and spread calls over time.", "", "/limits", "See the limits"}
	case r.Status == http.StatusNotFound:
		return advice{"The business has no record with the id of the path, or it was deleted.", "", "", ""}
	case r.Status == http.StatusConflict:
		return advice{"Something else was first. Read the record again and decide again; repeat the call only with the same Idempotency-Key.", "", "", ""}
	case r.Status == http.StatusBadRequest, r.Status == http.StatusUnprocessableEntity:
		return advice{"Correct what the message of the error names. Repeating the same call fails again.", "", "", ""}
	case r.Status >= http.StatusInternalServerError:
		return advice{"The service failed, not the app. Repeat the call later, a write with the same Idempotency-Key. If you report it, name the request id", r.RequestID, "", ""}
	}
	return advice{"The message of the error says why the call was refused.", "", "", ""}
}
