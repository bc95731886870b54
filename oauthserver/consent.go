package oauthserver

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/identity"
)

// connection is an app that a person may connect to some of their businesses.
type connection struct {
	app        App
	unowned    string // stands in for the organization of an app that has none
	businesses []Business
}

// connection asks the host and its policy what this person can do. It is made
// anew for the page and for the decision.
func (s *Server) connection(ctx context.Context, app App, session identity.Session) (connection, error) {
	status, err := s.cfg.Store.UserStatus(ctx, session.UserID)
	if err != nil {
		return connection{}, err
	}
	if status != UserActive {
		return connection{}, forbidden(textPermission)
	}
	c := connection{app: app}
	if app.OrganizationID == "" && !app.Reviewed && s.cfg.Unowned != nil {
		if c.unowned, err = s.cfg.Unowned(ctx, app, session.UserID); err != nil {
			return connection{}, err
		}
	}
	c.businesses, err = s.cfg.Host.Businesses(ctx, session.UserID)
	return c, err
}

// judge returns the page that says why the app cannot be connected there; nil
// when it can.
func (c connection) judge(b Business) error {
	switch {
	case !b.MayConnect:
		return forbidden(textPermission)
	case !mayConnectTo(c.app, b, c.unowned):
		return forbidden(textReview)
	}
	return nil
}

// eligible are the businesses to choose from; with none it is an error that says
// why.
func (c connection) eligible() ([]Business, error) {
	var eligible []Business
	refusal := forbidden(textPermission)
	for _, b := range c.businesses {
		switch err := c.judge(b); {
		case err == nil:
			eligible = append(eligible, b)
		case b.MayConnect:
			refusal = err
		}
	}
	if len(eligible) == 0 {
		return nil, refusal
	}
	return eligible, nil
}

// business returns the one with that id, if the app can be connected there.
func (c connection) business(id string) (Business, error) {
	i := slices.IndexFunc(c.businesses, func(b Business) bool { return b.ID == id })
	if i < 0 {
		return Business{}, forbidden(textPermission)
	}
	return c.businesses[i], c.judge(c.businesses[i])
}

// showConsent asks whether the app may be connected, and where.
func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, session identity.Session, request held) error {
	c, err := s.connection(r.Context(), request.app, session)
	if err != nil {
		return err
	}
	eligible, err := c.eligible()
	if err != nil {
		return err
	}
	token, err := s.csrfToken(csrfBinding{session: session, subject: request.secret.Reveal()})
	if err != nil {
		return err
	}
	view := s.consentView(r, request.app, request.Scopes)
	view.Action = authorizePath
	view.ReturnsTo = returnsTo(request.RedirectURI)
	view.Hidden = []HiddenField{{requestField, request.secret.Reveal()}, {csrfField, token}}
	for _, b := range eligible {
		view.Businesses = append(view.Businesses, businessView(b, b.ID == session.BusinessID || len(eligible) == 1))
	}
	allowRedirect(w.Header(), r, request.RedirectURI)
	return s.cfg.Pages.Consent(w, r, view)
}

// consentView is what the page says about an app, whichever flow asks.
func (s *Server) consentView(r *http.Request, app App, scopes identity.Scopes) ConsentView {
	view := ConsentView{Service: s.cfg.Service, Nonce: nonce(r), AppName: app.Name, Unreviewed: !app.Reviewed}
	if app.Origin == OriginDocument {
		if u, err := url.Parse(app.ClientID); err == nil {
			view.ClientHost = u.Host
		}
	}
	for name := range scopes.All() {
		scope, _ := s.cfg.Scopes.Lookup(name) // mayAsk has seen it there
		view.Scopes = append(view.Scopes, ScopeView{Name: name, Description: scope.Description})
	}
	return view
}

func businessView(b Business, selected bool) BusinessView { //nolint:revive // the value, not a switch
	return BusinessView{ID: b.ID, Name: b.Name, Sandbox: b.SandboxOf != "", Selected: selected}
}
