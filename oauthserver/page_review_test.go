package oauthserver_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// What the console would let a developer change after the review.
const laterCallback = "https://new.example/cb"

// changedAfterReview adds a redirect URI and a scope, and changes what people see.
func changedAfterReview(a *partner.App) {
	a.Name, a.AppURL = "Service Account Security", "https://new.example/app"
	a.RedirectURIs = append(slices.Clone(a.RedirectURIs), laterCallback)
	a.Scopes = identity.MustScopes("invoices:read", "invoices:write", "customers:read", "payments:read")
}

// isDeveloper says that usr_owner, and nobody else, belongs to the app's organization.
func isDeveloper(cfg *oauthserver.Config) {
	cfg.IsDeveloper = func(_ context.Context, organizationID, userID string) (bool, error) {
		return organizationID == "org_dev" && userID == "usr_owner", nil
	}
}

// AZ-16: for a business that is no sandbox of the app's own, a request goes through if the
// last review covers its redirect URI and its scopes.
func TestReviewCovers_AZ16(t *testing.T) {
	t.Parallel()
	redirect, scope := withParam("redirect_uri", laterCallback), withParam("scope", "invoices:read payments:read")
	for name, test := range map[string]struct {
		change     []func(url.Values)
		uri, scope bool
	}{
		"what was reviewed": {},
		"a new address":     {change: []func(url.Values){redirect}, uri: true},
		"a new scope":       {change: []func(url.Values){scope}, scope: true},
		"both":              {change: []func(url.Values){redirect, scope}, uri: true, scope: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t, isDeveloper)
			app := e.app(t)
			e.update(t, app, changedAfterReview)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			page := b.ask(app, test.change...).wantOK()
			if !test.uri && !test.scope {
				if got := page.choices(); !slices.Contains(got, "biz_bakery") || strings.Contains(page.main(), "asks for more") {
					t.Errorf("choices %v:\n%s", got, page.main())
				}
				b.submit(page, "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback)
				return
			}
			if got := page.choices(); !slices.Equal(got, []string{"biz_sandbox"}) {
				t.Errorf("choices %v", got)
			}
			for text, want := range map[string]bool{
				"this app now asks for more than the service has reviewed": true,
				"The address that you would return to is new":              test.uri,
				"Some of the access that the app asks for is new":          test.scope,
				"<code>" + laterCallback + "</code>":                       test.uri, // they are a developer of the app
				"reviewed yet: <code>payments:read</code>":                 test.scope && !test.uri,
			} {
				if strings.Contains(page.main(), text) != want {
					t.Errorf("%q is shown: %v\n%s", text, !want, page.main())
				}
			}
			b.submit(page, "allow", withParam("business_id", "biz_bakery")).wantRefusal(403, notReviewed)
			e.wantNothingGranted(t)
			b.submit(b.ask(app, test.change...), "allow", withParam("business_id", "biz_sandbox")).wantCallback(either(test.uri, laterCallback, pageCallback))
		})
	}
}

func either(first bool, a, b string) string { //nolint:revive // picks one
	if first {
		return a
	}
	return b
}

// AZ-16: a person who can choose no sandbox of the app reads which kind of thing changed, and
// a person from outside its organization no new value.
func TestReviewGapOfStrangers_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, isDeveloper)
	e.host.AddBusiness("usr_stranger", oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery", MayConnect: true})
	app := e.app(t)
	e.update(t, app, changedAfterReview)
	b := e.browser(t).signIn("usr_stranger", "biz_bakery")
	page := b.ask(app, withParam("redirect_uri", laterCallback), withParam("scope", "payments:read"))
	page.wantRefusal(403, notReviewed)
	for text, want := range map[string]bool{
		"The address that you would return to is new": true, "Some of the access that the app asks for is new": true,
		"new.example": false, "payments:read": false, "Service Account Security": false,
	} {
		if strings.Contains(page.main(), text) != want {
			t.Errorf("%q is shown: %v\n%s", text, !want, page.main())
		}
	}

	// A device has no address to return to.
	device := b.enter(e.device(t, partner.App{ID: app.ID, Scopes: identity.MustScopes("payments:read")}).UserCode)
	device.wantRefusal(403, notReviewed)
	if main := device.main(); strings.Contains(main, "The address that you") || !strings.Contains(main, "Some of the access that the app asks for is new") || strings.Contains(main, "Security") {
		t.Error(main)
	}
	b.enter(e.device(t, partner.App{ID: app.ID, Scopes: identity.MustScopes("invoices:read")}).UserCode).wantOK()
}

// AZ-16: pages show the name that was reviewed, and the current one where only sandboxes of
// the app's own are concerned.
func TestReviewedName_AZ16(t *testing.T) {
	t.Parallel()
	const reviewed, current = "Ledger Sync", "Service Account Security"
	opened := func(app partner.App) string { return "/open?url=" + url.QueryEscape(app.AppURL) }
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.ConnectedApps.OpenPath = opened })
	e.host.AddBusiness("usr_tester", oauthserver.Business{ID: "biz_sandbox", Name: "Own Sandbox", MayConnect: true, SandboxOf: "org_dev"})
	app := e.app(t, func(a *partner.App) { a.AppURL = "https://partner.example/app" })
	e.update(t, app, changedAfterReview)
	names := func(p shownPage, want, hidden string) shownPage {
		t.Helper()
		if !strings.Contains(p.main(), want) || strings.Contains(p.main(), hidden) {
			t.Errorf("not %s:\n%s", want, p.main())
		}
		return p
	}
	for _, person := range []struct{ user, business, want, hidden, app string }{
		{"usr_owner", "biz_bakery", reviewed, current, "partner.example%2Fapp"},
		{"usr_tester", "biz_sandbox", current, reviewed, "new.example%2Fapp"},
	} {
		b := e.browser(t).signIn(person.user, person.business)
		b.submit(names(b.ask(app).wantOK(), person.want, person.hidden), "allow", withParam("business_id", person.business)).wantCallback(pageCallback)
		names(b.get("/settings/apps").wantOK(), person.app, either(person.want == reviewed, "new.example", "partner.example"))
		names(b.get("/settings/apps").wantOK(), person.want, person.hidden)
		device := names(b.enter(e.device(t, partner.App{ID: app.ID, Scopes: identity.MustScopes("invoices:read")}).UserCode).wantOK(), person.want, person.hidden)
		names(b.submit(device, "allow").wantOK(), person.want, person.hidden)
		denied := b.enter(e.device(t, partner.App{ID: app.ID, Scopes: identity.MustScopes("invoices:read")}).UserCode).wantOK()
		names(b.submit(denied, "deny").wantOK(), reviewed, current)
		names(b.ask(app, withParam("scope", "journal:write")), reviewed, current)
	}
}

// AZ-16: a business that connected the app before its review was taken back still sees what the
// review covered.
func TestReviewTakenBack_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	b.submit(b.ask(app).wantOK(), "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback)
	if err := e.server.SetReviewed(t.Context(), app.ID, false); err != nil {
		t.Fatal(err)
	}
	e.update(t, app, changedAfterReview)
	if main := b.get("/settings/apps").wantOK().main(); !strings.Contains(main, "Ledger Sync") || strings.Contains(main, "Security") {
		t.Error(main)
	}
	if got := b.ask(app).wantOK().choices(); !slices.Equal(got, []string{"biz_sandbox"}) {
		t.Errorf("choices %v", got)
	}
}

// AZ-16, CIMD-04: an address that was not reviewed does not end the warning that any program on
// the computer could be asking.
func TestLoopbackWarning_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, registered("http://127.0.0.1/cb"), func(a *partner.App) {
		a.Type, a.Origin, a.ClientID, a.OrganizationID = partner.Public, partner.OriginDocument, "https://tool.example/client.json", ""
	})
	e.update(t, app, func(a *partner.App) { a.RedirectURIs = append(a.RedirectURIs, "https://evil.example/cb") })
	const warning = "Any program on your computer could be asking."
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	if main := b.ask(app).wantOK().main(); !strings.Contains(main, warning) {
		t.Error(main)
	}
	if err := e.server.SetReviewed(t.Context(), app.ID, true); err != nil {
		t.Fatal(err)
	}
	if main := b.ask(app).wantOK().main(); strings.Contains(main, warning) {
		t.Error(main)
	}
}

// AZ-16: what is removed counts at once, reviewed or not.
func TestRemovedAfterReview_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, registered(pageCallback, "https://partner.example/old"))
	e.update(t, app, registered(pageCallback))
	e.update(t, app, func(a *partner.App) { a.Scopes = identity.MustScopes("invoices:read") })
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	b.ask(app, withParam("redirect_uri", "https://partner.example/old")).wantRefusal(400, notRegistered)
	b.ask(app, withParam("scope", "customers:read")).wantRefusal(400, "Requested scopes not permitted for this client")
	b.submit(b.ask(app).wantOK(), "allow").wantCallback(pageCallback)
}

// AZ-16: a change between the page and the decision counts.
func TestChangedWhileDeciding_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	e.update(t, app, changedAfterReview)
	if err := e.server.SetReviewed(t.Context(), app.ID, true); err != nil {
		t.Fatal(err)
	}
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	page := b.ask(app, withParam("redirect_uri", laterCallback)).wantOK()
	e.host.mu.Lock()
	e.host.meanwhile = func() {
		if err := e.server.CompleteReview(t.Context(), app.ID, app.Profile()); err != nil { // of the app as it was before
			t.Error(err)
		}
	}
	e.host.mu.Unlock()
	b.submit(page, "allow", withParam("business_id", "biz_bakery")).wantRefusal(403, notReviewed)
	e.wantNothingGranted(t)
}

// AZ-16: AZ-05 applies to the addresses that were reviewed.
func TestReviewedLoopback_AZ16(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.LoopbackPorts = oauthserver.LoopbackPortsAll })
	app := e.app(t, registered("http://127.0.0.1:4000/cb"), func(a *partner.App) { a.Type = partner.Public })
	e.update(t, app, func(a *partner.App) { a.RedirectURIs = append(a.RedirectURIs, "http://127.0.0.1:4000/other") })
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	if got := b.ask(app, withParam("redirect_uri", "http://127.0.0.1:5000/cb")).wantOK().choices(); !slices.Contains(got, "biz_bakery") {
		t.Errorf("another port of a reviewed address: %v", got)
	}
	if got := b.ask(app, withParam("redirect_uri", "http://127.0.0.1:5000/other")).wantOK().choices(); slices.Contains(got, "biz_bakery") {
		t.Errorf("an address that was not reviewed: %v", got)
	}
}

// AZ-16: what waits for a review is all of an app that has none, and what was added or changed
// of another.
func TestUnreviewed_AZ16(t *testing.T) {
	t.Parallel()
	before := partner.App{
		Name: "A", RedirectURIs: []string{"https://a.example/1", "https://a.example/2"}, Scopes: identity.MustScopes("invoices:read", "customers:read"), AppURL: "https://a.example/",
	}
	if diff := cmp.Diff(before.Profile(), before.Unreviewed()); diff != "" {
		t.Errorf("never reviewed (-want +got)\n%s", diff)
	}
	before.Reviewed, before.ReviewedAs = true, before.Profile()
	for name, test := range map[string]struct {
		change func(*partner.App)
		want   partner.Profile
	}{
		"nothing": {func(*partner.App) {}, partner.Profile{}},
		"removed": {func(a *partner.App) {
			a.RedirectURIs, a.Scopes, a.AppURL = a.RedirectURIs[1:], identity.MustScopes("customers:read"), ""
		}, partner.Profile{}},
		"added and changed": {func(a *partner.App) {
			a.Name, a.AppURL = "B", "https://b.example/"
			a.RedirectURIs, a.Scopes = []string{"https://a.example/2", "https://b.example/"}, identity.MustScopes("invoices:read", "events:read")
		}, partner.Profile{Name: "B", RedirectURIs: []string{"https://b.example/"}, Scopes: identity.MustScopes("events:read"), AppURL: "https://b.example/"}},
	} {
		app := before
		test.change(&app)
		if diff := cmp.Diff(test.want, app.Unreviewed()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
