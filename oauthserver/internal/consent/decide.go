package consent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Fields of a decision, and what can be decided.
const (
	decisionField = "decision"
	businessField = "business_id"
	decideAllow   = "allow"
	decideDeny    = "deny"
)

// decisionForm is a decision as a person sent it: who, what and when.
type decisionForm struct {
	session identity.Session
	form    bodies.Form
	now     time.Time
}

// entry returns the audit log entry of the decision.
func (d decisionForm) entry(action audit.Action, appID, businessID string) audit.Entry {
	return audit.Entry{ID: id.New(id.Audit, d.now), AppID: appID, UserID: d.session.UserID, Action: action, Target: businessID, At: d.now}
}

// serveDecision takes the decision from a consent page and redirects the browser to the app.
func (s *Server) serveDecision(w http.ResponseWriter, r *http.Request) error {
	form, err := readPageForm(r)
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now() // after the body, which the browser may have sent late
	request, err := s.openRequest(r, form.Get(requestField), now)
	if err != nil {
		return err
	}
	session, ok, err := s.signedIn(w, r, request.resumeAt())
	if err != nil || !ok {
		return err
	}
	parameter, err := s.decideRequest(r.Context(), request, decisionForm{session: session, form: form, now: now})
	if err != nil {
		return about(request.app, visitor{session, request.resumeAt()}, err)
	}
	// Set as it is: http.Redirect would rewrite it.
	w.Header().Set("Location", s.callback(request.AuthorizationRequest, parameter))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// decideRequest allows or denies a request and returns the parameter for the app.
func (s *Server) decideRequest(ctx context.Context, request storedRequest, d decisionForm) (string, error) {
	binding := csrfBinding{session: d.session, subject: request.secret.Reveal()}
	if err := s.checkCSRF(binding, d.form.Get(csrfField)); err != nil {
		return "", err
	}
	switch d.form.Get(decisionField) {
	case decideAllow:
		return s.allowRequest(ctx, request, d)
	case decideDeny:
		return s.denyRequest(ctx, request, d)
	}
	return "", invalid(decisionField, "must be allow or deny")
}

// callback returns the address that the browser is sent to, with the parameter of the response.
func (s *Server) callback(request oauthstore.AuthorizationRequest, parameter string) string {
	issuer := ""
	if s.cfg.IssuerParameter {
		issuer = s.apiOrigin
	}
	return uri.Callback(request.RedirectURI, uri.Response{Parameter: parameter, State: request.State, Issuer: issuer})
}

// readPageForm reads a form of ours, in which nothing comes twice.
func readPageForm(r *http.Request) (bodies.Form, error) {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	var unreadable *apierror.Error
	switch {
	case errors.As(err, &unreadable) && unreadable.Status() < http.StatusInternalServerError:
		return nil, apierror.Invalid("invalid_request: " + unreadable.Problems()[0].Text)
	case err != nil:
		return nil, err
	}
	if names := form.Repeated(); len(names) > 0 {
		return nil, repeatedParameter(names[0])
	}
	return form, nil
}

// allowRequest connects the app and returns the parameters of its code.
func (s *Server) allowRequest(ctx context.Context, request storedRequest, d decisionForm) (string, error) {
	approval, _, err := s.approval(ctx, request.app, d, request.wish())
	if err != nil {
		return "", err
	}
	approval.RequestID, approval.Audit = request.ID, d.entry(audited.ConsentAllowed, request.app.ID, approval.BusinessID)
	code := secret.New(secret.AuthorizationCode)
	approval.Code = oauthstore.NewCode{ID: id.New(id.Code, d.now), Digest: code.Digest(), ExpiresAt: d.now.Add(s.cfg.Lifetimes.Code)}
	approved, err := s.cfg.Store.DecideRequest(ctx, approval)
	if err != nil {
		return "", err
	}
	s.tellApproved(ctx, approved, d.session.UserID)
	if approved.Outcome == oauthstore.ApprovalNotOpen {
		return "", errRequest
	}
	return "code=" + code.Reveal(), outcomeError(approved.Outcome)
}

func (s *Server) denyRequest(ctx context.Context, request storedRequest, d decisionForm) (string, error) {
	denied, err := s.cfg.Store.DecideRequest(ctx, d.denial(request.ID, d.entry(audited.ConsentDenied, request.app.ID, "")))
	switch {
	case err != nil:
		return "", err
	case denied.Outcome == oauthstore.ApprovalNotOpen:
		return "", errRequest
	}
	return "error=access_denied", nil
}

// denial returns the decision of a person who denies the request.
func (d decisionForm) denial(requestID string, entry audit.Entry) oauthstore.Decision {
	return oauthstore.Decision{RequestID: requestID, Now: d.now, Audit: entry, IsDenied: true}
}

// approval returns the decision of a person who approves what the app asks for, in a business
// where the person may connect apps now.
func (s *Server) approval(ctx context.Context, app partner.App, d decisionForm, w wish) (oauthstore.Decision, core.Business, error) {
	businessID := d.form.Get(businessField)
	if businessID == "" {
		return oauthstore.Decision{}, core.Business{}, invalid(businessField, "is missing")
	}
	c, err := s.connection(ctx, app, d.session, w)
	if err != nil {
		return oauthstore.Decision{}, core.Business{}, err
	}
	b, err := c.business(businessID)
	if err != nil {
		return oauthstore.Decision{}, core.Business{}, s.withGap(ctx, c, err)
	}
	approval := oauthstore.Decision{
		UserID: d.session.UserID, BusinessID: businessID, Now: d.now,
		InstallationID: id.New(id.Installation, d.now), GrantID: id.New(id.Grant, d.now),
		Check:  func(app partner.App) oauthstore.ApprovalOutcome { return s.checkApproval(app, c, b) },
		Record: approvalEvents(d.now),
	}
	return approval, b, s.bound(ctx, &approval, c, b)
}

// outcomeError is the page for an approval that the store refused; nil for one
// that is done.
func outcomeError(outcome oauthstore.ApprovalOutcome) error {
	switch outcome {
	case oauthstore.ApprovalDone:
		return nil
	case oauthstore.ApprovalAppDead:
		return errClientID
	case oauthstore.ApprovalBadRedirect:
		return errRedirect
	case oauthstore.ApprovalBadScopes:
		return errScopes
	case oauthstore.ApprovalUnreviewed:
		return errReview
	case oauthstore.ApprovalUserDead:
		return errPermission
	case oauthstore.ApprovalNotNamed:
		return errNotOffered
	case oauthstore.ApprovalFull:
		return errFull
	}
	return errors.New("approval: unknown outcome " + string(outcome))
}

// checkApproval checks whether an app may be connected to a business. The store calls it with
// the app as it is under the lock of the operation.
func (s *Server) checkApproval(app partner.App, c connection, b core.Business) oauthstore.ApprovalOutcome {
	switch {
	case !app.IsUsable():
		return oauthstore.ApprovalAppDead
	case c.wish.redirectURI != "" && !s.isRegistered(app, c.wish.redirectURI):
		return oauthstore.ApprovalBadRedirect
	case !app.Scopes.HasAll(c.wish.scopes):
		return oauthstore.ApprovalBadScopes
	case !s.mayConnectTo(app, b, c.wish, c.trust):
		return oauthstore.ApprovalUnreviewed
	}
	return oauthstore.ApprovalDone
}

// approvalEvents returns the events of an approval.
func approvalEvents(now time.Time) func(oauthstore.Approved) []partner.Event {
	return func(a oauthstore.Approved) []partner.Event {
		switch {
		case a.Installed:
			return core.InstallationEvent(events.AppInstalled, a.Installation, now)
		case a.Widened:
			return core.InstallationEvent(events.AppScopesUpdated, a.Installation, now)
		}
		return nil
	}
}

// tellApproved notifies of an approval by a user that connected an app or widened its scopes.
func (s *Server) tellApproved(ctx context.Context, a oauthstore.Approved, userID string) {
	n := events.Notification{
		AppID: a.App.ID, BusinessID: a.Installation.BusinessID, UserID: userID, Detail: a.Installation.Scopes.String(),
	}
	switch {
	case a.Outcome != oauthstore.ApprovalDone:
		return
	case a.Installed:
		n.Kind = events.NotifyAppConnected
	case a.Widened:
		n.Kind = events.NotifyScopesChanged
	default:
		return
	}
	s.Tell(ctx, n)
}

// bound sets to how many businesses an approval may connect the app.
func (s *Server) bound(ctx context.Context, approval *oauthstore.Decision, c connection, b core.Business) (err error) {
	approval.OwnSandbox = isOwnSandbox(c.app, b, c.trust)
	approval.MaxConnections, err = s.maxConnections(ctx, c.app)
	return err
}

// maxConnections returns to how many businesses an app may be connected; 0: to any number.
func (s *Server) maxConnections(ctx context.Context, app partner.App) (int, error) {
	if s.cfg.MaxConnectionsFor == nil {
		return s.cfg.MaxConnections, nil
	}
	most, err := s.cfg.MaxConnectionsFor(ctx, app)
	if err == nil && most < 0 {
		err = fmt.Errorf("it returned %d", most)
	}
	if err != nil {
		return 0, fmt.Errorf("MaxConnectionsFor: %w", err)
	}
	return most, nil
}
