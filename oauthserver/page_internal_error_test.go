package oauthserver_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// internalErrorPage matches the page for an internal error, which has no details.
var internalErrorPage = regexp.MustCompile(`<p class="alert" role="alert" id="alert">something went wrong on our side; the request id is (req_[a-z2-7]{26})</p>`)

// wantFault checks that a page reports an internal error, that the log has the cause, and
// that neither contains a secret.
func (e *pageEnv) wantFault(t *testing.T, p shownPage, status int, cause string) {
	t.Helper()
	found := internalErrorPage.FindStringSubmatch(p.Body)
	if p.Status != status || found == nil || p.location != "" {
		t.Fatalf("%d to %q: %s", p.Status, p.location, p.main())
	}
	log := e.log.String()
	if !strings.Contains(log, found[1]) || !strings.Contains(log, cause) {
		t.Errorf("the log does not tell of %s and %q:\n%s", found[1], cause, log)
	}
	if strings.Contains(log, "pk_") || strings.Contains(p.Body, cause) {
		t.Errorf("a secret in the log, or the cause on the page:\n%s", log)
	}
}

// A storage error at any statement of any page is a 500: nothing is half done,
// and the same request works afterwards.
func TestEveryStorageFault(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// prepare returns the request to be tried.
		prepare func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage
		status  int
		least   int // statements that it has
	}{
		"new request": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			app := e.app(t)
			return func() shownPage { return b.ask(app) }
		}, 200, 3},
		"held request": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			_, form := b.ask(e.app(t)).wantOK().form()
			return func() shownPage { return b.get("/oauth/authorize?request_id=" + form.Get("request_id")) }
		}, 200, 3},
		"allow": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			p := b.ask(e.app(t)).wantOK()
			return func() shownPage { return b.submit(p, "allow") }
		}, 303, 8},
		"deny": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			p := b.ask(e.app(t)).wantOK()
			return func() shownPage { return b.submit(p, "deny") }
		}, 303, 3},
		"user code": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			d := e.device(t, e.app(t))
			return func() shownPage { return b.enter(d.UserCode) }
		}, 200, 3},
		"allow device": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			p := b.enter(e.device(t, e.app(t)).UserCode).wantOK()
			return func() shownPage { return b.submit(p, "allow") }
		}, 200, 8},
		"deny device": {func(t *testing.T, e *pageEnv, b *pageBrowser) func() shownPage {
			p := b.enter(e.device(t, e.app(t)).UserCode).wantOK()
			return func() shownPage { return b.submit(p, "deny") }
		}, 200, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t)
			try := test.prepare(t, e, e.browser(t).signIn("usr_owner", "biz_bakery"))
			for n := 1; ; n++ {
				e.Tap.Arm(testdb.FaultError, n)
				p := try()
				if !e.Tap.Struck() {
					if p.Status != test.status || n <= test.least {
						t.Errorf("%d after %d statements, want %d after at least %d", p.Status, n-1, test.status, test.least)
					}
					return
				}
				e.wantFault(t, p, http.StatusInternalServerError, testdb.ErrInjected.Error())
				e.wantNothingGranted(t)
			}
		})
	}
}

// A commit whose response is lost is a 500, and is not tried a second time.
func TestPageLostCommit(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(e.app(t)).wantOK()
	e.Tap.Arm(testdb.FaultLostCommit, 1)
	e.wantFault(t, b.submit(p, "allow"), http.StatusInternalServerError, testdb.ErrInjected.Error())
	b.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
	if n := e.count(t, "code"); n != 1 {
		t.Errorf("%d codes", n)
	}
}

// An error of a host, a policy or a limiter is an internal error, not a rejection.
func TestOtherFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken for the test")
	e := newPageEnv(t, func(c *oauthserver.Config) {
		c.Unowned = func(context.Context, partner.App, string) (string, error) { return "", broken }
	})
	app := e.app(t)
	d := e.device(t, app)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p, deviceConsent := b.ask(app).wantOK(), b.enter(d.UserCode).wantOK()
	e.wantFault(t, b.ask(e.app(t, func(a *partner.App) { a.Reviewed, a.OrganizationID = false, "" })), 500, broken.Error())
	e.host.SetError(broken)
	for _, got := range []shownPage{b.ask(app), b.submit(p, "allow"), b.get("/device"), b.enter(d.UserCode), b.submit(deviceConsent, "allow")} {
		e.wantFault(t, got, 500, broken.Error())
	}
	e.wantNothingGranted(t)

	for err, status := range map[error]int{broken: http.StatusInternalServerError, ratelimit.ErrUnavailable: http.StatusServiceUnavailable} {
		limited := newPageEnv(t, func(c *oauthserver.Config) { c.Limiter = brokenPageLimiter{err} })
		limited.wantFault(t, limited.browser(t).get("/device"), status, err.Error())
	}
}

type brokenPageLimiter struct{ err error }

func (l brokenPageLimiter) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{}, l.err
}

func (l brokenPageLimiter) Fail(context.Context, time.Time, ratelimit.Lockouts) (ratelimit.Result, error) {
	return ratelimit.Result{}, l.err
}

func (l brokenPageLimiter) Forgive(context.Context, time.Time, ratelimit.Lockouts) error {
	return l.err
}

// A page that cannot be rendered, and a panic in a page, are internal errors too.
func TestPageFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"error", "panic"} {
		e := newPageEnv(t, func(c *oauthserver.Config) { c.Pages = brokenPages{c.Pages, fault} })
		cause := "no template"
		if fault == "panic" {
			cause = "panic with a value of type string"
		}
		e.wantFault(t, e.browser(t).signIn("usr_owner", "biz_bakery").ask(e.app(t)), 500, cause)
	}
}

type brokenPages struct {
	pages.Pages
	fault string
}

func (p brokenPages) Consent(http.ResponseWriter, *http.Request, pages.ConsentView) error {
	if p.fault == "panic" {
		panic("at the disco")
	}
	return errors.New("no template")
}

// noPageLimiter lets everything pass.
type noPageLimiter struct{}

func (noPageLimiter) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

func (noPageLimiter) Fail(context.Context, time.Time, ratelimit.Lockouts) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

func (noPageLimiter) Forgive(context.Context, time.Time, ratelimit.Lockouts) error { return nil }
