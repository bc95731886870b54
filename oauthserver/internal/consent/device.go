package consent

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	userCodeField = "user_code"
	maxTypedCode  = 64 // bytes of it that are shown again
)

// pendingDevice is a device code that can be decided, and its app.
type pendingDevice struct {
	oauthstore.DeviceCode
	app partner.App
}

func (w pendingDevice) wish() wish { return wish{scopes: w.Scopes} }

// deviceFormProblem is an error that is shown in the form, with the code that was typed.
type deviceFormProblem struct {
	typed string
	err   error
}

func (e deviceFormProblem) Error() string { return e.err.Error() }
func (e deviceFormProblem) Unwrap() error { return e.err }

// serveDeviceForm asks for the code that a device shows. One in the query is only
// filled in: the person confirms that it is the one on their device.
func (s *Server) serveDeviceForm(w http.ResponseWriter, r *http.Request) error {
	typed := shownCode(r.URL.Query().Get(userCodeField))
	session, ok, err := s.signedIn(w, r, deviceReturn(typed))
	if err != nil || !ok {
		return err
	}
	if err := s.checkGuessing(r, session, s.cfg.Clock.Now()); err != nil {
		return err
	}
	return s.cfg.Pages.DeviceForm(w, r, pages.DeviceFormView{Frame: s.frame(r, visitor{session, deviceReturn(typed)}), UserCode: typed, Action: devicePath})
}

// serveDevice takes a code and asks for the decision, or takes the decision.
func (s *Server) serveDevice(w http.ResponseWriter, r *http.Request) error {
	form, err := readPageForm(r)
	if err != nil {
		return err
	}
	now := s.cfg.Clock.Now() // after the body, which the browser may have sent late
	typed := form.Get(userCodeField)
	session, ok, err := s.signedIn(w, r, deviceReturn(shownCode(typed)))
	if err != nil || !ok {
		return err
	}
	return about(partner.App{}, visitor{session, deviceReturn(shownCode(typed))}, s.takeCode(w, r, decisionForm{session: session, form: form, now: now}))
}

// takeCode is serveDevice for a person who is signed in.
func (s *Server) takeCode(w http.ResponseWriter, r *http.Request, d decisionForm) error {
	session, now, typed := d.session, d.now, d.form.Get(userCodeField)
	if err := s.checkGuessing(r, session, now); err != nil {
		return err
	}
	if d.form.Has(decisionField) {
		return s.decideDevice(w, r, d)
	}
	if typed == "" {
		return deviceFormProblem{"", errNoUserCode}
	}
	// A code counts as wrong before it is looked up, so that many at once stay within
	// the limit.
	guess := s.guessing(r, session)
	result, err := s.cfg.Limiter.Fail(r.Context(), now, guess)
	if err := apierror.Limited(result.Allowed, result.Wait, err); err != nil {
		return err
	}
	device, err := s.openDevice(r, typed, now)
	if _, wrong := errors.AsType[deviceFormProblem](err); !wrong {
		if failed := s.cfg.Limiter.Forgive(r.Context(), now, guess); failed != nil {
			return apierror.Unavailable(failed)
		}
	}
	if err != nil {
		return err
	}
	return about(device.app, visitor{session, deviceReturn(device.UserCode)}, s.showDeviceConsent(w, r, session, device))
}

// openDevice finds a user code as it was typed, if it waits for a decision.
func (s *Server) openDevice(r *http.Request, typed string, now time.Time) (pendingDevice, error) {
	userCode, err := secret.NormalizeUserCode(typed)
	if err != nil {
		return pendingDevice{}, deviceFormProblem{shownCode(typed), errUserCode}
	}
	device, err := s.cfg.Store.DeviceByUserCode(r.Context(), userCode)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return pendingDevice{}, deviceFormProblem{userCode, errUserCode}
	case err != nil:
		return pendingDevice{}, err
	case device.Status != oauthstore.DevicePending, !now.Before(device.ExpiresAt):
		return pendingDevice{}, deviceFormProblem{userCode, errUserCode}
	}
	app, err := s.sameApp(r, device.AppID)
	switch {
	case err != nil:
		return pendingDevice{}, err
	case !s.mayAsk(app, device.Scopes):
		return pendingDevice{}, about(app, visitor{}, errScopes)
	}
	return pendingDevice{DeviceCode: device, app: app}, nil
}

// showDeviceConsent asks whether the app may be connected to the business that
// the person is signed into, and to no other.
func (s *Server) showDeviceConsent(w http.ResponseWriter, r *http.Request, session identity.Session, device pendingDevice) error {
	if session.BusinessID == "" {
		return errNoBusiness
	}
	c, err := s.connection(r.Context(), device.app, session, device.wish())
	if err != nil {
		return err
	}
	b, err := c.business(session.BusinessID)
	if err != nil {
		return s.withGap(r.Context(), c, err)
	}
	c.app = c.shown(b)
	token, err := s.csrfToken(csrfBinding{session: session, subject: device.UserCode})
	if err != nil {
		return err
	}
	view, err := s.consentView(r, visitor{session, deviceReturn(device.UserCode)}, c, device.Scopes)
	if err != nil {
		return err
	}
	view.UserCode = device.UserCode
	view.Businesses = []pages.BusinessView{businessView(b, true)}
	if err := s.markNew(r.Context(), view, device.app, device.Scopes); err != nil {
		return err
	}
	view.FixedTo = b.ID
	view.ChooseBusiness = returning(s.cfg.BusinessPath, deviceReturn(device.UserCode))
	view.Action = devicePath
	view.Hidden = []pages.HiddenField{{Name: userCodeField, Value: device.UserCode}, {Name: csrfField, Value: token}}
	return s.cfg.Pages.Consent(w, r, view)
}

// checkGuessing rejects a user who has tried too many codes.
func (s *Server) checkGuessing(r *http.Request, session identity.Session, now time.Time) error {
	result, err := s.cfg.Limiter.Check(r.Context(), now, ratelimit.Request{Lockouts: s.guessing(r, session)})
	return apierror.Limited(result.Allowed, result.Wait, err)
}

// guessing is under what wrong codes are counted.
func (s *Server) guessing(r *http.Request, session identity.Session) ratelimit.Lockouts {
	rule := s.cfg.Limits.UserCodes
	return ratelimit.Lockouts{
		{Key: ratelimit.NewKey("user codes of a session", session.ID, session.UserID), Rule: rule},
		{Key: ratelimit.NewIPKey("user codes of an address", s.cfg.Proxies.ClientIP(r)), Rule: rule},
	}
}

// shownCode is as much of a typed code as is worth repeating.
func shownCode(typed string) string {
	if len(typed) > maxTypedCode {
		return ""
	}
	return typed
}

// deviceReturn returns the path to return to after sign-in.
func deviceReturn(typed string) string {
	if typed == "" {
		return devicePath
	}
	return devicePath + "?" + url.Values{userCodeField: {typed}}.Encode()
}
