package oauthserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

const full = "This app has reached its number of connections"

// AN-03: an app with all its connections gets no further business; those that are connected
// may approve again, and its own sandboxes do not count.
func TestMaxConnections_AN03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(c *oauthserver.Config) { c.MaxConnections = 1 })
	app, other := e.app(t), e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	allow := func(app partner.App, business, scope string) shownPage {
		return b.submit(b.ask(app, withParam("scope", scope)).wantOK(), "allow", withParam("business_id", business))
	}
	allow(app, "biz_sandbox", "invoices:read").wantCallback(pageCallback)
	allow(app, "biz_bikes", "invoices:read").wantCallback(pageCallback)
	refused := b.ask(app).wantOK()
	b.submit(refused, "allow", withParam("business_id", "biz_bakery")).wantRefusal(403, full)
	allow(app, "biz_other", "invoices:read").wantRefusal(403, full) // a sandbox of somebody else
	allow(app, "biz_bikes", "customers:read").wantCallback(pageCallback)
	allow(app, "biz_sandbox", "customers:read").wantCallback(pageCallback)
	allow(other, "biz_bakery", "invoices:read").wantCallback(pageCallback)
	if n := e.count(t, "installation"); n != 3 {
		t.Errorf("AN-03: %d installations", n)
	}

	device := e.device(t, app)
	b.submit(b.enter(device.UserCode).wantOK(), "allow").wantRefusal(403, full)
	if status := e.deviceStatus(t, device.UserCode); status != oauthstore.DevicePending {
		t.Errorf("AN-03: the device code is %s", status)
	}
	if err := e.server.Uninstall(t.Context(), app.ID, "biz_bikes", "usr_owner"); err != nil {
		t.Fatal(err)
	}
	b.submit(b.enter(device.UserCode).wantOK(), "allow").wantOK()
	b.submit(refused, "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback) // connected by the device
	b.submit(b.ask(app).wantOK(), "allow", withParam("business_id", "biz_bikes")).wantRefusal(403, full)
}

// AN-03: the host's function gives each app its number. While it fails nothing is decided, and
// nothing is lost.
func TestMaxConnectionsFor_AN03(t *testing.T) {
	t.Parallel()
	most, fault := map[string]int{}, error(nil)
	e := newPageEnv(t, func(c *oauthserver.Config) {
		c.MaxConnectionsFor = func(_ context.Context, app partner.App) (int, error) { return most[app.ID], fault }
	})
	small, any := e.app(t), e.app(t)
	most[small.ID] = 1
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, business := range []string{"biz_bakery", "biz_bikes", "biz_other"} {
		b.submit(b.ask(any).wantOK(), "allow", withParam("business_id", business)).wantCallback(pageCallback)
	}
	page := b.ask(small).wantOK()
	for _, wrong := range []func(){func() { fault = errors.New("billing is down") }, func() { fault, most[small.ID] = nil, -1 }} {
		wrong()
		if p := b.submit(page, "allow", withParam("business_id", "biz_bikes")); p.Status != 500 {
			t.Errorf("AN-03: %d while the plan is not known", p.Status)
		}
	}
	most[small.ID] = 1
	b.submit(page, "allow", withParam("business_id", "biz_bikes")).wantCallback(pageCallback)
	b.submit(b.ask(small).wantOK(), "allow", withParam("business_id", "biz_bakery")).wantRefusal(403, full)
	most[small.ID] = 2 // a larger plan
	b.submit(b.ask(small).wantOK(), "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback)
	most[small.ID] = 1 // a smaller one: connections stay
	b.submit(b.ask(small).wantOK(), "allow", withParam("business_id", "biz_bakery")).wantCallback(pageCallback)
	b.submit(b.ask(small).wantOK(), "allow", withParam("business_id", "biz_other")).wantRefusal(403, full)
}

func TestMaxConnectionsIsChecked_AN03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	for name, options := range map[string]oauthserver.Options{
		"negative": {MaxConnections: -1},
		"both":     {MaxConnections: 1, MaxConnectionsFor: func(context.Context, partner.App) (int, error) { return 0, nil }},
	} {
		if _, err := oauthserver.New(oauthserver.Config{
			Store: e.Store, Host: e.host, Keyring: fixture.Keyring(1), Pages: pages.New(), APIURL: pageAPI, AppURL: pageApp, Options: options,
		}); err == nil || !strings.Contains(err.Error(), "MaxConnections") {
			t.Errorf("AN-03 %s: accepted", name)
		}
	}
}
