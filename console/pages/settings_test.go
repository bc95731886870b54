package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// CON-02, CON-07: a developer changes an app, and the audit log has it.
func TestSettings_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
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
func (a response) checked() []string {
	var all []string
	for line := range strings.Lines(a.Body) {
		if strings.Contains(line, `type="checkbox"`) && strings.Contains(line, " checked") {
			all = append(all, response{Response: &partnertest.Response{Body: line}}.values("value")...)
		}
	}
	slices.Sort(all)
	return all
}

// A form with mistakes keeps what was entered, says all that is wrong, and changes
// nothing.
func TestSettingsWithMistakes(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/settings"
	page := o.post(at, "name", " ", "redirect_uris", "https://partner.example/ok\n\nhttp://partner.example/plain", "scopes", "suppliers:write", "app_url", "http://partner.example/", "pinned_version", "1999").
		want(http.StatusBadRequest).shows("http://partner.example/plain")
	page.alerts("Please correct what is marked below.").shows("App URL is not https", "API version must be one of 2026-01-15, 2026-09-01",
		"Name must have 1 to 120 characters", "Line 3 is not https, nor http on loopback")
	if strings.Count(page.Body, " autofocus") != 1 || !strings.Contains(page.Body, `aria-describedby="name-hint name-problem" aria-invalid="true" autofocus>`) {
		t.Error("the first wrong field has no focus")
	}
	if !slices.Contains(page.values("value"), "http://partner.example/") || !slices.Equal(page.checked(), []string{"suppliers:write"}) {
		t.Errorf("what was entered is lost: %s", page.Body)
	}
	o.get(at).shows("https://partner.example/cb").lacks("http://partner.example/plain")
	o.did(app, "app.created")
}

// What is wrong with a field that the form does not show stands above the form.
func TestNewAppWithMistakes(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.post("/apps/new", "name", "Sync", "type", "CONFIDENTIAL", "organization_id", "org_9", "scopes", "nonsense").want(http.StatusBadRequest).
		alerts("Please correct what is marked below.", "organizationId must be an organization that you are a member of").shows("Redirect URIs must have at least one entry", "Scopes")
}

// A version that was retired since it was pinned does not stand in the way.
func TestRetiredVersion(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	_, err := o.store.UpdateApp(t.Context(), app.ID, func(a partner.App) (partner.App, error) { a.PinnedVersion = "2025-01-01"; return a, nil })
	o.must(err)
	at := "/apps/" + app.ID + "/settings"
	if !strings.Contains(o.get(at).Body, "<option selected>2025-01-01</option>") {
		t.Error("the pinned version is not shown")
	}
	o.post(at, "name", "New", "redirect_uris", "https://partner.example/", "scopes", "invoices:read", "pinned_version", "2025-01-01").wantTo(at + "?done=app-updated")
}

// APP-01: the page describes what the service allows an app to do, and a deactivated app is
// read-only.
func TestStanding_APP01(t *testing.T) {
	t.Parallel()
	o, app, fill := newComplete(t)
	at := "/apps/" + app.ID + "/settings"
	o.must(o.oauth.SetReviewed(t.Context(), app.ID, true))
	o.get(at).shows("Reviewed: any business can connect it.", "Live")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
	o.get(at).shows("Suspended: its tokens and webhooks do not work")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))
	o.get(at).shows("Deactivated permanently", "deactivated and read-only")
	for _, path := range []string{"/apps/{appId}/settings", "/apps/{appId}/secrets", "/apps/{appId}/webhooks", "/apps/{appId}/webhooks/{webhookId}"} {
		if got := o.get(fill(path)).want(http.StatusOK).shows("This app is deactivated and read-only."); strings.Contains(got.Body, "<button class=\"primary\"") || strings.Contains(got.Body, "danger") {
			t.Errorf("%s has buttons: %s", got.Request, got.Body)
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
		o.post(fill(path), form...).want(http.StatusBadRequest).alerts("the app is deactivated and read-only")
	}
	o.post(fill("/apps/{appId}/webhooks/{webhookId}/test")).want(http.StatusBadRequest).alerts("the app is suspended or deactivated")
}
