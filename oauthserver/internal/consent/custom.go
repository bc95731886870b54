package consent

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// newConnectionPath is the page on which a business approves a custom connection.
const newConnectionPath = "/connections/new"

func (s *Server) customConnectionRoutes() map[string]apierror.Handler {
	if !s.cfg.CustomConnections {
		return nil
	}
	return map[string]apierror.Handler{
		"GET " + newConnectionPath:  s.serveNewConnection,
		"POST " + newConnectionPath: s.serveConnectionDecision,
	}
}

func newConnectionOf(app partner.App) string {
	return newConnectionPath + "?" + url.Values{"client_id": {app.ClientID}}.Encode()
}

// ConnectionPage returns the URL of the page on which the business that an app names approves a
// custom connection.
func (s *Server) ConnectionPage(app partner.App) string { return s.appOrigin + newConnectionOf(app) }

// serveNewConnection asks whether an app may have a custom connection to the business that it
// names. Nobody but the members of that business learns that it was named.
func (s *Server) serveNewConnection(w http.ResponseWriter, r *http.Request) error {
	app, err := s.customApp(r)
	if err != nil {
		return err
	}
	session, ok, err := s.signedIn(w, r, newConnectionOf(app))
	if err != nil || !ok {
		return err
	}
	v := visitor{session, newConnectionOf(app)}
	return about(app, v, s.showNewConnection(w, r, app, v))
}

// customApp returns the usable app of the client_id parameter. It fetches no metadata
// document: such apps are not made by an organization.
func (s *Server) customApp(r *http.Request) (partner.App, error) {
	query, problem := parseAuthorizeQuery(r.URL.RawQuery)
	if p := query["client_id"]; p != nil && len(p.values) > 1 {
		return partner.App{}, repeatedParameter("client_id")
	}
	clientID, err := query.one("client_id")
	if problem != nil || err != nil || clientID == "" || len(clientID) > maxClientID || !text.IsVisible(clientID) {
		return partner.App{}, errClientID
	}
	app, err := s.AppByClientID(r.Context(), clientID)
	if errors.Is(err, partner.ErrNotFound) || err == nil && !app.IsUsable() {
		return partner.App{}, errClientID
	}
	return app, err
}

// customOffer is a custom connection that a person may approve.
type customOffer struct {
	connection
	business    core.Business
	permissions []string
}

// offer returns the custom connection of an app that the person may approve now, with these
// scopes. It runs for the page and again for the decision.
func (s *Server) offer(ctx context.Context, app partner.App, session identity.Session, scopes identity.Scopes) (customOffer, error) {
	c, err := s.connection(ctx, app, session, wish{scopes: scopes})
	if err != nil {
		return customOffer{}, err
	}
	if app.Type != partner.Confidential || app.CustomBusinessID == "" {
		return customOffer{}, errNotOffered
	}
	i := slices.IndexFunc(c.businesses, func(b core.Business) bool { return b.ID == app.CustomBusinessID })
	switch {
	case i < 0:
		return customOffer{}, errNotOffered
	case !c.businesses[i].MayConnect:
		return customOffer{}, errPermission
	case scopes.IsEmpty() || !s.mayAsk(app, scopes):
		return customOffer{}, errScopes
	}
	o := customOffer{connection: c, business: c.businesses[i]}
	if s.cfg.CallPermissions == nil {
		return o, nil
	}
	o.permissions, err = s.cfg.CallPermissions(ctx, o.business.ID, session.UserID, scopes)
	return o, err
}

// csrf binds the form of a request to the permissions that the page shows: the form is not valid
// for others that the person has at the decision.
func (o customOffer) csrf(session identity.Session, request secret.Secret) csrfBinding {
	return csrfBinding{session: session, subject: "custom connection " + request.Reveal() + " " + strings.Join(o.permissions, " ")}
}

// isReviewed reports whether a review covers the app and the scopes.
func (o customOffer) isReviewed() bool {
	return o.trust.reviewed || o.app.Reviewed && o.server.reviewGap(o.app, o.wish).IsEmpty()
}

func (s *Server) showNewConnection(w http.ResponseWriter, r *http.Request, app partner.App, v visitor) error {
	scopes := app.Scopes.Intersect(s.cfg.Scopes.Requestable())
	o, err := s.offer(r.Context(), app, v.session, scopes)
	if err != nil {
		return err
	}
	named, now := secret.New(secret.ConsentRequest), s.cfg.Clock.Now()
	if err := s.cfg.Store.HoldRequest(r.Context(), oauthstore.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: named.Digest(), Browser: s.knowBrowser(w, r).Digest(), Session: sessionDigest(v.session),
		Purpose: oauthstore.PurposeCustom, BusinessID: o.business.ID, AppID: app.ID, Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(s.cfg.Lifetimes.Request),
	}); err != nil {
		return err
	}
	token, err := s.csrfToken(o.csrf(v.session, named))
	if err != nil {
		return err
	}
	isReviewed := o.isReviewed()
	o.app = o.shown(o.business)
	view, err := s.consentView(r, v, o.connection, scopes)
	if err != nil {
		return err
	}
	if view.Maker, err = s.maker(r.Context(), app); err != nil {
		return err
	}
	view.ForInstallation, view.Unreviewed = true, !isReviewed
	view.Permissions = permissionViews(view.Language, o.permissions)
	view.Businesses, view.FixedTo = []pages.BusinessView{businessView(o.business, true)}, o.business.ID
	view.Action = newConnectionPath
	view.Hidden = []pages.HiddenField{{Name: requestField, Value: named.Reveal()}, {Name: csrfField, Value: token}}
	return s.cfg.Pages.Consent(w, r, view)
}

// maker returns the name of the organization that made an app, or its id if the host names
// none.
func (s *Server) maker(ctx context.Context, app partner.App) (string, error) {
	if s.cfg.OrganizationName == nil {
		return app.OrganizationID, nil
	}
	name, err := s.cfg.OrganizationName(ctx, app.OrganizationID)
	if name = text.Line(name); name == "" {
		name = app.OrganizationID
	}
	return name, err
}

// permissionViews describes permissions in a language.
func permissionViews(language locale.Language, permissions []string) []pages.ScopeView {
	views := make([]pages.ScopeView, len(permissions))
	for i, name := range permissions {
		views[i] = pages.ScopeView{Name: name, Description: language.Permission(name)}
	}
	return views
}

// serveConnectionDecision takes the decision from the page.
func (s *Server) serveConnectionDecision(w http.ResponseWriter, r *http.Request) error {
	form, err := readPageForm(r)
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now() // after the body, which the browser may have sent late
	request, err := s.findRequest(r, oauthstore.PurposeCustom, form.Get(requestField), now)
	if err != nil {
		return err
	}
	v := visitor{page: newConnectionOf(request.app)}
	session, ok, err := s.signedIn(w, r, v.page)
	if err != nil || !ok {
		return err
	}
	v.session = session
	view, err := s.decideConnection(r.Context(), request, decisionForm{session: session, form: form, now: now})
	if err != nil {
		return about(request.app, v, err)
	}
	view.Frame, view.ForInstallation = s.frame(r, visitor{session: session}), true
	if !s.cfg.ConnectedApps.Omit {
		view.AppsPath = connectedAppsPath
	}
	return s.cfg.Pages.Done(w, r, view)
}

// decideConnection approves or denies a custom connection.
func (s *Server) decideConnection(ctx context.Context, request storedRequest, d decisionForm) (pages.DoneView, error) {
	app := request.app
	o, err := s.offer(ctx, app, d.session, request.Scopes)
	if err != nil {
		return pages.DoneView{}, err
	}
	if err := s.checkCSRF(o.csrf(d.session, request.secret), d.form.Get(csrfField)); err != nil {
		return pages.DoneView{}, err
	}
	done := pages.DoneView{AppName: o.shown(o.business).Name, Business: o.business.Name}
	var decision oauthstore.Decision
	switch d.form.Get(decisionField) {
	case decideAllow:
		if d.form.Get(businessField) != o.business.ID { // the app has named another one
			return pages.DoneView{}, errNotOffered
		}
		done.Approved = true
		decision = oauthstore.Decision{
			RequestID: request.ID, Now: d.now, Audit: d.entry(audited.CustomConnectionAllowed, app.ID, o.business.ID),
			UserID: d.session.UserID, BusinessID: o.business.ID, InstallationID: id.New(id.Installation, d.now), GrantID: id.New(id.Grant, d.now),
			ForInstallation: true, Permissions: o.permissions,
			Check: func(app partner.App) oauthstore.ApprovalOutcome {
				return checkCustomApproval(app, o.business.ID, request.Scopes)
			},
			Record: approvalEvents(d.now),
		}
		if err := s.bound(ctx, &decision, o.connection, o.business); err != nil {
			return pages.DoneView{}, err
		}
	case decideDeny:
		decision = d.denial(request.ID, d.entry(audited.CustomConnectionDenied, app.ID, o.business.ID))
	default:
		return pages.DoneView{}, invalid(decisionField, "must be allow or deny")
	}
	decided, err := s.cfg.Store.DecideRequest(ctx, decision)
	switch {
	case err != nil:
		return pages.DoneView{}, err
	case decided.Outcome == oauthstore.ApprovalNotOpen:
		return pages.DoneView{}, errRequest
	case done.Approved:
		s.tellApproved(ctx, decided, d.session.UserID)
	}
	return done, outcomeError(decided.Outcome)
}

// checkCustomApproval checks whether an app may have a custom connection. The store calls it
// with the app as it is under the lock of the operation.
func checkCustomApproval(app partner.App, businessID string, scopes identity.Scopes) oauthstore.ApprovalOutcome {
	switch {
	case !app.IsUsable():
		return oauthstore.ApprovalAppDead
	case app.CustomBusinessID != businessID:
		return oauthstore.ApprovalNotNamed
	case !app.Scopes.HasAll(scopes):
		return oauthstore.ApprovalBadScopes
	}
	return oauthstore.ApprovalDone
}
