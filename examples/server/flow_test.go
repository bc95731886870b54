package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

const (
	syncID, syncSecret = "ledgerlink-sync", "demo-secret-ledgerlink-sync"
	syncCallback       = "http://localhost:9090/callback"
)

// token posts to an OAuth endpoint as the demo's confidential app.
func (r *harness) oauth(endpoint string, form url.Values) response {
	r.t.Helper()
	req := request(r.t, http.MethodPost, r.api+"/oauth/"+endpoint, "application/x-www-form-urlencoded", form.Encode())
	req.SetBasicAuth(syncID, syncSecret)
	return do(r.t, http.DefaultClient, req)
}

func (r *harness) authorizeURL(scope, verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return r.app + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {syncID}, "redirect_uri": {syncCallback}, "scope": {scope}, "state": {"a b&c"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
}

// connect goes through the consent page and returns the tokens.
func (r *harness) connect(b *http.Client, businessID, scope string) map[string]any {
	r.t.Helper()
	verifier := strings.Repeat("v", 50)
	page := get(r.t, b, r.authorizeURL(scope, verifier)).want(r.t, http.StatusOK)
	form := page.form()
	form.Set("business_id", businessID)
	form.Set("decision", "allow")
	a := post(r.t, b, r.app+"/oauth/authorize", form).want(r.t, http.StatusSeeOther)
	back, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back.String(), syncCallback+"?") || back.Query().Get("state") != "a b&c" {
		r.t.Fatalf("Location %q: %v", a.Header.Get("Location"), err)
	}
	return r.oauth("token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {syncCallback}, "code_verifier": {verifier},
	}).want(r.t, http.StatusOK).json(r.t)
}

// The whole code flow from outside, sign-in included: AZ-01, AZ-10, AZ-13, TOK-02, REF-01.
func TestCodeFlow(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	authorize := r.authorizeURL("invoices:read profile:read", strings.Repeat("v", 50))
	a := get(t, b, authorize).want(t, http.StatusSeeOther)
	login := get(t, b, r.app+a.Header.Get("Location")).want(t, http.StatusOK)
	form := login.form()
	form.Set("email", "ada@example.com")
	form.Set("password", "demo-ada")
	a = post(t, b, r.app+"/login", form).want(t, http.StatusSeeOther)
	page := get(t, b, r.app+a.Header.Get("Location")).want(t, http.StatusOK)
	for _, want := range []string{"Ledgerlink Sync", "Moreau Bakery", "See your invoices"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the consent page lacks %q", want)
		}
	}
	tokens := r.connect(b, "biz_bakery", "invoices:read profile:read")
	if tokens["scope"] != "invoices:read profile:read" || tokens["expires_in"] != float64(3600) {
		t.Errorf("tokens %v", tokens)
	}
	active := r.oauth("introspect", url.Values{"token": {tokens["access_token"].(string)}}).want(t, http.StatusOK).json(t)
	if active["active"] != true || active["sub"] != "usr_ada" {
		t.Errorf("introspection %v", active)
	}
	r.dev("clock", `{"advanceSeconds": 3600}`).want(t, http.StatusOK)
	if gone := r.oauth("introspect", url.Values{"token": {tokens["access_token"].(string)}}).json(t); gone["active"] != false {
		t.Errorf("an hour later: %v", gone)
	}
	r.oauth("token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}).want(t, http.StatusOK)
}

// AZ-17: requests of users who are not signed in leave no row, however many there are.
func TestSignedOutRequestsAreNotStored_AZ17(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.db")
	r := start(t, "-db", path)
	authorize := r.authorizeURL("invoices:read", strings.Repeat("v", 50)) + "&pad=" + strings.Repeat("x", 4000)
	for range 200 {
		a := get(t, browser(t), authorize).want(t, http.StatusSeeOther)
		if to := a.Header.Get("Location"); !strings.HasPrefix(to, "/login?return_to=%2Foauth%2Fauthorize%3F") {
			t.Fatalf("to %q", to)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM partnerkit_authorization_request").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// AZ-17: a request of 8 KiB, the most that there may be, passes through sign-in, a wrong password
// included.
func TestLongestRequestPassesSignIn_AZ17(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	authorize, err := url.Parse(r.authorizeURL("invoices:read", strings.Repeat("v", 50)))
	if err != nil {
		t.Fatal(err)
	}
	authorize.RawQuery += "&pad=" + strings.Repeat("x", 8<<10-len("&pad=")-len(authorize.RawQuery))
	a := get(t, b, authorize.String()).want(t, http.StatusSeeOther)
	form := get(t, b, r.app+a.Header.Get("Location")).want(t, http.StatusOK).form()
	form = post(t, b, r.app+"/login", credentials("ada@example.com", "wrong", form.Get("return_to"))).want(t, http.StatusForbidden).form()
	a = post(t, b, r.app+"/login", credentials("ada@example.com", "demo-ada", form.Get("return_to"))).want(t, http.StatusSeeOther)
	if page := get(t, b, r.app+a.Header.Get("Location")).want(t, http.StatusOK); !strings.Contains(page.body, "Ledgerlink Sync") {
		t.Errorf("after sign-in: %.60s… %s", a.Header.Get("Location"), page.body)
	}
}

// AZ-12: who may connect apps is the role's, or what replaces it.
func TestPermissionToConnect(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.session("usr_cleo", "biz_bakery") // a member there, with apps.install at biz_cycles
	page := get(t, b, r.authorizeURL("invoices:read", "")).want(t, http.StatusOK)
	if strings.Contains(page.body, "biz_bakery") || !strings.Contains(page.body, "biz_cycles") {
		t.Errorf("businesses offered to a member:\n%s", page.body)
	}
	r.dev("permissions", `{"businessId": "biz_bakery", "userId": "usr_cleo", "permissions": ["apps.install"]}`).want(t, http.StatusOK)
	if page := get(t, b, r.authorizeURL("invoices:read", "")); !strings.Contains(page.body, "biz_bakery") {
		t.Errorf("with the permission:\n%s", page.body)
	}
	for _, business := range []string{"biz_bakery", "biz_cycles", "biz_papertrail_sandbox"} {
		r.dev("permissions", `{"businessId": "`+business+`", "userId": "usr_cleo", "permissions": []}`).want(t, http.StatusOK)
	}
	get(t, b, r.authorizeURL("invoices:read", "")).want(t, http.StatusForbidden)
}

// The whole device flow from outside: DEV-02, DEV-04, DEV-05.
func TestDeviceFlow(t *testing.T) {
	t.Parallel()
	r := start(t)
	device := r.oauth("device/authorize", url.Values{"scope": {"invoices:read"}}).want(t, http.StatusOK).json(t)
	poll := func() response {
		return r.oauth("token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device["device_code"].(string)}})
	}
	if a := poll().want(t, http.StatusBadRequest); a.json(t)["error"] != "authorization_pending" {
		t.Error(a.body)
	}
	b := r.session("usr_ben", "biz_cycles")
	page := get(t, b, device["verification_uri_complete"].(string)).want(t, http.StatusOK)
	form := page.form()
	if form.Get("business_id") == "" { // the form with the code, pre-filled
		form.Set("user_code", device["user_code"].(string))
		page = post(t, b, r.app+"/device", form).want(t, http.StatusOK)
		form = page.form()
	}
	if form.Get("business_id") != "biz_cycles" || !strings.Contains(page.body, "Okafor Cycles") {
		t.Errorf("the page is for %q:\n%s", form.Get("business_id"), page.body)
	}
	form.Set("decision", "allow")
	post(t, b, r.app+"/device", form).want(t, http.StatusOK)
	if tokens := poll().want(t, http.StatusOK).json(t); tokens["scope"] != "invoices:read" {
		t.Errorf("tokens %v", tokens)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	r := start(t)
	ada := r.session("usr_ada", "biz_bakery")
	for path, description := range map[string]string{"revoke-access": "revoked", "uninstall": ""} {
		tokens := r.connect(ada, "biz_bakery", "invoices:read")
		page := get(t, ada, r.app+"/settings/apps").want(t, http.StatusOK)
		for _, want := range []string{"Ledgerlink Sync", "See your invoices", ">Connected<", ">never<", "Revoke access", "Uninstall", "/embedded/ledgerlink-sync"} {
			if !strings.Contains(page.body, want) {
				t.Errorf("the page lacks %q:\n%s", want, page.body)
			}
		}
		r.call("GET", "/profile", tokens["access_token"].(string)).want(t, http.StatusForbidden) // it counts as a use
		if body := get(t, ada, r.app+"/settings/apps").want(t, http.StatusOK).body; strings.Contains(body, ">never<") {
			t.Errorf("it was used:\n%s", body)
		}
		member := r.session("usr_cleo", "biz_bakery")
		if body := get(t, member, r.app+"/settings/apps").want(t, http.StatusOK).body; strings.Contains(body, "Uninstall") {
			t.Errorf("a member sees buttons:\n%s", body)
		}
		button := url.Values{"client_id": {syncID}}
		post(t, member, r.app+"/settings/apps/"+path, button).want(t, http.StatusForbidden)
		refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}
		tokens = r.oauth("token", refresh).want(t, http.StatusOK).json(t)

		post(t, ada, r.app+"/settings/apps/"+path, button).want(t, http.StatusSeeOther)
		post(t, ada, r.app+"/settings/apps/"+path, button).want(t, http.StatusSeeOther) // twice does no harm
		post(t, ada, r.app+"/settings/apps/"+path, url.Values{"client_id": {"nobody"}}).want(t, http.StatusNotFound)
		refresh.Set("refresh_token", tokens["refresh_token"].(string))
		// INST-01, INST-03
		if a := r.oauth("token", refresh).want(t, http.StatusBadRequest).json(t); a["error"] != "invalid_grant" || a["error_description"] != nilIfEmpty(description) {
			t.Errorf("%s: %v", path, a)
		}
		if body := get(t, ada, r.app+"/settings/apps").body; strings.Contains(body, "Ledgerlink Sync") {
			t.Errorf("%s: still connected", path)
		}
	}
	// CON-07: one entry each, without the name of the person.
	log := r.console(r.session("usr_dev", ""), http.MethodGet, "apps/app_sync/audit", "").want(t, http.StatusOK).body
	for _, action := range []string{"access.revoked", "app.uninstalled"} {
		if strings.Count(log, action) != 1 || strings.Contains(log, "usr_ada") {
			t.Errorf("the audit log of %s: %s", action, log)
		}
	}
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// TX-07: the embedded page hands out tokens that can be exchanged once.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.session("usr_ada", "biz_bakery")
	get(t, b, r.app+"/embedded/"+syncID).want(t, http.StatusNotFound) // not installed
	post(t, b, r.app+"/embedded/"+syncID+"/session-token", nil).want(t, http.StatusBadRequest)
	r.connect(b, "biz_bakery", "invoices:read")

	page := get(t, b, r.app+"/embedded/"+syncID).want(t, http.StatusOK)
	policy := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-src http://localhost:9090") || !strings.Contains(policy, "script-src 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	get(t, b, r.app+"/assets/embedded.js").want(t, http.StatusOK)
	if !strings.Contains(page.body, `src="/assets/embedded.js"`) || !strings.Contains(page.body, `src="http://localhost:9090/embedded"`) || !strings.Contains(page.body, `data-origin="http://localhost:9090"`) {
		t.Error(page.body)
	}
	if strings.Index(page.body, "/assets/embedded.js") > strings.Index(page.body, "<iframe") {
		t.Error("the frame may load before the script listens, and the app gets no token")
	}
	create := request(t, http.MethodPost, r.app+"/embedded/"+syncID+"/session-token", "application/json", "{}")
	create.Header.Set("Origin", "https://evil.example")
	do(t, b, create).want(t, http.StatusForbidden)
	post(t, browser(t), r.app+"/embedded/"+syncID+"/session-token", nil).want(t, http.StatusUnauthorized)
	token := post(t, b, r.app+"/embedded/"+syncID+"/session-token", nil).want(t, http.StatusOK).json(t)["sessionToken"].(string)
	exchange := func(token string) response {
		return r.oauth("token", url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "subject_token": {token},
			"subject_token_type": {"urn:ietf:params:oauth:token-type:jwt"},
		})
	}
	exchange(token).want(t, http.StatusOK)
	exchange(token).want(t, http.StatusBadRequest) // TX-04
	dev := r.dev("session-tokens", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "userId": "usr_ada"}`).want(t, http.StatusOK)
	exchange(dev.json(t)["sessionToken"].(string)).want(t, http.StatusOK)

	// CON-05: nothing but an origin gets into the policy, and none of our own.
	developer := r.session("usr_dev", "")
	r.console(developer, http.MethodPatch, "apps/app_sync", `{"appUrl": "https://a;script-src.example/"}`).want(t, http.StatusBadRequest)
	r.console(developer, http.MethodPatch, "apps/app_sync", `{"appUrl": "https://new.example/"}`).want(t, http.StatusOK)
	if page := get(t, b, r.app+"/embedded/"+syncID).want(t, http.StatusOK); !strings.Contains(page.body, `src="http://localhost:9090/embedded"`) {
		t.Errorf("AZ-16: not the App URL that was reviewed: %s", page.body)
	}
	for _, own := range []string{r.app, strings.Replace(r.app, "localhost", "LOCALHOST", 1), r.api} {
		r.console(developer, http.MethodPatch, "apps/app_sync", fmt.Sprintf(`{"appUrl": "%s/x"}`, own)).want(t, http.StatusOK)
		r.dev("apps/"+syncID+"/reviewed", `{"reviewed": true}`).want(t, http.StatusOK)
		get(t, b, r.app+"/embedded/"+syncID).want(t, http.StatusForbidden)
	}
}

// The calls of /dev on an installation do what the business would do.
func TestDevInstallations(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.session("usr_ada", "biz_bakery")
	for _, test := range []struct{ call, body, code, description string }{
		{"installations/uninstall", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`, "invalid_grant", ""},
		{"installations/revoke-access", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery"}`, "invalid_grant", "revoked"},
		{"consents/revoke", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "userId": "usr_ada"}`, "invalid_grant", ""},
		{"users/usr_ada/status", `{"status": "SUSPENDED"}`, "access_denied", "the person who connected this app may not use it now"}, // TOK-12
	} {
		tokens := r.connect(b, "biz_bakery", "invoices:read profile:read")
		r.dev(test.call, test.body).want(t, http.StatusOK)
		a := r.oauth("token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}).want(t, http.StatusBadRequest).json(t)
		if a["error"] != test.code || a["error_description"] != nilIfEmpty(test.description) {
			t.Errorf("%s: %v", test.call, a)
		}
	}
	r.dev("users/usr_ada/status", `{"status": "ACTIVE"}`).want(t, http.StatusOK)
	tokens := r.connect(b, "biz_bakery", "invoices:read profile:read")
	r.dev("installations/scopes", `{"clientId": "ledgerlink-sync", "businessId": "biz_bakery", "scopes": ["profile:read"]}`).want(t, http.StatusOK)
	if a := r.oauth("token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens["refresh_token"].(string)}}).want(t, http.StatusOK).json(t); a["scope"] != "profile:read" {
		t.Errorf("after narrowing: %v", a) // TOK-10
	}
	r.dev("apps/ledgerlink-sync/status", `{"status": "SUSPENDED"}`).want(t, http.StatusOK)
	if page := get(t, b, r.authorizeURL("profile:read", "")).want(t, http.StatusBadRequest); !strings.Contains(page.body, "Invalid client_id") {
		t.Error(page.body) // APP-01
	}
}

// REG-05, AZ-11: in development mode a client can register without credentials. Its app
// belongs to the first organization of the fixtures and connects in its sandbox.
func TestAnonymousRegistration(t *testing.T) {
	t.Parallel()
	r := start(t)
	register := func(host string) response {
		return do(t, http.DefaultClient, request(t, http.MethodPost, host+"/oauth/register", "application/json",
			`{"client_name": "Mine", "redirect_uris": ["`+syncCallback+`"], "token_endpoint_auth_method": "none", "scope": "profile:read"}`))
	}
	client := register(r.api).want(t, http.StatusCreated).json(t)
	authorize := strings.Replace(r.authorizeURL("profile:read", "v"), "client_id="+syncID, "client_id="+client["client_id"].(string), 1)
	page := get(t, r.session("usr_ada", "biz_bakery"), authorize).want(t, http.StatusOK)
	if !strings.Contains(page.body, "biz_ledgerlink_sandbox") || strings.Contains(page.body, "biz_bakery") {
		t.Errorf("offered:\n%s", page.body)
	}
	register(start(t, "-dev=false", "-key", developmentKey).api).want(t, http.StatusUnauthorized)
}
