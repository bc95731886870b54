package events

import "github.com/partnerkit/partnerkit/identity"

// Viewer is an app before an event of some business, as both stand right now.
type Viewer struct {
	AppID     string
	AppScopes identity.Scopes
	// IsInstalled reports an ACTIVE installation in the event's business.
	IsInstalled        bool
	InstallationScopes identity.Scopes
}

// IsVisible reports whether a viewer may see an event: one about its own life, or one of a
// business in which it is installed and whose scope the app and the installation both have.
// The Events API, the planning of deliveries and the check before each send use it. appID is
// the event's only app, if it has one.
func (d Definition) IsVisible(appID string, v Viewer) bool {
	switch {
	case (d.Audience == AudienceApp || appID != "") && appID != v.AppID:
		return false
	case d.Audience == AudienceApp:
		return true
	}
	return v.IsInstalled && v.AppScopes.Has(d.Scope) && v.InstallationScopes.Has(d.Scope)
}
