package oauthserver

import (
	"context"
	"errors"
	"net/http"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// decideDevice takes the decision about a code. The form's token was made for
// this very code, so that nobody finds codes by deciding about them.
func (s *Server) decideDevice(w http.ResponseWriter, r *http.Request, d posted) error {
	userCode, err := secret.NormalizeUserCode(d.form.Get(userCodeField))
	if err != nil {
		return invalid(userCodeField, "is not a code")
	}
	binding := csrfBinding{session: d.session, subject: userCode}
	if err := s.checkCSRF(binding, d.form.Get(csrfField)); err != nil {
		return err
	}
	device, err := s.openDevice(r, userCode, d.now)
	if err != nil {
		return err
	}
	view := DoneView{Service: s.cfg.Service, Nonce: nonce(r), AppName: device.app.Name}
	switch d.form.Get(decisionField) {
	case decideAllow:
		view.Approved = true
		view.Business, err = s.allowDevice(r.Context(), device, d)
	case decideDeny:
		err = s.cfg.Store.DenyDevice(r.Context(), Denial{RequestID: device.ID, Now: d.now, Audit: d.entry(audit.DeviceDenied, device.app.ID, "")})
		if errors.Is(err, ErrNotFound) {
			err = problemWithCode(userCode, textUserCode)
		}
	default:
		err = invalid(decisionField, "must be allow or deny")
	}
	if err != nil {
		return err
	}
	return s.cfg.Pages.Done(w, r, view)
}

// allowDevice connects the app to the business that the page showed and that the
// person is still signed into, and returns its name.
func (s *Server) allowDevice(ctx context.Context, device waiting, d posted) (string, error) {
	if d.form.Get(businessField) != d.session.BusinessID {
		return "", invalid(businessField, "is not the business that you are signed into now; nothing was connected, enter the code again")
	}
	approval, b, err := s.approval(ctx, device.app, d, asked{scopes: device.Scopes})
	if err != nil {
		return "", err
	}
	approval.RequestID, approval.Audit = device.ID, d.entry(audit.DeviceAllowed, device.app.ID, approval.BusinessID)
	approved, err := s.cfg.Store.ApproveDevice(ctx, approval)
	if err != nil {
		return "", err
	}
	if approved.Outcome == ApprovalNotOpen {
		return "", problemWithCode(device.UserCode, textUserCode)
	}
	return b.Name, outcomeError(approved.Outcome)
}
