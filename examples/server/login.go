package main

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// Wrong passwords within signInWithin close the sign-in for signInClosedFor.
const (
	wrongPerAccount = 10
	wrongPerIP      = 50
	signInWithin    = 10 * time.Minute
	signInClosedFor = 10 * time.Minute
)

type loginView struct{ Email, ReturnTo string }

func (s *server) showLogin(w http.ResponseWriter, r *http.Request) error {
	returnTo := r.URL.Query().Get("return_to")
	if !isOwnPath(returnTo) {
		returnTo = ""
	}
	return s.pages.show(w, http.StatusOK, "login", view{Title: "Sign in", Data: loginView{ReturnTo: returnTo}})
}

// signIn checks a password and starts a session.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) error {
	form, err := apierror.DecodeForm(r, apierror.FormLimits{})
	if err != nil {
		return err
	}
	email, returnTo := normalEmail(form.Get("email")), form.Get("return_to")
	if !isOwnPath(returnTo) {
		returnTo = ""
	}
	now := s.clock.Now()
	locks := signInLocks(s.proxies.ClientIP(r), email)
	result, err := s.limiter.Check(r.Context(), now, ratelimit.Request{Lockouts: locks})
	if err != nil {
		return err
	}
	again := view{Title: "Sign in", Data: loginView{Email: email, ReturnTo: returnTo}}
	if !result.Allowed {
		w.Header().Set("Retry-After", strconv.Itoa(result.RetryAfter()))
		again.Alert = "Too many wrong passwords. Please wait a few minutes."
		return s.pages.show(w, http.StatusTooManyRequests, "login", again)
	}
	found, err := s.authenticate(r.Context(), email, form.Get("password"))
	if errors.Is(err, errWrongPassword) {
		if err := s.limiter.Fail(r.Context(), now, locks); err != nil {
			return err
		}
		again.Alert = "The email or the password is wrong."
		return s.pages.show(w, http.StatusForbidden, "login", again)
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, found, returnTo)
}

// signInLocks count failures by address and by account: one address cannot try
// many accounts, nor many addresses one account.
func signInLocks(ip netip.Addr, email string) ratelimit.Lockouts {
	rule := ratelimit.LockoutRule{Within: signInWithin, For: signInClosedFor}
	perIP, perAccount := rule, rule
	perIP.MoreThan, perAccount.MoreThan = wrongPerIP, wrongPerAccount
	return ratelimit.Lockouts{
		{Key: ratelimit.NewIPKey("sign-in", ip), Rule: perIP},
		{Key: ratelimit.NewKey("sign-in account", email), Rule: perAccount},
	}
}

var errWrongPassword = errors.New("the email or the password is wrong")

// authenticate returns the user with that password. An unknown address takes as
// long as a wrong password.
func (s *server) authenticate(ctx context.Context, email, password string) (user, error) {
	found, err := s.books.userByEmail(ctx, email)
	if err != nil && !errors.Is(err, errAbsent) {
		return user{}, err
	}
	if len(password) > maxPassword {
		return user{}, errWrongPassword
	}
	select { // a hash takes memory
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return user{}, ctx.Err()
	}
	ok, err := isPassword(found.passwordHash, password)
	switch {
	case err != nil:
		return user{}, err
	case !ok:
		return user{}, errWrongPassword
	}
	status, err := s.store.UserStatus(ctx, found.id)
	if err != nil {
		return user{}, err
	}
	if status == oauthserver.UserSuspended {
		return user{}, apierror.Forbidden("This account is suspended")
	}
	return found, nil
}

// enter starts the session, in the first of the person's businesses, and leads
// back to where they came from.
func (s *server) enter(w http.ResponseWriter, r *http.Request, u user, returnTo string) error {
	memberships, err := s.books.memberships(r.Context(), u.id)
	if err != nil {
		return err
	}
	business := ""
	if len(memberships) > 0 {
		business = memberships[0].businessID
	}
	cookie, err := s.sessions.start(r, u.id, business)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	switch {
	case returnTo != "":
	case len(memberships) > 1:
		returnTo = "/businesses"
	default:
		returnTo = "/settings/apps"
	}
	http.Redirect(w, r, returnTo, http.StatusSeeOther) //nolint:gosec // isOwnPath has looked at it
	return nil
}

func (s *server) signOut(w http.ResponseWriter, r *http.Request) error {
	cookie, err := s.sessions.end(r)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}
