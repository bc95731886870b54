package oauthserver

// Decision is what somebody decided about an app, on the consent page or on the
// device page.
type Decision struct {
	UserID     string
	AppID      string
	BusinessID string // that the app is connected to now; empty after a denial
	Allowed    bool
	OnDevice   bool // on the device page
}
