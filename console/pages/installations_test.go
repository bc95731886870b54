package pages_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// connect installs an app in a business and returns the installation's id.
func (o *harness) connect(app partner.App, business string) string {
	o.Helper()
	_, _, err := fixture.Approve(o.Context(), o.store, fixture.Consent{App: app, BusinessID: business, UserID: "usr_owner", Scopes: app.Scopes, Now: o.clock.Now()})
	o.must(err)
	found, err := o.store.Installations(o.Context(), partner.InstallationQuery{AppID: app.ID, BusinessID: business})
	o.must(err)
	return found[0].ID
}

// CON-11: connected businesses with status, scopes and last use.
func TestInstallationsPage_CON11(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.get("/apps/" + app.ID + "/installations").want(http.StatusOK).shows("No business has connected the app")
	used := o.connect(app, "biz_used")
	o.connect(app, "biz_gone")
	o.must(o.oauth.RevokeAccess(t.Context(), app.ID, "biz_gone", "usr_owner"))
	o.Calls.Count(analytics.Call{AppID: app.ID, InstallationID: used, BusinessID: "biz_used", At: o.clock.Now().Add(-time.Hour), Method: "GET", Status: 200})
	o.get("/apps/"+app.ID+"/installations").want(http.StatusOK).shows(
		"biz_gone", "Access revoked", "never", "biz_used", "Connected", app.Scopes.Names()[0], "1 Sep 2026, 11:00:00 UTC")
}

// CON-11: the use of each limit.
func TestLimitsPage_CON11(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.get("/apps/"+app.ID+"/limits").want(http.StatusOK).shows("Calls for all businesses", "0 of 10000", "Token requests", "0 of 600", "The app made no calls today.")
	call := ratelimit.Call{AppID: app.ID, BusinessID: "biz_1"}
	limits := ratelimit.DefaultLimits()
	of, err := limits.For(t.Context(), call)
	o.must(err)
	for range 290 {
		_, err := o.limiter.Check(t.Context(), o.clock.Now(), ratelimit.Request{Counters: of.Counters(&call)})
		o.must(err)
	}
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_1", At: o.clock.Now(), Method: "GET", Status: 200})
	o.get("/apps/"+app.ID+"/limits").want(http.StatusOK).shows("290 of 10000", "biz_1", "290 of 300", "Almost used up")
	o.get("/apps/"+app.ID+"/limits?business=biz_2").want(http.StatusOK).shows("Business biz_2", "0 of 300", "Show all businesses").lacks("biz_1")
}

// CON-11: the last use of each client secret.
func TestSecretsPage_CON11(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	o.get("/apps/"+app.ID+"/secrets").shows("Last use", "never")
	secrets, err := o.store.ClientSecrets(t.Context(), app.ID)
	o.must(err)
	o.Calls.Use(secrets[0].UseID(), o.clock.Now().Add(-2*time.Hour))
	o.get("/apps/" + app.ID + "/secrets").shows("1 Sep 2026, 10:00:00 UTC").lacks("never")
}
