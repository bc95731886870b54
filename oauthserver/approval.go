package oauthserver

import "github.com/partnerkit/partnerkit/identity"

// asked is what a user is about to approve, and where.
type asked struct {
	redirectURI string // empty in the device flow
	scopes      identity.Scopes
	business    Business
	// unowned stands in for the organization of an app that has none.
	unowned string
}

// judge says whether an app may be connected so. It is asked when the page is
// shown, and again under the store's lock when the user has decided.
func (s *Server) judge(app App, a asked) ApprovalOutcome {
	switch {
	case !app.IsUsable():
		return ApprovalAppDead
	case a.redirectURI != "" && !matchRedirect(app.RedirectURIs, a.redirectURI, s.anyLoopbackPort(app)):
		return ApprovalBadRedirect
	case !app.Scopes.HasAll(a.scopes):
		return ApprovalBadScopes
	case !mayConnectTo(app, a.business, a.unowned):
		return ApprovalUnreviewed
	}
	return ApprovalDone
}

// mayConnectTo is the rule of review: until it is completed, only sandbox
// businesses of the app's own organization.
func mayConnectTo(app App, business Business, unowned string) bool {
	if app.Reviewed {
		return true
	}
	owner := app.OrganizationID
	if owner == "" {
		owner = unowned
	}
	return owner != "" && business.SandboxOf == owner
}

// anyLoopbackPort reports whether the port of the app's loopback redirect URIs
// does not count.
func (s *Server) anyLoopbackPort(app App) bool {
	switch s.cfg.LoopbackPorts {
	case LoopbackPortsAll:
		return true
	case LoopbackPortsOff:
		return false
	}
	return app.Origin == OriginDocument
}
