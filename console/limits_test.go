package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// CON-02: an app has only so many of each.
func TestItemLimits_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(strings.Replace(confidentialApp, `{`, `{"appUrl": "https://partner.example/", `, 1))
	for range console.MaxAssets {
		d.upload(path, upload{kind: "icon", file: webpLossless(128, 128)}).want(http.StatusCreated)
	}
	d.upload(path, upload{kind: "icon", file: webpLossless(128, 128)}).wantInvalid("an app has at most 50 assets")
	for range console.MaxExtensions {
		d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).want(http.StatusCreated)
	}
	d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).wantInvalid("an app has at most 50 extensions")
}

// CON-12: an organization has at most 100 apps, an app 20 webhooks, 20 functions and 100
// redirect URIs, of which equal ones are one.
func TestBounds_CON12(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	const function, hook = `{"name": "n", "source": "export default f"}`, `{"url": "https://partner.example/"}`
	for range 20 {
		d.ann("POST "+path+"/functions", function).want(http.StatusCreated)
		d.ann("POST "+path+"/webhooks", hook).want(http.StatusCreated)
	}
	d.ann("POST "+path+"/functions", function).wantInvalid("an app has at most 20 functions")
	d.ann("POST "+path+"/webhooks", hook).wantInvalid("an app has at most 20 webhooks")

	uris := func(n int) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, `"https://partner.example/%d", `, i)
		}
		return `"redirectUris": [` + all.String() + `"https://partner.example/0", "https://partner.example/0"]`
	}
	app := func(n int) string {
		return strings.Replace(confidentialApp, `"redirectUris": ["https://partner.example/cb"]`, uris(n), 1)
	}
	d.ann("POST /developer/apps", app(101)).wantInvalid("an app has at most 100 redirect URIs")
	d.ann("PATCH "+path, "{"+uris(101)+"}").wantInvalid("an app has at most 100 redirect URIs")
	for _, got := range []response{d.ann("POST /developer/apps", app(100)).want(http.StatusCreated), d.ann("PATCH "+path, "{"+uris(100)+"}").want(http.StatusOK)} {
		if kept := got.body["redirectUris"].([]any); len(kept) != 100 || kept[0] != "https://partner.example/0" || kept[99] != "https://partner.example/99" {
			t.Errorf("%s: %d redirect URIs: %v", got.Request, len(kept), kept)
		}
	}

	for range 98 {
		d.newApp(publicApp)
	}
	before := d.audited()
	d.ann("POST /developer/apps", publicApp).wantInvalid("an organization has at most 100 apps")
	if d.audited() != before {
		t.Error("an entry for an app that was not created")
	}
	d.send(call{what: "POST /developer/apps", body: strings.Replace(publicApp, "{", `{"organizationId": "org_2", `, 1), by: ben}).want(http.StatusCreated)
	// One that is suspended counts, one that is deactivated does not.
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppSuspended))
	d.ann("POST /developer/apps", publicApp).wantInvalid("an organization has at most 100 apps")
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppDeactivated))
	d.ann("POST /developer/apps", publicApp).want(http.StatusCreated)
	d.ann("POST /developer/apps", publicApp).wantInvalid("an organization has at most 100 apps")
}

// CON-12: the bounds can be configured.
func TestConfiguredBounds_CON12(t *testing.T) {
	t.Parallel()
	d := newHarnessOn(t, testdb.SQLite, oauthserver.Config{Options: oauthserver.Options{MaxApps: 2, MaxRedirectURIs: 1}}, func(c *console.Config) { c.MaxFunctions = 1 })
	path, _ := d.newApp(confidentialApp)
	d.newApp(publicApp)
	d.ann("POST /developer/apps", publicApp).wantInvalid("an organization has at most 2 apps")
	d.ann("PATCH "+path, `{"redirectUris": ["https://partner.example/1", "https://partner.example/2"]}`).wantInvalid("an app has at most 1 redirect URIs")
	d.ann("POST "+path+"/functions", `{"name": "n", "source": "export default f"}`).want(http.StatusCreated)
	d.ann("POST "+path+"/functions", `{"name": "n", "source": "export default f"}`).wantInvalid("an app has at most 1 functions")
}
