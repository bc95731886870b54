package oauthserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const wrongUserCode = "This code is not valid, or it has expired. Check the code on your device and try again."

// enter types a user code into the form.
func (b *pageBrowser) enter(userCode string) shownPage {
	b.t.Helper()
	return b.post("/device", url.Values{"user_code": {userCode}})
}

// DEV-05: the form, the code from the query filled in and not acted on.
func TestDeviceForm_DEV05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t))
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	action, form := b.get("/device").wantOK().form()
	if action != "/device" || !form.Has("user_code") || form.Get("user_code") != "" {
		t.Errorf("form to %q with %v", action, form)
	}
	p := b.get("/device?user_code=" + d.UserCode).wantOK()
	if _, form := p.form(); form.Get("user_code") != d.UserCode || strings.Contains(p.Body, "Ledger Sync") {
		t.Errorf("form with %v", form)
	}
	b.enter("").wantRefusal(400, "Enter the code that your device shows.")
}

// DEV-05: sign-in first, then back with the code.
func TestDeviceSignIn_DEV05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	for _, p := range []shownPage{e.browser(t).get("/device?user_code=bcdf+ghjk"), e.browser(t).enter("bcdf ghjk")} {
		login, err := url.Parse(p.location)
		if err != nil || p.Status != 303 || login.Query().Get("return_to") != "/device?user_code=bcdf+ghjk" {
			t.Errorf("%d to %q", p.Status, p.location)
		}
	}
	if p := e.browser(t).get("/device"); p.location != "/login?return_to=%2Fdevice" {
		t.Errorf("to %q", p.location)
	}
}

// DEV-05: however the code is typed, the page shows app, scopes and the business
// signed into; approval binds to that business.
func TestDeviceApproval_DEV05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	for name, typed := range map[string]func(string) string{
		"as shown":       func(s string) string { return s },
		"lower case":     strings.ToLower,
		"without hyphen": func(s string) string { return strings.ReplaceAll(s, "-", "") },
		"with spaces":    func(s string) string { return " " + strings.Join(strings.Split(s, ""), " ") + "\t" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := e.device(t, app)
			b := e.browser(t).signIn("usr_owner", "biz_bikes")
			p := b.enter(typed(d.UserCode)).wantOK()
			for _, want := range []string{"Ledger Sync", "See your invoices", "Create and change invoices", "Harbour Bikes", d.UserCode, ">Allow<", ">Deny<"} {
				if !strings.Contains(p.Body, want) {
					t.Errorf("no %q on the page", want)
				}
			}
			if strings.Contains(p.Body, "Corner Bakery") || len(p.choices()) != 0 {
				t.Error("the page offers another business")
			}
			done := b.submit(p, "allow").wantOK()
			if !strings.Contains(done.Body, "Harbour Bikes") || !strings.Contains(done.Body, "<h1>Connected</h1>") {
				t.Errorf("the end says %s", done.main())
			}
			got, err := e.DeviceByUserCode(t.Context(), d.UserCode)
			if err != nil || got.Status != oauthstore.DeviceApproved || got.BusinessID != "biz_bikes" || got.UserID != "usr_owner" {
				t.Errorf("device %+v, %v", got, err)
			}
			b.submit(p, "deny").wantRefusal(400, wrongUserCode) // DEV-06: decided once
			b.submit(p, "allow").wantRefusal(400, wrongUserCode)
			b.enter(d.UserCode).wantRefusal(400, wrongUserCode)
			if status := e.deviceStatus(t, d.UserCode); status != oauthstore.DeviceApproved {
				t.Errorf("now %s", status)
			}
		})
	}
}

// AZ-13 for devices: the same events as for a redirect.
func TestDeviceApprovalEvents_AZ13(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bikes")
	for range 2 {
		b.submit(b.enter(e.device(t, app).UserCode).wantOK(), "allow").wantOK()
	}
	if diff := cmp.Diff([]string{"app.installed"}, e.eventTypes(t)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// DEV-05, DEV-06: denial is a decision.
func TestDeviceDenial_DEV05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t))
	b := e.browser(t).signIn("usr_owner", "biz_bikes")
	p := b.enter(d.UserCode).wantOK()
	if done := b.submit(p, "deny").wantOK(); !strings.Contains(done.Body, "<h1>Not connected</h1>") {
		t.Errorf("the end says %s", done.main())
	}
	b.submit(p, "allow").wantRefusal(400, wrongUserCode)
	if status := e.deviceStatus(t, d.UserCode); status != oauthstore.DeviceDenied {
		t.Errorf("now %s", status)
	}
	e.wantNothingGranted(t)
}

// DEV-05: a code lives 10 minutes, to the second.
func TestDeviceExpiry_DEV05(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	d, last := e.device(t, app), e.device(t, app)
	b := e.browser(t).signIn("usr_owner", "biz_bikes")
	e.clock.Advance(10*time.Minute - time.Second)
	p := b.enter(d.UserCode).wantOK()
	b.submit(b.enter(last.UserCode).wantOK(), "allow").wantOK()
	e.clock.Advance(time.Second)
	b.enter(d.UserCode).wantRefusal(400, wrongUserCode)
	b.submit(p, "allow").wantRefusal(400, wrongUserCode)
	b.submit(p, "deny").wantRefusal(400, wrongUserCode)
}

// DEV-05: AZ-11 and AZ-12 hold for the business signed into, at the page and at
// the decision; APP-01: an app that is not usable is rejected as a client.
func TestDeviceRefusals_DEV05_AZ11_AZ12(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		business string
		change   func(*testing.T, *pageEnv, partner.App)
		status   int
		want     string
	}{
		"may not connect": {"biz_guest", nil, 403, notPermitted},
		"not a member":    {"biz_elsewhere", nil, 403, notPermitted},
		"no business":     {"", nil, 400, "invalid_request: business_id is missing: choose the business to sign into first"},
		"unreviewed": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, unreviewed)
		}, 403, notReviewed},
		"suspended": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.setStatus(t, a, partner.AppSuspended)
		}, 400, "Invalid client_id"},
		"deactivated": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.setStatus(t, a, partner.AppDeactivated)
		}, 400, "Invalid client_id"},
		"scopes": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, func(a *partner.App) { a.Scopes = identity.MustScopes("customers:read") })
		}, 400, "Requested scopes not permitted for this client"},
		"user": {"biz_bakery", func(t *testing.T, e *pageEnv, _ partner.App) {
			if err := e.server.SetUserStatus(t.Context(), "usr_owner", identity.UserSuspended); err != nil {
				t.Fatal(err)
			}
		}, 403, notPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t)
			app := e.app(t)
			d := e.device(t, app)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.enter(d.UserCode).wantOK()
			if test.change != nil {
				test.change(t, e, app)
				b.submit(p, "allow").wantRefusal(test.status, test.want)
			}
			e.browser(t).signIn("usr_owner", test.business).enter(d.UserCode).wantRefusal(test.status, test.want)
			e.wantNothingGranted(t)
			if status := e.deviceStatus(t, d.UserCode); status != oauthstore.DevicePending {
				t.Errorf("now %s", status)
			}
		})
	}
}

// AZ-11 for devices: an unreviewed app in its own sandbox.
func TestDeviceInOwnSandbox_AZ11(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t, unreviewed))
	b := e.browser(t).signIn("usr_owner", "biz_sandbox")
	b.submit(b.enter(d.UserCode).wantOK(), "allow").wantOK()
}

// AZ-12: when the business was switched in another tab, nothing is granted.
func TestDeviceBusinessSwitched_AZ12(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t))
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.enter(d.UserCode).wantOK()
	e.host.ChangeSession(b.session, func(s *identity.Session) { s.BusinessID = "biz_bikes" })
	const switched = "invalid_request: business_id is not the business that you are signed into now; nothing was connected, enter the code again"
	b.submit(p, "allow").wantRefusal(400, switched)
	b.submit(p, "allow", withParam("business_id", "")).wantRefusal(400, switched)
	e.wantNothingGranted(t)
	if done := b.submit(b.enter(d.UserCode).wantOK(), "allow").wantOK(); !strings.Contains(done.Body, "Harbour Bikes") {
		t.Error("connected elsewhere")
	}
}

// AZ-14 for devices: the decision needs the token of this session, browser and code.
func TestDeviceCSRF_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	d, other := e.device(t, app), e.device(t, app)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.enter(d.UserCode).wantOK()
	b.submit(p, "allow", withoutParams("csrf_token")).wantRefusal(400, "invalid_request: csrf_token is missing")
	b.submit(p, "allow", withParam("csrf_token", "x")).wantRefusal(400, notThisSession)
	b.submit(p, "allow", withParam("user_code", other.UserCode)).wantRefusal(400, notThisSession)
	b.submit(p, "allow", withParam("user_code", "nonsense")).wantRefusal(400, "invalid_request: user_code is not a code")
	b.submit(p, "maybe").wantRefusal(400, "invalid_request: decision must be allow or deny")
	b.post("/device", url.Values{"user_code": {d.UserCode}, "decision": {"allow"}, "business_id": {"biz_bakery"}}).
		wantRefusal(400, "invalid_request: csrf_token is missing")
	e.browser(t).signIn("usr_owner", "biz_bakery").submit(p, "allow").wantRefusal(400, notThisSession)
	b.signIn("usr_owner", "biz_bakery")
	b.submit(p, "allow").wantRefusal(400, notThisSession)
	b.header.Set("Sec-Fetch-Site", "cross-site") // CON-07
	b.enter(d.UserCode).wantRefusal(403, "This form was sent from another site")
	e.wantNothingGranted(t)
}

// DEV-06: the 20th wrong code within 10 minutes closes the form for 10 minutes, for
// its session and for its address.
func TestUserCodeGuessing_DEV06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t))
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	wrong := func(i int) string { // unknown ones and such that cannot exist count alike
		if i%2 == 0 {
			return "WRONG-01"
		}
		return secret.NewUserCode()
	}
	for i := range 19 {
		b.enter(wrong(i)).wantRefusal(400, wrongUserCode)
	}
	open := b.enter(d.UserCode).wantOK() // 19 are forgiven
	b.enter(wrong(19)).wantRefusal(400, wrongUserCode)
	const closed = "too many requests, retry after 600 seconds"
	for _, p := range []shownPage{b.enter(d.UserCode), b.get("/device"), b.submit(open, "allow")} {
		p.wantRefusal(http.StatusTooManyRequests, closed)
		if p.Header.Get("Retry-After") != "600" {
			t.Errorf("Retry-After %q", p.Header.Get("Retry-After"))
		}
	}
	sameIP := e.browser(t).signIn("usr_owner", "biz_bakery")
	sameIP.get("/device").wantRefusal(429, closed)
	b.ip = "198.51.100.7" // the session stays closed
	b.get("/device").wantRefusal(429, closed)
	elsewhere := e.browser(t).signIn("usr_owner", "biz_bakery")
	elsewhere.ip = "198.51.100.8"
	elsewhere.enter(d.UserCode).wantOK()
	e.wantNothingGranted(t)

	e.clock.Advance(10*time.Minute - time.Second)
	b.get("/device").wantRefusal(429, "too many requests, retry after 1 seconds")
	e.clock.Advance(time.Second)
	b.get("/device").wantOK()
}

// DEV-06: wrong codes at the same moment stay within the limit.
func TestConcurrentGuessing_DEV06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	responses := make([]shownPage, 100)
	testdb.Race(len(responses), func(i int) { responses[i] = b.enter(secret.NewUserCode()) })
	statuses := map[int]int{}
	for _, response := range responses {
		statuses[response.Status]++
	}
	if statuses[http.StatusBadRequest] != 20 || statuses[http.StatusTooManyRequests] != 80 {
		t.Errorf("%v, want 20 wrong ones and 80 refusals", statuses)
	}
}

// DEV-06: wrong codes are forgotten 10 minutes after the first.
func TestUserCodeGuessingForgets_DEV06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for range 2 {
		for range 19 {
			b.enter(secret.NewUserCode()).wantRefusal(400, wrongUserCode)
		}
		e.clock.Advance(10 * time.Minute)
	}
	b.get("/device").wantOK()
}

// DEV-06: of N decisions about one code exactly one counts.
func TestConcurrentDeviceDecisions_DEV06(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	d := e.device(t, e.app(t))
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.enter(d.UserCode).wantOK()
	responses := make([]shownPage, 16)
	testdb.Race(len(responses), func(i int) { responses[i] = b.submit(p, []string{"allow", "deny"}[i%2]) })
	decided := map[bool]int{}
	for _, response := range responses {
		if response.Status == http.StatusOK {
			decided[strings.Contains(response.Body, "<h1>Connected</h1>")]++
			continue
		}
		response.wantRefusal(400, wrongUserCode)
	}
	approved := e.deviceStatus(t, d.UserCode) == oauthstore.DeviceApproved
	if len(decided) != 1 || decided[approved] != 1 {
		t.Errorf("decisions %v, approved %v", decided, approved)
	}
}
