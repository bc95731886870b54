package oauthserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// Fields of a decision, and what can be decided.
const (
	decisionField = "decision"
	businessField = "business_id"
	decideAllow   = "allow"
	decideDeny    = "deny"
)

// posted is a decision as a person sent it: who, what and when.
type posted struct {
	session identity.Session
	form    apierror.Form
	now     time.Time
}

// entry is what the audit log tells of the decision.
func (d posted) entry(action audit.Action, appID, businessID string) audit.Entry {
	return audit.Entry{ID: id.New(id.Audit, d.now), AppID: appID, UserID: d.session.UserID, Action: action, Target: businessID, At: d.now}
}

// serveDecision takes the answer to a consent page, and sends the browser back to
// the app with it.
func (s *Server) serveDecision(w http.ResponseWriter, r *http.Request) error {
	now := s.cfg.Clock.Now()
	form, err := readPageForm(r)
	if err != nil {
		return err
	}
	request, err := s.openRequest(r, form.Get(requestField), now)
	if err != nil {
		return err
	}
	session, ok, err := s.signedIn(w, r, request.resumeAt())
	if err != nil || !ok {
		return err
	}
	binding := csrfBinding{session: session, subject: request.secret.Reveal()}
	if err := s.checkCSRF(binding, form.Get(csrfField)); err != nil {
		return err
	}
	d := posted{session: session, form: form, now: now}
	var answer string
	switch form.Get(decisionField) {
	case decideAllow:
		answer, err = s.allowRequest(r.Context(), request, d)
	case decideDeny:
		answer, err = s.denyRequest(r.Context(), request, d)
	default:
		err = invalid(decisionField, "must be allow or deny")
	}
	if err != nil {
		return err
	}
	// Set as it is: http.Redirect would rewrite it.
	w.Header().Set("Location", callback(request.RedirectURI, answer, request.State))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// readPageForm reads a form of ours, in which nothing comes twice.
func readPageForm(r *http.Request) (apierror.Form, error) {
	form, err := apierror.DecodeForm(r, apierror.FormLimits{})
	var unreadable *apierror.Error
	switch {
	case errors.As(err, &unreadable) && unreadable.Status() < http.StatusInternalServerError:
		return nil, refused("invalid_request: " + unreadable.Messages()[0])
	case err != nil:
		return nil, err
	}
	if names := form.Repeated(); len(names) > 0 {
		return nil, repeatedParameter(names[0])
	}
	return form, nil
}

// allowRequest connects the app and returns the parameters of its code.
func (s *Server) allowRequest(ctx context.Context, request held, d posted) (string, error) {
	approval, _, err := s.approval(ctx, request.app, d, asked{redirectURI: request.RedirectURI, scopes: request.Scopes})
	if err != nil {
		return "", err
	}
	approval.RequestID, approval.Audit = request.ID, d.entry(audit.ConsentAllowed, request.app.ID, approval.BusinessID)
	code := secret.New(secret.AuthorizationCode)
	approved, err := s.cfg.Store.ApproveRequest(ctx, approval, NewCode{
		ID: id.New(id.Code, d.now), Digest: code.Digest(), ExpiresAt: d.now.Add(CodeLifetime),
	})
	if err != nil {
		return "", err
	}
	if approved.Outcome == ApprovalNotOpen {
		return "", refused(textRequest)
	}
	return "code=" + code.Reveal(), outcomeError(approved.Outcome)
}

func (s *Server) denyRequest(ctx context.Context, request held, d posted) (string, error) {
	err := s.cfg.Store.DenyRequest(ctx, Denial{RequestID: request.ID, Now: d.now, Audit: d.entry(audit.ConsentDenied, request.app.ID, "")})
	if errors.Is(err, ErrNotFound) {
		return "", refused(textRequest)
	}
	return "error=access_denied", err
}

// approval is this person's yes to what is asked, for a business where they may
// give it now.
func (s *Server) approval(ctx context.Context, app App, d posted, what asked) (Approval, Business, error) {
	businessID := d.form.Get(businessField)
	if businessID == "" {
		return Approval{}, Business{}, invalid(businessField, "is missing")
	}
	c, err := s.connection(ctx, app, d.session)
	if err != nil {
		return Approval{}, Business{}, err
	}
	what.unowned = c.unowned
	if what.business, err = c.business(businessID); err != nil {
		return Approval{}, Business{}, err
	}
	return Approval{
		UserID: d.session.UserID, BusinessID: businessID, Now: d.now,
		InstallationID: id.New(id.Installation, d.now), GrantID: id.New(id.Grant, d.now),
		Check:  func(app App) ApprovalOutcome { return s.judge(app, what) },
		Record: approvalEvents(d.now),
	}, what.business, nil
}

// outcomeError is the page for an approval that the store refused; nil for one
// that is done.
func outcomeError(outcome ApprovalOutcome) error {
	switch outcome {
	case ApprovalDone:
		return nil
	case ApprovalAppDead:
		return refused(textClient)
	case ApprovalBadRedirect:
		return refused(textRedirect)
	case ApprovalBadScopes:
		return refused(textScopes)
	case ApprovalUnreviewed:
		return forbidden(textReview)
	case ApprovalUserDead:
		return forbidden(textPermission)
	}
	return errors.New("approval: unknown outcome " + string(outcome))
}

// callback is the address that the browser goes to: the redirect URI, its own
// query kept, with the answer and the state as the app sent it.
func callback(redirectURI, answer string, state []byte) string {
	separator := "?"
	if strings.Contains(redirectURI, "?") {
		separator = "&"
	}
	if strings.HasSuffix(redirectURI, "?") || strings.HasSuffix(redirectURI, "&") {
		separator = ""
	}
	location := redirectURI + separator + answer
	if state != nil {
		location += "&state=" + headerSafe(state)
	}
	return location
}

// headerSafe percent-encodes the bytes that a Location cannot have. What is
// encoded already stays as it is.
func headerSafe(raw []byte) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range raw {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"#<>\\^`{|}", c) >= 0 {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
