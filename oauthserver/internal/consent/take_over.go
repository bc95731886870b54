package consent

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// TakeOver makes a connection of people who have left that of another person; see
// oauthserver.Server.TakeOver.
func (s *Server) TakeOver(ctx context.Context, appID, businessID, userID string) error {
	app, err := s.cfg.Store.App(ctx, appID)
	if err != nil {
		return err
	}
	t, err := s.takeOver(ctx, app, businessID, identity.Session{UserID: userID})
	if err != nil {
		return err
	}
	return t.do(ctx, decisionForm{session: identity.Session{UserID: userID}, now: s.cfg.Clock.Now()}, oauthstore.AuthorizationRequest{Scopes: t.wish.scopes})
}

// takeOver is a connection that a person may take over.
type takeOver struct {
	connection
	business core.Business
	left     []string // the users who have left
}

// takeOver returns the connection of an app to a business. Its wish has the scopes that the
// tokens of the people who have left have now.
func (s *Server) takeOver(ctx context.Context, app partner.App, businessID string, session identity.Session) (takeOver, error) {
	var none takeOver
	if !app.IsUsable() {
		return none, errClientID
	}
	c, err := s.connection(ctx, app, session, wish{})
	if err != nil {
		return none, err
	}
	t := takeOver{connection: c}
	if t.business, err = c.business(businessID); err != nil {
		return none, err
	}
	installed, err := s.cfg.Store.Installations(ctx, partner.InstallationQuery{AppID: app.ID, BusinessID: businessID})
	switch {
	case err != nil:
		return none, err
	case len(installed) == 0:
		return none, partner.ErrNotFound
	case app.Type != partner.Confidential:
		return none, errPublicTakeOver
	}
	grants, err := s.cfg.Store.Grants(ctx, businessID, app.ID)
	if err != nil {
		return none, err
	}
	for _, g := range grants {
		isMember, err := s.IsMember(ctx, businessID, g.UserID)
		if err != nil {
			return none, err
		}
		if !isMember {
			t.left = append(t.left, g.UserID)
			t.wish.scopes = t.wish.scopes.Union(g.Scopes)
		}
	}
	if len(t.left) == 0 {
		return none, errNobodyLeft
	}
	t.wish.scopes = t.wish.scopes.Intersect(app.Scopes).Intersect(installed[0].Scopes)
	return t, t.check(t.business)
}

// do takes the connection over. The request says which scopes the person saw.
func (t takeOver) do(ctx context.Context, d decisionForm, request oauthstore.AuthorizationRequest) error {
	s := t.server
	outcome, err := s.cfg.Store.TakeOver(ctx, oauthstore.TakeOver{
		RequestID: request.ID, AppID: t.app.ID, BusinessID: t.business.ID, UserID: d.session.UserID, From: t.left,
		GrantID: id.New(id.Grant, d.now), Now: d.now, Audit: d.entry(audited.ConnectionTakenOver, t.app.ID, t.business.ID),
		Check: func(app partner.App, scopes identity.Scopes) oauthstore.ApprovalOutcome {
			t.wish.scopes = scopes
			if !request.Scopes.HasAll(scopes) {
				return oauthstore.ApprovalWider
			}
			return s.checkApproval(app, t.connection, t.business)
		},
	})
	if err != nil {
		return err
	}
	if err := takeOverError(outcome); err != nil {
		return err
	}
	s.Tell(ctx, events.Notification{Kind: events.NotifyConnectionTakenOver, AppID: t.app.ID, BusinessID: t.business.ID, UserID: d.session.UserID})
	return nil
}

func takeOverError(outcome oauthstore.ApprovalOutcome) error {
	switch outcome {
	case oauthstore.ApprovalNotOpen:
		return errTakeOverClosed
	case oauthstore.ApprovalNobodyLeft:
		return errNobodyLeft
	case oauthstore.ApprovalWider:
		return errTakeOverWider
	}
	return outcomeError(outcome)
}

// serveTakeOver takes the name of an app and asks for the decision, or takes the decision.
func (s *Server) serveTakeOver(w http.ResponseWriter, r *http.Request) error {
	form, err := readPageForm(r)
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now() // after the body, which the browser may have sent late
	m, ok, err := s.member(w, r)
	if err != nil || !ok {
		return err
	}
	d := decisionForm{session: m.session, form: form, now: now}
	if form.Has(decisionField) {
		err = s.decideTakeOver(w, r, d)
	} else {
		err = s.askTakeOver(w, r, d)
	}
	return about(partner.App{}, visitor{m.session, connectedAppsPath}, err)
}

// askTakeOver opens a request for the decision and shows its page.
func (s *Server) askTakeOver(w http.ResponseWriter, r *http.Request, d decisionForm) error {
	clientID := d.form.Get("client_id")
	if clientID == "" {
		return invalid("client_id", "is missing")
	}
	app, err := s.AppByClientID(r.Context(), clientID)
	var t takeOver
	if err == nil {
		t, err = s.takeOver(r.Context(), app, d.session.BusinessID, d.session)
	}
	if errors.Is(err, partner.ErrNotFound) {
		return apierror.NotFound("client " + clientID)
	}
	if err != nil {
		return err
	}
	request := storedRequest{secret: secret.New(secret.ConsentRequest), app: app, AuthorizationRequest: oauthstore.AuthorizationRequest{
		ID: id.New(id.Authorization, d.now), Purpose: oauthstore.PurposeTakeOver, BusinessID: t.business.ID,
		Browser: s.knowBrowser(w, r).Digest(), Session: sessionDigest(d.session), AppID: app.ID, Scopes: t.wish.scopes,
		CreatedAt: d.now, ExpiresAt: d.now.Add(s.cfg.Lifetimes.Request),
	}}
	request.Digest = request.secret.Digest()
	if err := s.cfg.Store.HoldRequest(r.Context(), request.AuthorizationRequest); err != nil {
		return err
	}
	return s.showTakeOver(w, r, t, request, d.session)
}

func (s *Server) showTakeOver(w http.ResponseWriter, r *http.Request, t takeOver, request storedRequest, session identity.Session) error {
	token, err := s.csrfToken(csrfBinding{session: session, subject: request.secret.Reveal()})
	if err != nil {
		return err
	}
	app := t.shown(t.business)
	listing, err := s.listing(r.Context(), app)
	if err != nil {
		return err
	}
	view := pages.TakeOverView{
		Frame: s.frame(r, visitor{session, connectedAppsPath}), AppName: app.Name, Listing: listing, Business: t.business.Name, Action: takeOverPath,
		Hidden: []pages.HiddenField{{Name: requestField, Value: request.secret.Reveal()}, {Name: csrfField, Value: token}},
	}
	view.Scopes = s.scopeViews(view.Language, request.Scopes)
	if s.cfg.LentPermissions != nil {
		permissions, err := s.cfg.LentPermissions(r.Context(), t.business.ID, session.UserID, request.Scopes)
		if err != nil {
			return err
		}
		view.Permissions = permissionViews(view.Language, permissions)
	}
	return s.cfg.Pages.TakeOver(w, r, view)
}

// decideTakeOver takes the decision from the page.
func (s *Server) decideTakeOver(w http.ResponseWriter, r *http.Request, d decisionForm) error {
	request, err := s.openTakeOver(r, d)
	if err != nil {
		return err
	}
	if err := s.checkCSRF(csrfBinding{session: d.session, subject: request.secret.Reveal()}, d.form.Get(csrfField)); err != nil {
		return err
	}
	done := url.Values{}
	switch d.form.Get(decisionField) {
	case decideAllow:
		t, err := s.takeOver(r.Context(), request.app, request.BusinessID, d.session)
		if err == nil {
			err = t.do(r.Context(), d, request.AuthorizationRequest)
		}
		if errors.Is(err, partner.ErrNotFound) { // disconnected meanwhile
			return errNobodyLeft
		}
		if err != nil {
			return err
		}
		done.Set("done", string(audited.ConnectionTakenOver))
	case decideDeny:
		denied, err := s.cfg.Store.DecideRequest(r.Context(), d.denial(request.ID, d.entry(audited.ConsentDenied, request.AppID, request.BusinessID)))
		switch {
		case err != nil:
			return err
		case denied.Outcome == oauthstore.ApprovalNotOpen:
			return errTakeOverClosed
		}
	default:
		return invalid(decisionField, "must be allow or deny")
	}
	target := url.URL{Path: connectedAppsPath, RawQuery: done.Encode()}
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
	return nil
}

// openTakeOver returns the request of a decision, if it can still be decided in this browser
// and in the business that the person is signed in to.
func (s *Server) openTakeOver(r *http.Request, d decisionForm) (storedRequest, error) {
	request, err := s.findRequest(r, oauthstore.PurposeTakeOver, d.form.Get(requestField), d.now)
	switch {
	case errors.Is(err, errRequest):
		return storedRequest{}, errTakeOverClosed
	case err != nil:
		return storedRequest{}, err
	case request.BusinessID != d.session.BusinessID:
		return storedRequest{}, errTakeOverElsewhere
	}
	return request, nil
}
