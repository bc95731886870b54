package consent

import (
	"context"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

// decideDevice records the decision about a device code. The form's token was issued for
// this code, so that codes cannot be found by sending decisions.
func (s *Server) decideDevice(w http.ResponseWriter, r *http.Request, d decisionForm) error {
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
	view := pages.DoneView{Frame: s.frame(r, visitor{session: d.session}), AppName: asReviewed(device.app).Name}
	switch d.form.Get(decisionField) {
	case decideAllow:
		var b core.Business
		b, err = s.allowDevice(r.Context(), device, d)
		if err == nil {
			device.app, err = s.shownIn(r.Context(), device.app, b)
		}
		view.Approved, view.Business, view.AppName = true, b.Name, device.app.Name
	case decideDeny:
		err = s.denyDevice(r.Context(), device, d)
	default:
		err = invalid(decisionField, "must be allow or deny")
	}
	if err != nil {
		return about(device.app, visitor{d.session, deviceReturn(device.UserCode)}, err)
	}
	return s.cfg.Pages.Done(w, r, view)
}

// allowDevice connects the app to the business that the page showed and that the
// person is still signed into, and returns it.
func (s *Server) allowDevice(ctx context.Context, device pendingDevice, d decisionForm) (core.Business, error) {
	if d.form.Get(businessField) != d.session.BusinessID {
		return core.Business{}, errOtherBusiness
	}
	approval, b, err := s.approval(ctx, device.app, d, device.wish())
	if err != nil {
		return core.Business{}, err
	}
	approval.RequestID, approval.Audit = device.ID, d.entry(audited.DeviceAllowed, device.app.ID, approval.BusinessID)
	approved, err := s.cfg.Store.DecideDevice(ctx, approval)
	if err != nil {
		return core.Business{}, err
	}
	s.tellApproved(ctx, approved, d.session.UserID)
	if approved.Outcome == oauthstore.ApprovalNotOpen {
		return core.Business{}, deviceFormProblem{device.UserCode, errUserCode}
	}
	return b, outcomeError(approved.Outcome)
}

func (s *Server) denyDevice(ctx context.Context, device pendingDevice, d decisionForm) error {
	denied, err := s.cfg.Store.DecideDevice(ctx, d.denial(device.ID, d.entry(audited.DeviceDenied, device.app.ID, "")))
	if err == nil && denied.Outcome == oauthstore.ApprovalNotOpen {
		return deviceFormProblem{device.UserCode, errUserCode}
	}
	return err
}
