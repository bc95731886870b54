package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
)

// CON-02: an app is created with its secret, which works and is shown once.
func TestCreateApp_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	made := d.ann("POST /developer/apps", `{"name": "Sync", "type": "CONFIDENTIAL", "organizationId": "org_1",
		"redirectUris": ["https://partner.example/cb?from=us"], "scopes": ["invoices:read"],
		"appUrl": "https://partner.example/embedded", "pinnedVersion": "2026-01-15"}`).want(http.StatusCreated)
	made.wantTime("createdAt", 0)
	want := map[string]any{
		"id": made.text("id"), "clientId": made.text("clientId"), "name": "Sync", "type": "CONFIDENTIAL", "status": "ACTIVE", "statusReason": nil,
		"organizationId": "org_1", "reviewed": false, "redirectUris": []any{"https://partner.example/cb?from=us"}, "scopes": []any{"invoices:read"},
		"appUrl": "https://partner.example/embedded", "pinnedVersion": "2026-01-15", "createdAt": made.text("createdAt"), "version": 1.0,
		"review": map[string]any{"reviewed": false, "pending": map[string]any{ // AZ-16
			"name": "Sync", "redirectUris": []any{"https://partner.example/cb?from=us"}, "scopes": []any{"invoices:read"}, "appUrl": "https://partner.example/embedded",
		}},
	}
	d.ann("GET /developer/apps/" + made.text("id")).want(http.StatusOK).wantBody(want)
	client, err := d.store.Client(t.Context(), made.text("clientId"))
	d.must(err)
	given, err := secret.Parse(secret.ClientSecret, made.text("clientSecret"))
	if err != nil || len(client.Secrets) != 1 || !client.Secrets[0].Equal(given.Digest()) {
		t.Errorf("the secret that was shown is not the app's: %v", err)
	}
	want["clientSecret"] = made.text("clientSecret")
	made.wantBody(want)
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a secret with Cache-Control %q", made.Header.Get("Cache-Control"))
	}

	public := d.ann("POST /developer/apps", publicApp).want(http.StatusCreated)
	if _, has := public.body["clientSecret"]; has || public.body["appUrl"] != nil || public.body["pinnedVersion"] != nil {
		t.Errorf("a PUBLIC app: %s", public.Body)
	}
}

// CON-02: an app belongs to an organization of its creator. The error for another
// organization does not reveal whether it exists.
func TestOrganizationOfAnApp_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	const of = "organizationId must be an organization that you are a member of"
	body := func(organization string) string {
		return strings.Replace(confidentialApp, `{`, `{"organizationId": `+organization+`, `, 1)
	}
	tests := []struct {
		name, by, body, want string
		problem              string
	}{
		{"the only one", ann, confidentialApp, "org_1", ""},
		{"named", ben, body(`"org_2"`), "org_2", ""},
		{"one of several, not named", ben, confidentialApp, "", "organizationId is required: you are a member of several organizations"},
		{"of nobody", zoe, confidentialApp, "", of},
		{"another's", ann, body(`"org_3"`), "", of},
		{"absent", ann, body(`"org_none"`), "", of},
		{"null", ann, body(`null`), "", "organizationId must be a string"},
	}
	for _, test := range tests {
		got := d.send(call{what: "POST /developer/apps", by: test.by, body: test.body})
		token := d.send(call{what: "POST /developer/registration-tokens", by: test.by, body: strings.TrimSuffix(strings.Split(test.body, `"name"`)[0], ", ") + "}"})
		if test.problem != "" {
			got.wantInvalid(test.problem)
			token.wantInvalid(test.problem) // REG-05: the same rule
			continue
		}
		token.want(http.StatusCreated)
		if organization := got.want(http.StatusCreated).text("organizationId"); organization != test.want {
			t.Errorf("%s: an app of %s", test.name, organization)
		}
	}
}

// CON-02, CON-08, ERR-01: one error lists all problems, each with the name of its member.
func TestAppValidation_CON08(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	public, _ := d.newApp(publicApp)
	tests := []struct {
		what, body string
		problems   []string
	}{
		{"POST /developer/apps", `{}`, []string{
			"name must have 1 to 120 characters", "type must be CONFIDENTIAL or PUBLIC", "redirectUris must have at least one entry", "scopes must have at least one entry",
		}},
		{"POST /developer/apps", `{"name": 1, "secret": "s", "redirectUris": [null], "Type": "PUBLIC"}`, []string{
			"name must be a string", "secret is not a known member", "redirectUris[0] must be a string", "Type is not a known member",
			"type must be CONFIDENTIAL or PUBLIC", "scopes must have at least one entry",
		}},
		{"POST /developer/apps", `{"name": "` + strings.Repeat("n", 121) + `", "type": "CONFIDENTIAL", "organizationId": "org_3",
			"redirectUris": ["http://partner.example/", "https://*.example/", "https://partner.example/#", "com.example:/cb", "https://me@partner.example/"],
			"scopes": ["internal:admin"], "appUrl": "http://localhost/", "pinnedVersion": "2025-06-01"}`, []string{
			"organizationId must be an organization that you are a member of",
			"appUrl is not https", "pinnedVersion must be one of 2026-01-15, 2026-09-01", "name must have 1 to 120 characters",
			"redirectUris[0] is not https, nor http on loopback", "redirectUris[1] has a wildcard", "redirectUris[2] has a fragment",
			"redirectUris[3] is not https", "redirectUris[4] has user info", "scopes: unknown scope: internal:admin",
		}},
		{"POST /developer/apps", strings.Replace(confidentialApp, "events:read", "events read", 1), []string{`scopes: scope 2 has a character that is not allowed`}},
		{"PATCH " + path, `{"type": "CONFIDENTIAL", "organizationId": "org_1", "name": ""}`, []string{"name must have 1 to 120 characters"}}, // neither is a change
		{"PATCH " + path, `{"type": "PUBLIC", "organizationId": null, "name": null, "redirectUris": null, "scopes": null}`, []string{
			"type cannot be changed; create another app", "organizationId cannot be changed",
			"name must not be null", "redirectUris must not be null", "scopes must not be null",
		}},
		{"PATCH " + path, `{"name": " ", "redirectUris": [], "scopes": [], "appUrl": "", "pinnedVersion": ""}`, []string{
			"appUrl is empty", "pinnedVersion must be one of 2026-01-15, 2026-09-01",
			"name must have 1 to 120 characters", "redirectUris must have at least one entry", "scopes must have at least one entry",
		}},
		{"PATCH " + path, `{"redirectUris": ["com.example:/cb"], "appUrl": "https://partner.example/#x"}`, []string{"appUrl has a fragment", "redirectUris[0] is not https"}},
		{"PATCH " + path, `{"appUrl": "http://partner.example/"}`, []string{"appUrl is not https"}},
		{"PATCH " + path, `{"appUrl": "javascript:alert(1)"}`, []string{"appUrl is not https"}},
		// CON-05.
		{"PATCH " + path, `{"appUrl": "https://a;script-src.example/", "redirectUris": ["https://a,b.example/"]}`, []string{"appUrl has no valid host", "redirectUris[0] has no valid host"}},
		{"PATCH " + public, `{"redirectUris": ["desktop:/cb"]}`, []string{"redirectUris[0] is not https"}},
		{"PATCH " + path, `{"status": "ACTIVE", "reviewed": true, "clientId": "x"}`, []string{
			"status is not a known member", "reviewed is not a known member", "clientId is not a known member",
		}},
		{"PATCH " + path, `[]`, []string{"the body must be an object"}},
		{"PATCH " + path, ``, []string{"the body must not be empty"}},
	}
	for _, test := range tests {
		d.ann(test.what, test.body).wantInvalid(test.problems...)
	}
	// CON-08: more than five, with a query, loopback; private-use schemes if PUBLIC.
	many := strings.Repeat(`"https://partner.example/cb?a=b", `, 6)
	d.ann("PATCH "+path, `{"redirectUris": [`+many+`"http://127.0.0.1:8080/cb", "http://[::1]/", "http://localhost/"]}`).want(http.StatusOK)
	d.ann("PATCH "+public, `{"redirectUris": ["com.example.other:/cb", "https://partner.example/"]}`).want(http.StatusOK)
}

// CON-02: http on loopback is for development; without versions there is nothing to
// pin.
func TestAppURLInDevelopment_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(cfg *console.Config) { cfg.AllowLoopback, cfg.Versions = true, nil })
	path, _ := d.newApp(confidentialApp)
	d.ann("PATCH "+path, `{"appUrl": "http://localhost:3000/app?x=1"}`).want(http.StatusOK)
	d.ann("PATCH "+path, `{"appUrl": "http://partner.example/"}`).wantInvalid("appUrl is not https, nor http on loopback")
	d.ann("PATCH "+path, `{"pinnedVersion": "2026-09-01"}`).wantInvalid("pinnedVersion cannot be set: the API has no versions")
}

// CON-02: a change leaves alone what it does not name, null takes away.
func TestUpdateApp_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	want := d.ann("GET " + path).want(http.StatusOK).body
	steps := []struct {
		body   string
		change map[string]any
	}{
		{`{}`, nil},
		{`{"appUrl": "https://partner.example/", "pinnedVersion": "2026-09-01"}`, map[string]any{"appUrl": "https://partner.example/", "pinnedVersion": "2026-09-01"}},
		{`{"name": "Sync 2"}`, map[string]any{"name": "Sync 2"}},
		{`{"scopes": ["customers:read", "customers:read"]}`, map[string]any{"scopes": []any{"customers:read"}}},
		{`{"redirectUris": ["https://partner.example/2"]}`, map[string]any{"redirectUris": []any{"https://partner.example/2"}}},
		{`{"appUrl": null}`, map[string]any{"appUrl": nil}},
		{`{"pinnedVersion": null}`, map[string]any{"pinnedVersion": nil}},
	}
	for i, step := range steps {
		want["version"] = float64(i + 2)                                       // CON-13
		pending := want["review"].(map[string]any)["pending"].(map[string]any) // AZ-16: all of an app that was never reviewed
		for name, value := range step.change {
			want[name] = value
			switch {
			case name == "pinnedVersion":
			case value == nil:
				delete(pending, name)
			default:
				pending[name] = value
			}
		}
		d.ann("PATCH "+path, step.body).want(http.StatusOK).wantBody(want)
		d.ann("GET " + path).want(http.StatusOK).wantBody(want)
	}
}

// APP-01: a suspended app can be repaired, a deactivated one only be looked at.
func TestDeactivatedApp_APP01(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	hook := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook", "events": []}`).want(http.StatusCreated).text("id")
	secretID := d.ann("GET " + path + "/secrets").data()[0]["id"].(string)
	field := path + "/app-data-fields/" + d.ann("POST "+path+"/app-data-fields", carrierField).want(http.StatusCreated).text("id")
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppSuspended))
	if got := d.ann("PATCH "+path, `{"name": "Repaired"}`).want(http.StatusOK); got.body["status"] != "SUSPENDED" {
		t.Errorf("a suspended app: %s", got.Body)
	}
	d.must(d.oauth.SetAppStatus(t.Context(), appID, partner.AppDeactivated))
	for what, body := range map[string]string{
		"PATCH " + path:                                         `{"name": "x"}`,
		"POST " + path + "/secrets":                             "",
		"DELETE " + path + "/secrets/" + secretID:               "",
		"POST " + path + "/webhooks":                            `{"url": "https://partner.example/hook"}`,
		"PATCH " + path + "/webhooks/" + hook:                   `{"enabled": false}`,
		"DELETE " + path + "/webhooks/" + hook:                  "",
		"POST " + path + "/webhooks/" + hook + "/rotate-secret": "",
		"POST " + path + "/app-data-fields":                     carrierField,
		"PATCH " + field:                                        `{"label": "x"}`,
		"DELETE " + field:                                       "",
	} {
		d.ann(what, body).wantCode(http.StatusBadRequest, "APP_DEACTIVATED")
	}
	d.ann("POST "+path+"/webhooks/"+hook+"/test").wantCode(http.StatusBadRequest, "APP_NOT_ACTIVE")
	for _, look := range []string{"", "/secrets", "/webhooks", "/webhooks/" + hook, "/webhooks/" + hook + "/deliveries", "/analytics", "/audit", "/app-data-fields"} {
		d.ann("GET " + path + look).want(http.StatusOK)
	}
}

// CON-02: the apps of all the actor's organizations, newest first, page by page.
func TestListApps_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	var want []string
	for i := range 5 {
		organization := fmt.Sprintf(`{"organizationId": "org_%d", `, 1+i%2)
		made := d.send(call{what: "POST /developer/apps", by: ben, body: strings.Replace(confidentialApp, "{", organization, 1)})
		want = append([]string{made.want(http.StatusCreated).text("id")}, want...)
	}
	d.send(call{what: "POST /developer/apps", by: eve, body: confidentialApp}).want(http.StatusCreated)
	var got []string
	query := "?limit=2"
	for range 3 {
		page := d.send(call{what: "GET /developer/apps" + query, by: ben})
		for _, app := range page.data() {
			got = append(got, app["id"].(string))
		}
		if page.body["hasMore"] != true {
			if _, has := page.body["nextCursor"]; has || page.body["hasMore"] != false {
				t.Errorf("the last page: %s", page.Body)
			}
			break
		}
		query = "?limit=2&after=" + url.QueryEscape(page.text("nextCursor"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if apps := d.send(call{what: "GET /developer/apps?limit=5", by: ben}); len(apps.data()) != 5 || apps.body["hasMore"] != false {
		t.Errorf("a page that is full: %s", apps.Body)
	}
	if apps := d.ann("GET /developer/apps").data(); len(apps) != 3 {
		t.Errorf("Ann sees %d apps", len(apps))
	}
	d.send(call{what: "GET /developer/apps", by: zoe}).want(http.StatusOK).wantBody(map[string]any{"data": []any{}, "hasMore": false})
	const limit = "limit must be a whole number from 1 to 100"
	for query, problems := range map[string][]string{
		"limit=0": {limit}, "limit=101": {limit}, "limit=": {limit}, "limit=1e1": {limit}, "limit=1&limit=1": {"limit must be given once"},
		"after=a&after=b": {"after must be given once"}, "after=%00": {"after must be UTF-8 without NUL"}, "after=%ff": {"after must be UTF-8 without NUL"},
		"%zz": {"the query is not well-formed"}, "after=app_1": {"after must be the nextCursor of a page"}, "after=x": {"after must be the nextCursor of a page"},
	} {
		d.ann("GET /developer/apps?" + query).wantInvalid(problems...)
	}
	signedIn := httptest.NewRequest(http.MethodGet, apiOrigin, http.NoBody)
	signedIn.AddCookie(d.people.NewSession(ann, ""))
	by, err := d.console.Actor(signedIn)
	d.must(err)
	for _, after := range []string{"\x00", "\xff"} { // as a page may pass it on
		if _, err := d.console.Apps(t.Context(), by, console.Page{After: after}); err == nil {
			t.Errorf("after %q is a place in the list", after)
		}
	}
}

// CON-02: of changes at the same time, each of another member, none is lost.
func TestRaceOfChanges_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	for round := range 10 {
		want := map[string]any{
			"name": fmt.Sprint("Sync ", round), "appUrl": fmt.Sprint("https://partner.example/", round),
			"redirectUris": []any{fmt.Sprint("https://partner.example/cb", round)}, "pinnedVersion": []string{"2026-01-15", "2026-09-01"}[round%2],
		}
		changes := []string{
			fmt.Sprintf(`{"name": %q}`, want["name"]), fmt.Sprintf(`{"appUrl": %q}`, want["appUrl"]),
			fmt.Sprintf(`{"redirectUris": ["https://partner.example/cb%d"]}`, round), fmt.Sprintf(`{"pinnedVersion": %q}`, want["pinnedVersion"]),
		}
		testdb.Race(len(changes), func(i int) {
			if got := d.ann("PATCH "+path, changes[i]); got.Status != http.StatusOK {
				t.Errorf("%d: %s", got.Status, got.Body)
			}
		})
		got := d.ann("GET " + path).want(http.StatusOK).body
		for name, value := range want {
			if diff := cmp.Diff(value, got[name]); diff != "" {
				t.Fatalf("round %d: %s was lost (-want +got)\n%s", round, name, diff)
			}
		}
	}
}

// VER-02: a version past its sunset cannot be pinned any more, and stays where it is.
func TestPinAfterSunset_VER02(t *testing.T) {
	t.Parallel()
	var sunset time.Time
	d := newHarness(t, func(cfg *console.Config) {
		sunset = cfg.Clock.Now().Add(time.Hour)
		cfg.Serves = func(version string, at time.Time) bool { return version != "2026-01-15" || at.Before(sunset) }
	})
	pinned, _ := d.newApp(confidentialApp)
	other, _ := d.newApp(confidentialApp)
	d.ann("PATCH "+pinned, `{"pinnedVersion": "2026-01-15"}`).want(http.StatusOK)
	d.must(d.clock.Advance(time.Hour))
	d.ann("PATCH "+pinned, `{"pinnedVersion": "2026-01-15", "name": "Renamed"}`).want(http.StatusOK)
	d.ann("PATCH "+other, `{"pinnedVersion": "2026-01-15"}`).wantInvalid("pinnedVersion must be one of 2026-09-01")
	d.ann("POST /developer/apps", strings.TrimSuffix(confidentialApp, "}")+`, "pinnedVersion": "2026-01-15"}`).wantInvalid("pinnedVersion must be one of 2026-09-01")
	d.ann("PATCH "+pinned, `{"pinnedVersion": "2026-09-01"}`).want(http.StatusOK)
	d.ann("PATCH "+pinned, `{"pinnedVersion": "2026-01-15"}`).wantInvalid("pinnedVersion must be one of 2026-09-01")
}
