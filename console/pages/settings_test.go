package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// CON-02, CON-07: a developer changes an app, and the audit log has it.
func TestSettings_CON02(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/settings"
	page := o.get(at).want(http.StatusOK).shows("Sync", app.ClientID, "https://partner.example/cb", "Not reviewed yet", "Sandbox only", "Confidential")
	if checked := page.checked(); !slices.Equal(checked, []string{"events:read", "invoices:read"}) {
		t.Errorf("the checked scopes are %q", checked)
	}
	o.post(at, "name", "Sync 2", "redirect_uris", "https://partner.example/a\r\n\r\n  https://partner.example/b \r\n", "scopes", "customers:read", "scopes", "invoices:read",
		"app_url", " https://partner.example/app ", "pinned_version", "2026-01-15").wantTo(at+"?done=app-updated").shows("The app was updated.", "Sync 2")
	o.did(app, "app.updated", "app.created")
	now, err := o.console.App(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	if now.Name != "Sync 2" || !slices.Equal(now.RedirectURIs, []string{"https://partner.example/a", "https://partner.example/b"}) ||
		!slices.Equal(now.Scopes.Names(), []string{"customers:read", "invoices:read"}) || now.AppURL != "https://partner.example/app" || now.PinnedVersion != "2026-01-15" {
		t.Errorf("the app is %+v", now)
	}
	// What is emptied is taken away.
	o.post(at, "name", "Sync 2", "redirect_uris", "https://partner.example/a", "scopes", "invoices:read", "app_url", "", "pinned_version", "").wantTo(at + "?done=app-updated")
	if now, err = o.console.App(t.Context(), o.actor(ann), app.ID); err != nil || now.AppURL != "" || now.PinnedVersion != "" {
		t.Errorf("the app is %+v: %v", now, err)
	}
}

// checked are the values of the boxes that are, sorted.
func (a answer) checked() []string {
	var all []string
	for line := range strings.Lines(a.body) {
		if strings.Contains(line, `type="checkbox"`) && strings.Contains(line, " checked") {
			all = append(all, answer{body: line}.values("value")...)
		}
	}
	slices.Sort(all)
	return all
}

// A form with mistakes keeps what was entered, says all that is wrong, and changes
// nothing.
func TestSettingsWithMistakes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/settings"
	page := o.post(at, "name", " ", "redirect_uris", "http://partner.example/plain", "scopes", "suppliers:write", "app_url", "http://partner.example/", "pinned_version", "1999").
		want(http.StatusBadRequest).shows("http://partner.example/plain")
	page.alerts("appUrl is not https", "pinnedVersion must be one of 2026-01-15, 2026-09-01", "name must have 1 to 120 characters", "redirectUris[0] is not https, nor http on loopback")
	if !slices.Contains(page.values("value"), "http://partner.example/") || !slices.Equal(page.checked(), []string{"suppliers:write"}) {
		t.Errorf("what was entered is lost: %s", page.body)
	}
	o.get(at).shows("https://partner.example/cb").lacks("http://partner.example/plain")
	o.did(app, "app.created")
}

// A version that was retired since it was pinned does not stand in the way.
func TestRetiredVersion(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	app := o.newApp()
	_, err := o.store.UpdateApp(t.Context(), app.ID, func(a oauthserver.App) (oauthserver.App, error) { a.PinnedVersion = "2025-01-01"; return a, nil })
	o.must(err)
	at := "/apps/" + app.ID + "/settings"
	if !strings.Contains(o.get(at).body, "<option selected>2025-01-01</option>") {
		t.Error("the pinned version is not shown")
	}
	o.post(at, "name", "New", "redirect_uris", "https://partner.example/", "scopes", "invoices:read", "pinned_version", "2025-01-01").wantTo(at + "?done=app-updated")
}

// APP-01: what the service lets an app do is told in words, and a deactivated app can
// only be read.
func TestStanding_APP01(t *testing.T) {
	t.Parallel()
	o, app, fill := newWorld(t)
	at := "/apps/" + app.ID + "/settings"
	o.must(o.oauth.SetReviewed(t.Context(), app.ID, true))
	o.get(at).shows("Reviewed: any business can connect it.", "Live")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, oauthserver.AppSuspended))
	o.get(at).shows("Suspended: its tokens and webhooks rest")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, oauthserver.AppDeactivated))
	o.get(at).shows("Deactivated for good", "nothing be changed")
	for _, path := range []string{"/apps/{appId}/settings", "/apps/{appId}/secrets", "/apps/{appId}/webhooks", "/apps/{appId}/webhooks/{webhookId}"} {
		if got := o.get(fill(path)).want(http.StatusOK).shows("This app was deactivated."); strings.Contains(got.body, "<button class=\"primary\"") || strings.Contains(got.body, "danger") {
			t.Errorf("%s has buttons: %s", got.what, got.body)
		}
	}
	for path, form := range map[string][]string{
		"/apps/{appId}/settings":                           {"name", "New"},
		"/apps/{appId}/secrets":                            nil,
		"/apps/{appId}/secrets/{secretId}/end":             nil,
		"/apps/{appId}/webhooks/new":                       {"url", "https://partner.example/"},
		"/apps/{appId}/webhooks/{webhookId}":               {"url", "https://partner.example/"},
		"/apps/{appId}/webhooks/{webhookId}/delete":        nil,
		"/apps/{appId}/webhooks/{webhookId}/rotate-secret": nil,
	} {
		o.post(fill(path), form...).want(http.StatusBadRequest).alerts("a deactivated app can be read, and no longer be changed")
	}
	o.post(fill("/apps/{appId}/webhooks/{webhookId}/test")).want(http.StatusBadRequest).alerts("the app is suspended or deactivated")
}
