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

// Verdict is the result of [Definition.Check]: [Visible], or the reason why not.
type Verdict string

// The verdicts.
const (
	Visible      Verdict = "visible"
	NotTheirs    Verdict = "not theirs"    // an event of another app's life
	NotInstalled Verdict = "not installed" // no ACTIVE installation in the business
	ScopeMissing Verdict = "scope missing" // the app or the installation lacks the event's scope
)

// Check decides whether a viewer may see an event. The Events API, the planning of
// deliveries and the check before each send use it. appID is the event's only app, if it
// has one.
func (d Definition) Check(appID string, v Viewer) Verdict {
	switch {
	case (d.Audience == AudienceApp || appID != "") && appID != v.AppID:
		return NotTheirs
	case d.Audience == AudienceApp:
		return Visible
	case !v.IsInstalled:
		return NotInstalled
	case !v.AppScopes.Has(d.Scope) || !v.InstallationScopes.Has(d.Scope):
		return ScopeMissing
	}
	return Visible
}
