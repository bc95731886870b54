package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sandbox makes Ann a member of two sandbox businesses of her organization, and of businesses in
// which she gets no token.
func (o *harness) sandbox() {
	o.host.AddBusiness(ann, oauthserver.Business{ID: "biz_real", Name: "Corner Bakery", MayConnect: true})
	o.host.AddBusiness(ann, oauthserver.Business{ID: "biz_viewer", Name: "Viewer", SandboxOf: "org_1"})
	o.host.AddBusiness(ann, oauthserver.Business{ID: "biz_other", Name: "Other", SandboxOf: "org_2", MayConnect: true})
	o.host.AddBusiness(ann, oauthserver.Business{ID: "biz_sand", Name: "Sand \u202eCastle", SandboxOf: "org_1", MayConnect: true})
	o.host.AddBusiness(ann, oauthserver.Business{ID: "biz_box", Name: "Box", SandboxOf: "org_1", MayConnect: true})
}

// rows counts the rows of a table.
func (o *harness) rows(from string) (n int) {
	o.Helper()
	o.must(storage.Each(o.Context(), o.store.Tap, "SELECT COUNT(*) FROM "+from, nil, func(scan func(...any) error) error { return scan(&n) }))
	return n
}

// token returns the access token in the samples of a page.
func (a response) token() string {
	a.o.Helper()
	for _, text := range a.values("data-copy") {
		if i := strings.Index(text, "Bearer "+string(secret.AccessToken)); i >= 0 {
			token := text[i+len("Bearer "):]
			if end := strings.IndexAny(token, `"'`); end >= 0 {
				token = token[:end]
			}
			return token
		}
	}
	a.o.Fatalf("%s: no sample has a token: %s", a.Request, a.Body)
	return ""
}

// AZ-12: one click gives a token for a sandbox business of the organization in which the
// developer may connect apps, with everything that a consent records, and the samples have it.
func TestSandboxToken_AZ12(t *testing.T) {
	t.Parallel()
	o := newHarness(t, withReads)
	app := o.newApp()
	path := "/apps/" + app.ID + "/start"
	o.get(path).want(http.StatusOK).shows("there is none").lacks("Get a sandbox token")
	o.sandbox()
	page := o.get(path).want(http.StatusOK).shows("Get a sandbox token", "Sand Castle (biz_sand)", "Box (biz_box)", "YOUR_ACCESS_TOKEN", "JavaScript", "Python").lacks("biz_real", "biz_viewer", "biz_other")
	if !slices.Contains(page.values("action"), o.prefix+path+"/token") {
		t.Errorf("the forms post to %v", page.values("action"))
	}
	shown := o.post(path+"/token", "business_id", "biz_box").want(http.StatusOK).shows("connected to Box", "Copy it now", "Waiting for your first call…").lacks("YOUR_ACCESS_TOKEN")
	var samples int
	for _, text := range shown.values("data-copy") {
		if strings.Contains(text, shown.token()) && strings.Contains(text, "https://api.example.com/invoices") {
			samples++
		}
	}
	if samples != 4 {
		t.Errorf("%d samples have the token", samples)
	}
	if got := shown.values("data-replace"); len(got) != 1 || got[0] != o.prefix+path {
		t.Errorf("data-replace is %q: reloading would send the form again", got)
	}

	principal, err := o.oauth.VerifyAccessToken(t.Context(), shown.token())
	o.must(err)
	if principal.AppID != app.ID || principal.BusinessID != "biz_box" || principal.UserID != ann || !principal.Scopes.Equal(app.Scopes) {
		t.Errorf("the token is of %+v", principal)
	}
	installed, err := o.store.Installations(t.Context(), partner.InstallationQuery{AppID: app.ID})
	o.must(err)
	if len(installed) != 1 || installed[0].BusinessID != "biz_box" || !installed[0].Scopes.Equal(app.Scopes) {
		t.Errorf("installations: %+v", installed)
	}
	log, err := o.store.Audit(t.Context(), audit.Query{AppID: app.ID, Limit: 1})
	o.must(err)
	if entry := log[0]; entry.Action != audited.ConsentAllowed || entry.UserID != ann || entry.Target != "biz_box" {
		t.Errorf("the audit log has %+v", entry)
	}
	if n := o.rows("partnerkit_event WHERE type = 'app.installed' AND business_id = 'biz_box'"); n != 1 {
		t.Errorf("%d events say that the app was installed", n)
	}
	if one, two := shown.token(), o.post(path+"/token").want(http.StatusOK).shows("connected to Sand Castle").token(); one == two {
		t.Error("the token was given twice")
	}
}

// AZ-12: a token for another business is refused, and nothing is recorded.
func TestSandboxTokenRefused_AZ12(t *testing.T) {
	t.Parallel()
	o := newHarness(t, withReads)
	app := o.newApp()
	o.sandbox()
	path := "/apps/" + app.ID + "/start"
	for business, status := range map[string]int{
		"biz_viewer": http.StatusForbidden, "biz_other": http.StatusForbidden, "biz_real": http.StatusForbidden, "biz_none": http.StatusForbidden,
	} {
		o.post(path+"/token", "business_id", business).want(status)
	}
	reviewed := o.newApp()
	_, err := o.store.UpdateApp(t.Context(), reviewed.ID, func(a partner.App) (partner.App, error) { a.Reviewed = true; return a, nil })
	o.must(err)
	o.post("/apps/"+reviewed.ID+"/start/token", "business_id", "biz_real").want(http.StatusForbidden) // the consent page would allow it
	o.send(ask{method: http.MethodPost, path: path + "/token", by: ann, form: url.Values{"business_id": {"biz_box"}}, set: http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}}).want(http.StatusForbidden)
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppSuspended))
	o.post(path+"/token", "business_id", "biz_box").want(http.StatusBadRequest).shows("suspended")
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppActive))
	_, err = o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_app SET scopes = '' WHERE id = $1", app.ID)
	o.must(err)
	o.get(path).want(http.StatusOK).shows("has no scopes yet").lacks("Get a sandbox token")
	o.post(path+"/token", "business_id", "biz_box").want(http.StatusBadRequest).shows("no scopes")
	o.must(o.oauth.SetUserStatus(t.Context(), ann, identity.UserRestricted))
	o.get(path).want(http.StatusOK).lacks("Get a sandbox token")
	if n := o.rows("partnerkit_installation"); n != 0 {
		t.Errorf("%d installations", n)
	}
	o.refuses(app, []string{"/start"}, []string{"/start/token"})
}

// The page says that it waits for the first call, and shows the call once it was received. The
// checklist has the step.
func TestFirstCall(t *testing.T) {
	t.Parallel()
	o := newHarness(t, withReads)
	app := o.newApp()
	o.sandbox()
	o.get("/apps/" + app.ID).want(http.StatusOK).shows("Make the first call").lacks("Make the first call</a> <span")
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_box", At: o.clock.Now().Add(-time.Minute), Method: "GET", Route: "GET /old", Status: 200})
	shown := o.post("/apps/"+app.ID+"/start/token", "business_id", "biz_box").want(http.StatusOK)
	address := strings.TrimPrefix(shown.values("data-live")[0], o.prefix)
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_sand", At: o.clock.Now(), Method: "GET", Route: "GET /elsewhere", Status: 200})
	waiting := o.get(address).want(http.StatusOK).shows("Waiting for your first call…")
	if len(waiting.Body) > 4<<10 {
		t.Errorf("asking again costs %d bytes", len(waiting.Body))
	}
	o.Calls.Count(analytics.Call{AppID: app.ID, BusinessID: "biz_box", At: o.clock.Now(), Method: "GET", Route: "GET /invoices", Status: 403})
	o.get(address).want(http.StatusOK).shows("Received: GET /invoices 403 Forbidden").lacks("Waiting")
	o.get("/apps/" + app.ID).want(http.StatusOK).shows("Make the first call (done)")
	o.get("/apps/" + app.ID + "/start/call").wantTo("/apps/" + app.ID + "/start")
	o.get("/apps/" + app.ID + "/start/call?" + url.Values{"since": {"x"}}.Encode()).wantTo("/apps/" + app.ID + "/start")
}
