package oauthserver_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// connect connects an app to the business that the browser is signed into.
func (b *pageBrowser) connect(app partner.App) {
	b.t.Helper()
	b.submit(b.ask(app).wantOK(), "allow").wantCallback(app.RedirectURIs[0])
}

// INST-01, INST-03: a business sees the apps that it has connected, and disconnects them.
func TestConnectedApps(t *testing.T) {
	t.Parallel()
	used := time.Date(2026, 8, 31, 10, 0, 0, 0, time.UTC)
	var asked []string
	e := newPageEnv(t, func(cfg *oauthserver.Config) {
		cfg.BusinessPath = "/businesses"
		cfg.ConnectedApps.OpenPath = func(app partner.App) string { return "/open/" + app.ClientID }
		cfg.ConnectedApps.LastUses = func(_ context.Context, ids ...string) (map[string]time.Time, error) {
			asked = ids
			return map[string]time.Time{ids[0]: used}, nil
		}
		cfg.ConnectedApps.PersonName = func(_ context.Context, userID string) (string, error) { return "Name of " + userID, nil }
	})
	first, second := e.app(t), e.app(t, func(a *partner.App) { a.Name = hostileName })
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	b.get("/settings/apps").wantOK().shows("en", "Connected apps", "No apps are connected", "Corner Bakery")
	b.connect(first)
	b.connect(second)
	page := b.get("/settings/apps").wantOK()
	page.shows("en", "Ledger Sync", hostileName, "Connected1 Sep 2026, 12:00:00 UTC", "Connected byName of usr_owner", "Last used31 Aug 2026, 10:00:00 UTC", "Last usednever", "See your invoices",
		"Ledger Sync loses access to Corner Bakery at once", "Revoke access…", "Uninstall…")
	if len(asked) != 2 || strings.Contains(page.Body, hostileName) || strings.Contains(page.Body, "<script") || !strings.Contains(page.Body, `href="/open/`+first.ClientID+`"`) {
		t.Errorf("asked for %v:\n%s", asked, page.main())
	}

	for path, test := range map[string]struct {
		app    partner.App
		notice string
	}{
		"/settings/apps/revoke-access": {first, "The app no longer has access."},
		"/settings/apps/uninstall":     {second, "The app was uninstalled."},
	} {
		form := url.Values{"client_id": {test.app.ClientID}}
		t.Run("CON-07 "+path+" from another site", func(t *testing.T) {
			foreign := e.browser(t).signIn("usr_owner", "biz_bakery")
			foreign.header.Set("Origin", "https://evil.example")
			foreign.post(path, form).wantRefusal(http.StatusForbidden, "This form was sent from another site")
		})
		t.Run("AZ-12 "+path+" without permission", func(t *testing.T) {
			guest := e.browser(t).signIn("usr_guest", "biz_guest")
			guest.post(path, form).wantRefusal(http.StatusForbidden, "You do not have permission to disconnect apps from this business")
		})
		b.post(path, url.Values{}).wantRefusal(http.StatusBadRequest, "invalid_request: client_id is missing")
		b.post(path, url.Values{"client_id": {"nobody"}}).wantRefusal(http.StatusNotFound, "client nobody not found")
		if n := e.count(t, "installation"); n != 2 {
			t.Fatalf("%d installations", n)
		}
		for range 2 { // the second time nothing is left to do
			done := b.post(path, form)
			if done.Status != http.StatusSeeOther {
				t.Fatalf("%s: %d\n%s", path, done.Status, done.main())
			}
			b.get(done.location).wantOK().shows("en", test.notice)
		}
	}
	b.get("/settings/apps?done="+url.QueryEscape(hostileName)).wantOK().shows("en", "No apps are connected")
}

// A user who may not connect apps sees the connected apps without buttons.
func TestConnectedAppsReadOnly(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	e.browser(t).signIn("usr_owner", "biz_bakery").connect(app)
	e.host.AddBusiness("usr_guest", oauthserver.Business{ID: "biz_bakery", Name: "Corner Bakery"})
	page := e.browser(t).signIn("usr_guest", "biz_bakery").get("/settings/apps").wantOK()
	page.shows("en", "Ledger Sync", "Owners and admins can disconnect apps.")
	if strings.Contains(page.Body, "<form") || strings.Contains(page.Body, "Last used") {
		t.Errorf("a person without permission:\n%s", page.main())
	}
}

// The page is for people who are signed in to a business that they are a member of.
func TestConnectedAppsNeedABusiness(t *testing.T) {
	t.Parallel()
	bare := newPageEnv(t)
	choosing := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.BusinessPath = "/businesses" })
	for _, businessID := range []string{"", "biz_left"} {
		bare.browser(t).signIn("usr_owner", businessID).get("/settings/apps").
			wantRefusal(http.StatusBadRequest, "invalid_request: business_id is missing: choose the business to sign into first")
		if page := choosing.browser(t).signIn("usr_owner", businessID).get("/settings/apps"); page.Status != http.StatusSeeOther || page.location != "/businesses" {
			t.Errorf("%q: %d to %s", businessID, page.Status, page.location)
		}
	}
	for _, page := range []shownPage{bare.browser(t).get("/settings/apps"), bare.browser(t).post("/settings/apps/uninstall", url.Values{"client_id": {"x"}})} {
		if page.Status != http.StatusSeeOther || page.location != "/login?return_to=%2Fsettings%2Fapps" {
			t.Errorf("signed out: %d to %s", page.Status, page.location)
		}
	}
	if err := bare.server.SetUserStatus(t.Context(), "usr_owner", identity.UserSuspended); err != nil {
		t.Fatal(err)
	}
	bare.browser(t).signIn("usr_owner", "biz_bakery").get("/settings/apps").wantRefusal(http.StatusForbidden, "This account is suspended")
}

// A host keeps the page to itself.
func TestConnectedAppsOmitted(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.ConnectedApps.Omit = true })
	if page := e.browser(t).signIn("usr_owner", "biz_bakery").get("/settings/apps"); page.Status != http.StatusNotFound || len(e.server.AppPatterns()) != 5 {
		t.Errorf("%d, %v", page.Status, e.server.AppPatterns())
	}
}
