package books

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Wrong passwords within signInWithin close the sign-in for signInClosedFor.
const (
	wrongPerAccount = 10
	wrongPerIP      = 50
	signInWithin    = 10 * time.Minute
	signInClosedFor = 10 * time.Minute
)

// maxHashing is how many passwords are hashed at a time, at most. Each counts as wrong
// until it is hashed, so it is less than wrongPerAccount: right passwords at the same
// moment are not refused.
const maxHashing = 8

type loginView struct {
	Email, ReturnTo string
	SignedInAs      string // the name of the person whose session a sign-in replaces
}

func (s *Site) showLogin(w http.ResponseWriter, r *http.Request) error {
	returnTo := r.URL.Query().Get("return_to")
	if !isOwnPath(returnTo) {
		returnTo = ""
	}
	name, err := s.signedInAs(r)
	if err != nil {
		return err
	}
	return s.pages.show(w, r, http.StatusOK, "login", View{Title: "Sign in", Data: loginView{ReturnTo: returnTo, SignedInAs: name}})
}

// signedInAs returns the name of the person of the session, suspended or not; empty if there
// is no session.
func (s *Site) signedInAs(r *http.Request) (string, error) {
	session, ok, err := s.sessions.find(r)
	if err != nil || !ok {
		return "", err
	}
	found, err := s.books.User(r.Context(), session.UserID)
	if errors.Is(err, ErrAbsent) {
		return "", nil
	}
	return text.Line(found.Name), err
}

// signIn checks a password and starts a session.
func (s *Site) signIn(w http.ResponseWriter, r *http.Request) error {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	email, returnTo := NormalEmail(form.Get("email")), form.Get("return_to")
	if !isOwnPath(returnTo) {
		returnTo = ""
	}
	found, err := s.authenticate(r.Context(), signInLocks(s.cfg.Proxies.ClientIP(r), email), email, form.Get("password"))
	again := View{Title: "Sign in", Data: loginView{Email: email, ReturnTo: returnTo}}
	closed, isClosed := errors.AsType[*signInClosed](err)
	switch {
	case isClosed:
		w.Header().Set("Retry-After", strconv.Itoa(closed.RetryAfter()))
		again.Alert = "Too many wrong passwords. Please wait a few minutes."
		return s.pages.show(w, r, http.StatusTooManyRequests, "login", again)
	case errors.Is(err, errWrongPassword):
		again.Alert = "The email or the password is wrong."
		return s.pages.show(w, r, http.StatusForbidden, "login", again)
	case err != nil:
		return err
	}
	return s.enter(w, r, found, returnTo)
}

// signInLocks count failures by address and by account: one address cannot try
// many accounts, nor many addresses one account.
func signInLocks(ip netip.Addr, email string) ratelimit.Lockouts {
	rule := ratelimit.LockoutRule{Within: signInWithin, For: signInClosedFor}
	perIP, perAccount := rule, rule
	perIP.MoreThan, perAccount.MoreThan = wrongPerIP-1, wrongPerAccount-1 // the last one closes
	return ratelimit.Lockouts{
		{Key: ratelimit.NewIPKey("sign-in", ip), Rule: perIP},
		{Key: ratelimit.NewKey("sign-in account", email), Rule: perAccount},
	}
}

var errWrongPassword = errors.New("the email or the password is wrong")

// signInClosed says that there were too many wrong passwords.
type signInClosed struct{ ratelimit.Result }

func (*signInClosed) Error() string { return "too many wrong passwords" }

func closedBy(result ratelimit.Result, err error) error {
	if err == nil && !result.Allowed {
		return &signInClosed{result}
	}
	return err
}

// authenticate returns the user with that password. An attempt counts as wrong before
// its password is hashed, so that any number at the same moment stay within the limit;
// one that turns out not to be wrong is forgiven.
func (s *Site) authenticate(ctx context.Context, locks ratelimit.Lockouts, email, password string) (User, error) {
	now := s.cfg.Clock.Now()
	if err := closedBy(s.cfg.Limiter.Check(ctx, now, ratelimit.Request{Lockouts: locks})); err != nil {
		return User{}, err
	}
	found, err := s.books.userByEmail(ctx, email)
	if err != nil && !errors.Is(err, ErrAbsent) {
		return User{}, err
	}
	select { // a hash takes memory
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return User{}, ctx.Err()
	}
	if err := closedBy(s.cfg.Limiter.Fail(ctx, now, locks)); err != nil {
		return User{}, err
	}
	err = s.checkPassword(ctx, found, password)
	if !errors.Is(err, errWrongPassword) {
		if err := s.cfg.Limiter.Forgive(context.WithoutCancel(ctx), now, locks); err != nil {
			s.cfg.Logger.WarnContext(ctx, "forgiving a sign-in attempt failed", "err", err)
		}
	}
	return found, err
}

// checkPassword returns errWrongPassword unless it is the user's. A user who does not
// exist takes as long as a wrong password.
func (s *Site) checkPassword(ctx context.Context, u User, password string) error {
	if len(password) > MaxPassword {
		return errWrongPassword
	}
	ok, err := isPassword(u.PasswordHash, password)
	switch {
	case err != nil:
		return err
	case !ok:
		return errWrongPassword
	}
	status, err := s.books.store.UserStatus(ctx, u.ID)
	if err != nil {
		return err
	}
	if status == identity.UserSuspended {
		return apierror.Forbidden("This account is suspended")
	}
	return nil
}

// enter starts the session, in the first of the person's businesses, and leads
// back to where they came from.
func (s *Site) enter(w http.ResponseWriter, r *http.Request, u User, returnTo string) error {
	memberships, err := s.books.Memberships(r.Context(), u.ID)
	if err != nil {
		return err
	}
	business := ""
	if len(memberships) > 0 {
		business = memberships[0].BusinessID
	}
	cookie, err := s.sessions.start(r, u.ID, business)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	switch {
	case returnTo != "":
	case len(memberships) > 1:
		returnTo = BusinessPath
	default:
		returnTo = "/settings/apps"
	}
	http.Redirect(w, r, returnTo, http.StatusSeeOther) //nolint:gosec // isOwnPath has looked at it
	return nil
}

func (s *Site) signOut(w http.ResponseWriter, r *http.Request) error {
	cookie, err := s.sessions.end(r)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}
