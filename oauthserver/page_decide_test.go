package oauthserver_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// eventTypes are the events recorded so far, in order.
func (e *pageEnv) eventTypes(t testing.TB) []string {
	t.Helper()
	rows, err := e.Tap.DB.Query(t.Context(), "SELECT type FROM partnerkit_event ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var types []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		types = append(types, name)
	}
	return types
}

// AZ-10, AZ-13: an approval responds with a code and the state, records consent and
// installation, and records one event for each change.
func TestApproval_AZ10_AZ13(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	approve := func(scope string) {
		t.Helper()
		e.clock.Advance(time.Second)
		p := b.submit(b.ask(app, withParam("scope", scope)).wantOK(), "allow", withParam("business_id", "biz_bikes"))
		response := p.wantCallback(pageCallback)
		if response.Get("state") != "xyz" || len(response) != 2 {
			t.Errorf("answer %v, want code and state", response)
		}
		given, err := secret.Parse(secret.AuthorizationCode, response.Get("code"))
		if err != nil {
			t.Fatal(err)
		}
		code, err := e.Code(t.Context(), given.Digest())
		if err != nil {
			t.Fatal(err)
		}
		if code.BusinessID != "biz_bikes" || code.UserID != "usr_owner" || code.Scopes.String() != scope || code.CodeChallenge != pageChallenge ||
			code.RedirectURI != pageCallback || code.ExpiresAt != e.clock.Now().Add(10*time.Minute) || code.Used {
			t.Errorf("code %+v", code)
		}
	}
	approve("invoices:read")
	if p := b.ask(app, withParam("scope", "invoices:read")).wantOK(); strings.Count(p.Body, "Connected already. Nothing is new.") != 1 {
		t.Errorf("a request of what the app may do already: %s", p.Body)
	}
	approve("invoices:read")
	if p := b.ask(app, withParam("scope", "customers:read invoices:read")).wantOK(); strings.Count(p.Body, "Connected already. New: See your customers.") != 1 {
		t.Errorf("a request of more: %s", p.Body)
	}
	approve("customers:read invoices:read")
	installation, err := e.ActiveInstallation(t.Context(), app.ID, "biz_bikes")
	if err != nil || installation.Scopes.String() != "invoices:read customers:read" {
		t.Errorf("installation %+v, %v", installation, err)
	}
	if diff := cmp.Diff([]string{"app.installed", "app.scopes_updated"}, e.eventTypes(t)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := e.count(t, "grant"); n != 1 {
		t.Errorf("%d consents, want 1", n)
	}
}

// AZ-10: denial responds with access_denied and the state, and issues nothing; neither
// can be decided again.
func TestDenial_AZ10(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(e.app(t)).wantOK()
	got := b.submit(p, "deny", withoutParams("business_id")).wantCallback(pageCallback)
	if diff := cmp.Diff(url.Values{"error": {"access_denied"}, "state": {"xyz"}}, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	b.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
	b.submit(p, "deny").wantRefusal(400, notFoundOrExpired)
	e.wantNothingGranted(t)
}

// AZ-10: redirect URIs and states of every kind are returned unchanged.
func TestCallback_AZ10(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	for name, test := range map[string]struct{ redirect, state, want string }{
		"plain":              {"https://p.example/cb", "state=abc", "https://p.example/cb?A&state=abc"},
		"none":               {"https://p.example/cb", "", "https://p.example/cb?A"},
		"empty":              {"https://p.example/cb", "state=", "https://p.example/cb?A"}, // RFC 6749 section 3.1
		"plus and space":     {"https://p.example/cb", "state=a+b%20c%2Bd", "https://p.example/cb?A&state=a+b%20c%2Bd"},
		"NUL and newlines":   {"https://p.example/cb", "state=%00%0d%0A%7f", "https://p.example/cb?A&state=%00%0d%0A%7f"},
		"not UTF-8":          {"https://p.example/cb", "state=%ff%fe", "https://p.example/cb?A&state=%ff%fe"},
		"raw bytes":          {"https://p.example/cb", "state=\u00e9\xff", "https://p.example/cb?A&state=%C3%A9%FF"},
		"reserved":           {"https://p.example/cb", "state=a=b;c/d?e:f@g'(h)", "https://p.example/cb?A&state=a=b;c/d?e:f@g'(h)"},
		"unsafe":             {"https://p.example/cb", `state="<>\^{|}` + "`", "https://p.example/cb?A&state=%22%3C%3E%5C%5E%7B%7C%7D%60"},
		"ampersand inside":   {"https://p.example/cb", "state=a%26code%3Devil", "https://p.example/cb?A&state=a%26code%3Devil"},
		"name encoded":       {"https://p.example/cb", "st%61te=x", "https://p.example/cb?A&state=x"},
		"registered query":   {"https://p.example/cb?tenant=1", "state=s", "https://p.example/cb?tenant=1&A&state=s"},
		"empty query":        {"https://p.example/cb?", "state=s", "https://p.example/cb?A&state=s"},
		"query with end":     {"https://p.example/cb?a=b&", "state=s", "https://p.example/cb?a=b&A&state=s"},
		"private-use scheme": {"com.example.app:/cb", "state=s", "com.example.app:/cb?A&state=s"},
		"private-use, bare":  {"com.example.app:cb", "state=s", "com.example.app:cb?A&state=s"},
		"loopback":           {"http://[::1]:8080/cb", "state=s", "http://[::1]:8080/cb?A&state=s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := e.app(t, public, registered(test.redirect))
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			query := "/oauth/authorize?" + askQuery(app, withoutParams("state")).Encode() + "&" + test.state
			denied := b.submit(b.get(query).wantOK(), "deny")
			if want := strings.Replace(test.want, "A", "error=access_denied", 1); denied.Status != 303 || denied.location != want {
				t.Errorf("denial: %d to %q, want %q", denied.Status, denied.location, want)
			}
			allowed := b.submit(b.get(query).wantOK(), "allow")
			before, after, _ := strings.Cut(test.want, "A")
			code := strings.TrimSuffix(strings.TrimPrefix(allowed.location, before+"code="), after)
			if _, err := secret.Parse(secret.AuthorizationCode, code); err != nil || allowed.Status != 303 {
				t.Errorf("approval: %d to %q, want %q", allowed.Status, allowed.location, test.want)
			}
		})
	}
}

// AZ-11, AZ-12: only eligible businesses are offered; without any, the page shows the
// reason.
func TestEligibleBusinesses_AZ11_AZ12(t *testing.T) {
	t.Parallel()
	unowned := func(a *partner.App) { a.Reviewed, a.OrganizationID = false, "" }
	for name, test := range map[string]struct {
		app     func(*partner.App)
		user    string
		policy  string
		offered []string
		refusal string
	}{
		"reviewed":                     {func(*partner.App) {}, "usr_owner", "", []string{"biz_bakery", "biz_bikes", "biz_sandbox", "biz_other"}, ""},
		"unreviewed":                   {unreviewed, "usr_owner", "", []string{"biz_sandbox"}, ""},
		"no organization":              {unowned, "usr_owner", "", nil, notReviewed},
		"no organization, with policy": {unowned, "usr_owner", "org_else", []string{"biz_other"}, ""},
		"policy for an owned app":      {unreviewed, "usr_owner", "org_else", []string{"biz_sandbox"}, ""},
		"organization without sandbox": {func(a *partner.App) { a.Reviewed, a.OrganizationID = false, "org_none" }, "usr_owner", "", nil, notReviewed},
		"may connect nowhere":          {func(*partner.App) {}, "usr_guest", "", nil, notPermitted},
		"nowhere, and unreviewed":      {unreviewed, "usr_guest", "", nil, notPermitted},
		"member of nothing":            {func(*partner.App) {}, "usr_nobody", "", nil, notPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t, func(c *oauthserver.Config) {
				if test.policy != "" {
					c.Unowned = func(_ context.Context, _ partner.App, userID string) (string, error) {
						if userID != test.user {
							return "", errors.New("asked for another user")
						}
						return test.policy, nil
					}
				}
			})
			app := e.app(t, test.app)
			b := e.browser(t).signIn(test.user, "biz_bakery")
			p := b.ask(app)
			if test.refusal != "" {
				p.wantRefusal(http.StatusForbidden, test.refusal) // AZ-15
				return
			}
			if diff := cmp.Diff(test.offered, p.wantOK().choices()); diff != "" {
				t.Errorf("businesses (-want +got):\n%s", diff)
			}
			if len(test.offered) == 1 { // preselected, even if the session has another business
				b.submit(p, "allow").wantCallback(pageCallback)
			}
		})
	}
}

// AZ-11: everything is checked again at the decision.
func TestDecisionChecksAgain_AZ11(t *testing.T) {
	t.Parallel()
	user := func(status identity.UserStatus) func(*testing.T, *pageEnv, partner.App) {
		return func(t *testing.T, e *pageEnv, _ partner.App) {
			if err := e.server.SetUserStatus(t.Context(), "usr_owner", status); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		business string
		before   func(*testing.T, *pageEnv, partner.App)
		status   int
		want     string
	}{
		"no business":     {"", nil, 400, "invalid_request: business_id is missing"},
		"not a member":    {"biz_elsewhere", nil, 403, notPermitted},
		"may not connect": {"biz_guest", nil, 403, notPermitted},
		"no longer a member": {"biz_bakery", func(_ *testing.T, e *pageEnv, _ partner.App) {
			e.host.RemoveBusiness("usr_owner", "biz_bakery")
		}, 403, notPermitted},
		"permission withdrawn": {"biz_bakery", func(_ *testing.T, e *pageEnv, _ partner.App) {
			e.host.AddBusiness("usr_owner", oauthserver.Business{ID: "biz_bakery"})
		}, 403, notPermitted},
		"review withdrawn": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			if err := e.server.SetReviewed(t.Context(), a.ID, false); err != nil { // AZ-16: the library call
				t.Fatal(err)
			}
		}, 403, notReviewed},
		"user suspended":  {"biz_bakery", user(identity.UserSuspended), 403, notPermitted},
		"user restricted": {"biz_bakery", user(identity.UserRestricted), 403, notPermitted},
		"app suspended": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.setStatus(t, a, partner.AppSuspended)
		}, 400, "Invalid client_id"},
		"app deactivated": {"biz_bakery", func(t *testing.T, e *pageEnv, a partner.App) {
			e.setStatus(t, a, partner.AppDeactivated)
		}, 400, "Invalid client_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t)
			app := e.app(t)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.ask(app).wantOK()
			if test.before != nil {
				test.before(t, e, app)
			}
			b.submit(p, "allow", withParam("business_id", test.business)).wantRefusal(test.status, test.want)
			e.wantNothingGranted(t)
		})
	}
}

// AZ-11: what changes while the decision is under way counts too, in both flows.
func TestDecisionRaces_AZ11(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile  func(*testing.T, *pageEnv, partner.App)
		status     int
		want       string
		withDevice bool
	}{
		"suspended": {func(t *testing.T, e *pageEnv, a partner.App) { e.setStatus(t, a, partner.AppSuspended) }, 400, "Invalid client_id", true},
		"redirect": {func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, registered("https://partner.example/new"))
		}, 400, notRegistered, false},
		"scopes": {func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, func(a *partner.App) { a.Scopes = identity.MustScopes("customers:read") })
		}, 400, "Requested scopes not permitted for this client", true},
		"review": {func(t *testing.T, e *pageEnv, a partner.App) { e.update(t, a, unreviewed) }, 403, notReviewed, true},
		"user": {func(t *testing.T, e *pageEnv, _ partner.App) {
			if err := e.server.SetUserStatus(t.Context(), "usr_owner", identity.UserRestricted); err != nil {
				t.Error(err)
			}
		}, 403, notPermitted, true},
	} {
		for _, flow := range []string{"redirect", "device"} {
			t.Run(name+" by "+flow, func(t *testing.T) {
				t.Parallel()
				e := newPageEnv(t)
				app := e.app(t)
				b := e.browser(t).signIn("usr_owner", "biz_bakery")
				p := b.ask(app).wantOK()
				if flow == "device" {
					if !test.withDevice {
						t.Skip("a device has no redirect URI")
					}
					p = b.enter(e.device(t, app).UserCode).wantOK()
				}
				e.host.mu.Lock()
				e.host.meanwhile = func() { test.meanwhile(t, e, app) }
				e.host.mu.Unlock()
				b.submit(p, "allow").wantRefusal(test.status, test.want)
				e.wantNothingGranted(t)
			})
		}
	}
}

// AZ-16: completing the review by the library call opens real businesses.
func TestReviewCompleted_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, unreviewed)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(app).wantOK()
	b.submit(p, "allow", withParam("business_id", "biz_bakery")).wantRefusal(403, notReviewed)
	if err := e.server.SetReviewed(t.Context(), app.ID, true); err != nil {
		t.Fatal(err)
	}
	b.submit(p, "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback)
}

// A user who is suspended or restricted gets no page to approve on.
func TestUserStatusOnThePage(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	for _, status := range []identity.UserStatus{identity.UserSuspended, identity.UserRestricted} {
		if err := e.server.SetUserStatus(t.Context(), "usr_owner", status); err != nil {
			t.Fatal(err)
		}
		e.browser(t).signIn("usr_owner", "biz_bakery").ask(app).wantRefusal(403, notPermitted)
	}
}
