package partnerkit_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestCustomConnectionsAreOff_IT04(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t, func(c *partnerkit.Config) { c.OAuth.CustomConnections = false })
	unknown := s.patch(`{"customBusinessIx": "biz"}`).Want(http.StatusBadRequest)
	refused := s.patch(`{"customBusinessId": "biz"}`).Want(http.StatusBadRequest)
	if got := strings.ReplaceAll(string(refused.Body), "customBusinessId", "customBusinessIx"); got != string(unknown.Body) {
		t.Errorf("%s, want it as for a member that does not exist: %s", got, unknown.Body)
	}
	if got := s.patch(`{"name": "Other"}`).Want(http.StatusOK); strings.Contains(string(got.Body), "customBusiness") {
		t.Errorf("%s", got.Body)
	}
	if got := s.token().Want(http.StatusBadRequest).Text("error"); got != "unsupported_grant_type" {
		t.Errorf("the token endpoint: %s", got)
	}
	if page := s.open(s.Browser(partnertest.User, partnertest.Business)); page.status != http.StatusNotFound {
		t.Errorf("the page: %d", page.status)
	}
	if strings.Contains(string(s.metadata().Body), "client_credentials") {
		t.Error("the metadata lists client_credentials")
	}
	business := "biz"
	if _, err := s.OAuth().UpdateApp(t.Context(), s.app.App.ID, oauthserver.AppChange{CustomBusinessID: &business}); err == nil {
		t.Error("the library call names a business")
	}
}

func TestNameCustomBusiness_IT01(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t)
	if got := s.patch(`{}`).Want(http.StatusOK); !strings.Contains(string(got.Body), `"customBusinessId":null`) {
		t.Errorf("none is named: %s", got.Body)
	}
	for _, businessID := range []string{"biz_absent", partnertest.Business, "any id · at all"} {
		if got := s.patch(`{"customBusinessId": "` + businessID + `"}`).Want(http.StatusOK).Text("customBusinessId"); got != businessID {
			t.Errorf("%q came back as %q", businessID, got)
		}
	}
	for body, want := range map[string]string{
		`{"customBusinessId": ""}`:                                   "must not be empty",
		`{"customBusinessId": 5}`:                                    "must be a string",
		`{"customBusinessId": "` + strings.Repeat("x", 256) + `"}`:   "at most 255 bytes",
		`{"customBusinessId": "biz_1", "type": "PUBLIC"}`:            "type cannot be changed",
		`{"customBusinessId": "biz_1", "version": null, "name": ""}`: "version must not be null",
	} {
		if got := s.patch(body).Want(http.StatusBadRequest); !strings.Contains(string(got.Body), want) {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	t.Run("CON-13_version", func(t *testing.T) {
		before := s.patch(`{}`).Want(http.StatusOK).JSON()["version"].(float64)
		s.patch(`{"customBusinessId": "biz_1", "version": 1}`).WantCode(http.StatusConflict, codes.Conflict.Code)
		if after := s.patch(`{"customBusinessId": "biz_1", "name": "Renamed"}`).Want(http.StatusOK).JSON(); after["version"] != before+1 || after["name"] != "Renamed" || after["customBusinessId"] != "biz_1" {
			t.Errorf("one change from version %v: %v", before, after)
		}
	})
	t.Run("PUBLIC", func(t *testing.T) {
		public, err := s.OAuth().CreateApp(t.Context(), oauthserver.NewApp{Name: "Mobile", Type: partner.Public, OrganizationID: "org_maker", RedirectURIs: []string{"https://partner.example/cb"}, Scopes: identity.MustScopes("invoices:read")})
		if err != nil {
			t.Fatal(err)
		}
		other := *s
		other.app = public
		if got := other.patch(`{"customBusinessId": "biz_1"}`).Want(http.StatusBadRequest); !strings.Contains(string(got.Body), "CONFIDENTIAL") {
			t.Errorf("%s", got.Body)
		}
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {public.App.ClientID}}
		if got := s.tokenWith(form).Want(http.StatusUnauthorized).Text("error"); got != "invalid_client" {
			t.Errorf("IT-02: %s", got)
		}
	})
	t.Run("another while one has approved", func(t *testing.T) {
		s.name(partnertest.Business)
		s.wantIssued(false)
		s.approve()
		s.patch(`{"customBusinessId": "biz_other", "name": "Not saved"}`).WantCode(http.StatusConflict, codes.ConnectionExists.Code)
		if got := s.patch(`{}`).JSON(); got["customBusinessId"] != partnertest.Business || got["name"] == "Not saved" {
			t.Errorf("%v", got)
		}
		s.wantIssued(true)
		s.name(partnertest.Business) // no change
		s.wantIssued(true)
	})
	t.Run("null ends the connection", func(t *testing.T) {
		token := s.token().Text("access_token")
		s.call(token).Want(http.StatusOK)
		s.patch(`{"customBusinessId": null}`).Want(http.StatusOK)
		if got := s.call(token).Want(http.StatusUnauthorized); !strings.Contains(got.Header.Get("WWW-Authenticate"), "disconnected") {
			t.Errorf("%s", got.Header.Get("WWW-Authenticate"))
		}
		s.wantIssued(false)
		s.name("biz_other")
		ended, err := s.Store.Audit(t.Context(), audit.Query{AppID: s.app.App.ID, Action: audited.CustomConnectionEnded, Limit: 2})
		if err != nil || len(ended) != 1 || ended[0].UserID != developer || !ended[0].ByDeveloper || ended[0].Target != partnertest.Business {
			t.Errorf("audit: %+v, %v", ended, err)
		}
	})
}

func TestCustomConnectionPage_IT01(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t, func(c *partnerkit.Config) {
		c.Languages = locale.Languages{Offered: []string{"en", "de"}}
	})
	owner := s.Browser(partnertest.User, partnertest.Business)
	t.Run("shows nothing to a business that is not named", func(t *testing.T) {
		for _, businessID := range []string{"", "biz_other"} {
			if businessID != "" {
				s.name(businessID)
			}
			page := s.open(owner)
			if page.status != http.StatusForbidden || !strings.Contains(page.text(), "This app asks for no custom connection to a business of yours") || strings.Contains(page.body, "biz_other") {
				t.Errorf("%q is named: %d %s", businessID, page.status, page.text())
			}
		}
	})
	s.name(partnertest.Business)
	t.Run("says what will be", func(t *testing.T) {
		page := s.open(owner)
		text := page.text()
		for _, want := range []string{
			"Connect Ledger Sync?", "This service has not reviewed this app. It was made by org_maker.", "Ledger Sync will act for Corner Bakery itself, not for you",
			"See your invoices invoices:read", "Post journal entries journal:write", "Its calls will have these permissions, which are yours Post journal entries journal.post", "Corner Bakery",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in %s", want, text)
			}
		}
		if strings.Contains(page.body, "payments.delete") {
			t.Error("the page shows a permission that the approver does not have")
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
			if page.header.Get(name) != want {
				t.Errorf("AZ-14: %s is %q", name, page.header.Get(name))
			}
		}
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("AZ-14: %s", policy)
		}
		if form := page.form("allow"); page.status != http.StatusOK || form.Get("business_id") != partnertest.Business || form.Get("csrf_token") == "" || form.Get("request_id") == "" {
			t.Errorf("%d, %v", page.status, form)
		}
	})
	t.Run("in German", func(t *testing.T) {
		text := s.open(owner, "Accept-Language", "de").text()
		for _, want := range []string{"Dieser Dienst hat die App nicht geprüft. Sie stammt von org_maker.", "handelt für Corner Bakery selbst", "Buchungen erfassen journal.post"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in %s", want, text)
			}
		}
	})
	t.Run("refuses", func(t *testing.T) {
		s.Host.AddBusiness("usr_clerk", oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery"})
		if page := s.open(s.Browser("usr_clerk", partnertest.Business)); page.status != http.StatusForbidden || !strings.Contains(page.text(), "You do not have permission to connect apps to this business") {
			t.Errorf("AZ-12: %d %s", page.status, page.text())
		}
		for _, query := range []string{"", "client_id=client_absent", "client_id="} {
			if page := s.do(owner, http.MethodGet, s.AppURL+"/connections/new?"+query, nil); page.status != http.StatusBadRequest || !strings.Contains(page.text(), "Invalid client_id") {
				t.Errorf("%q: %d %s", query, page.status, page.text())
			}
		}
		twice := "client_id=" + s.app.App.ClientID
		if page := s.do(owner, http.MethodGet, s.AppURL+"/connections/new?"+twice+"&"+twice, nil); page.status != http.StatusBadRequest {
			t.Errorf("AZ-15: %d %s", page.status, page.text())
		}
	})
	t.Run("asks to sign in first", func(t *testing.T) {
		page := s.open(http.DefaultClient)
		if page.url.Path != "/login" || page.url.Query().Get("return_to") != "/connections/new?client_id="+s.app.App.ClientID {
			t.Errorf("led to %s", page.url)
		}
	})
	t.Run("shows a reviewed app as one", func(t *testing.T) {
		if err := s.OAuth().SetReviewed(t.Context(), s.app.App.ID, true); err != nil {
			t.Fatal(err)
		}
		if text := s.open(owner).text(); strings.Contains(text, "has not reviewed") || !strings.Contains(text, "The app was made by org_maker") {
			t.Error(text)
		}
		s.patch(`{"scopes": ["invoices:read", "customers:read"]}`).Want(http.StatusOK)
		if text := s.open(owner).text(); !strings.Contains(text, "has not reviewed") {
			t.Errorf("a scope is new since the review: %s", text)
		}
	})
}

func TestCustomConnectionDecision_IT01(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t)
	s.name(partnertest.Business)
	owner := s.Browser(partnertest.User, partnertest.Business)
	wantNothing := func(t *testing.T) {
		t.Helper()
		s.wantIssued(false)
		if found, err := s.Store.Installations(t.Context(), partner.InstallationQuery{AppID: s.app.App.ID}); err != nil || len(found) > 0 {
			t.Errorf("installations: %+v, %v", found, err)
		}
	}
	for name, change := range map[string]func(form url.Values){
		"another business": func(form url.Values) { form.Set("business_id", "biz_other") },
		"no business":      func(form url.Values) { form.Del("business_id") },
		"no token":         func(form url.Values) { form.Del("csrf_token") },
		"another token":    func(form url.Values) { form.Set("csrf_token", "x") },
		"no request":       func(form url.Values) { form.Del("request_id") },
		"no decision":      func(form url.Values) { form.Del("decision") },
		"another decision": func(form url.Values) { form.Set("decision", "perhaps") },
		"a field twice":    func(form url.Values) { form.Add("decision", "allow") },
	} {
		t.Run("AZ-14 "+name, func(t *testing.T) {
			form := s.open(owner).form("allow")
			change(form)
			if page := s.decide(owner, form); page.status < 400 || page.status >= 500 {
				t.Errorf("%d %s", page.status, page.text())
			}
			wantNothing(t)
		})
	}
	t.Run("AZ-14 another browser", func(t *testing.T) {
		form := s.open(owner).form("allow")
		if page := s.decide(s.Browser(partnertest.User, partnertest.Business), form); page.status != http.StatusBadRequest {
			t.Errorf("%d %s", page.status, page.text())
		}
		wantNothing(t)
	})
	t.Run("AZ-14 another site", func(t *testing.T) {
		form := s.open(owner).form("allow")
		if page := s.do(owner, http.MethodPost, s.AppURL+"/connections/new", form, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); page.status != http.StatusForbidden {
			t.Errorf("%d %s", page.status, page.text())
		}
		wantNothing(t)
	})
	t.Run("AZ-09 too late", func(t *testing.T) {
		form := s.open(owner).form("allow")
		s.Advance(lifetimes.Request)
		if page := s.decide(owner, form); page.status != http.StatusBadRequest || !strings.Contains(page.text(), "authorization request not found or expired") {
			t.Errorf("%d %s", page.status, page.text())
		}
		wantNothing(t)
	})
	t.Run("the business is no longer named", func(t *testing.T) {
		form := s.open(owner).form("allow")
		s.name("biz_other")
		if page := s.decide(owner, form); page.status != http.StatusForbidden {
			t.Errorf("%d %s", page.status, page.text())
		}
		s.name(partnertest.Business)
		wantNothing(t)
	})
	t.Run("AZ-12 the role has changed", func(t *testing.T) {
		form := s.open(owner).form("allow")
		s.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery"})
		if page := s.decide(owner, form); page.status != http.StatusForbidden {
			t.Errorf("%d %s", page.status, page.text())
		}
		s.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery", MayConnect: true})
		wantNothing(t)
	})
	t.Run("a scope was removed", func(t *testing.T) {
		form := s.open(owner).form("allow")
		s.patch(`{"scopes": ["invoices:read"]}`).Want(http.StatusOK)
		if page := s.decide(owner, form); page.status != http.StatusBadRequest || !strings.Contains(page.text(), "Requested scopes not permitted for this client") {
			t.Errorf("%d %s", page.status, page.text())
		}
		s.patch(`{"scopes": ["invoices:read", "journal:write", "payments:write"]}`).Want(http.StatusOK)
		wantNothing(t)
	})
	t.Run("the request of one page is not one of the other", func(t *testing.T) {
		form := s.open(owner).form("allow")
		if page := s.do(owner, http.MethodPost, s.AppURL+"/oauth/authorize", form); page.status != http.StatusBadRequest {
			t.Errorf("%d %s", page.status, page.text())
		}
		wantNothing(t)
	})
	t.Run("the host fails", func(t *testing.T) {
		form := s.open(owner).form("allow")
		s.Host.SetError(errors.New("down"))
		if page := s.decide(owner, form); page.status != http.StatusInternalServerError {
			t.Errorf("%d %s", page.status, page.text())
		}
		s.Host.SetError(nil)
		wantNothing(t)
		if page := s.decide(owner, form); page.status != http.StatusOK {
			t.Errorf("nothing was lost, but: %d %s", page.status, page.text())
		}
		s.wantIssued(true)
		s.patch(`{"customBusinessId": null}`).Want(http.StatusOK)
		s.name(partnertest.Business)
	})
	t.Run("denied", func(t *testing.T) {
		form := s.open(owner).form("deny")
		if page := s.decide(owner, form); page.status != http.StatusOK || !strings.Contains(page.text(), "Ledger Sync was not connected.") {
			t.Errorf("%d %s", page.status, page.text())
		}
		wantNothing(t)
		form.Set("decision", "allow")
		if page := s.decide(owner, form); page.status != http.StatusBadRequest {
			t.Errorf("AZ-14 single use: %d %s", page.status, page.text())
		}
		wantNothing(t)
	})
	t.Run("allowed, once", func(t *testing.T) {
		form := s.open(owner).form("allow")
		if page := s.decide(owner, form); page.status != http.StatusOK || !strings.Contains(page.text(), "Ledger Sync is connected to Corner Bakery.") || strings.Contains(page.text(), "device") {
			t.Errorf("%d %s", page.status, page.text())
		}
		if page := s.decide(owner, form); page.status != http.StatusBadRequest {
			t.Errorf("AZ-14 single use: %d %s", page.status, page.text())
		}
		s.wantIssued(true)
		for action, want := range map[audit.Action]int{audited.CustomConnectionAllowed: 2, audited.CustomConnectionDenied: 1} {
			entries, err := s.Store.Audit(t.Context(), audit.Query{AppID: s.app.App.ID, Action: action, Limit: 9})
			if err != nil || len(entries) != want || entries[0].UserID != partnertest.User || entries[0].Target != partnertest.Business {
				t.Errorf("%s: %+v, %v", action, entries, err)
			}
		}
	})
}

// The page binds the decision to the permissions that it shows.
func TestCustomConnectionPermissions_IT01(t *testing.T) {
	t.Parallel()
	held := permissions{"journal.post": true}
	s := newCustomScene(t, func(c *partnerkit.Config) { c.Permissions = held })
	s.name(partnertest.Business)
	owner := s.Browser(partnertest.User, partnertest.Business)
	page := s.open(owner)
	held["payments.delete"] = true // promoted since
	if got := s.decide(owner, page.form("allow")); got.status != http.StatusBadRequest {
		t.Errorf("%d %s", got.status, got.text())
	}
	s.wantIssued(false)
	delete(held, "journal.post")
	s.approve()
	clear(held)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.APIURL+"/payments/1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token().Text("access_token"))
	partnertest.Send(t, http.DefaultClient, r).Want(http.StatusOK) // as decided, whatever the approver has now
	r.Method, r.URL.Path = http.MethodPost, "/journal"
	partnertest.Send(t, http.DefaultClient, r).WantCode(http.StatusForbidden, codes.PermissionRequired.Code)
}

func TestEndsOfCustomConnection_IT03(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t)
	s.name(partnertest.Business)
	owner := s.Browser(partnertest.User, partnertest.Business)
	connected := func() string {
		s.approve()
		token := s.token().Text("access_token")
		s.call(token).Want(http.StatusOK)
		return token
	}
	for _, path := range []string{"/settings/apps/revoke-access", "/settings/apps/uninstall"} {
		token := connected()
		if page := s.do(owner, http.MethodGet, s.AppURL+"/settings/apps", nil); !strings.Contains(page.text(), "Custom connection") || !strings.Contains(page.text(), "Permissions Post journal entries") {
			t.Errorf("connected apps: %s", page.text())
		}
		if page := s.do(owner, http.MethodPost, s.AppURL+path, url.Values{"client_id": {s.app.App.ClientID}}); page.status != http.StatusOK || strings.Contains(page.text(), "Ledger Sync") {
			t.Errorf("%s: %d %s", path, page.status, page.text())
		}
		s.call(token).Want(http.StatusUnauthorized)
		s.wantIssued(false)
	}
	token := connected()
	if err := s.OAuth().SetAppStatus(t.Context(), s.app.App.ID, partner.AppSuspended); err != nil {
		t.Fatal(err)
	}
	s.call(token).Want(http.StatusUnauthorized)
	s.token().Want(http.StatusUnauthorized)
	if err := s.OAuth().SetAppStatus(t.Context(), s.app.App.ID, partner.AppActive); err != nil {
		t.Fatal(err)
	}
	s.call(token).Want(http.StatusOK)
	s.Advance(time.Hour)
	s.call(token).Want(http.StatusUnauthorized)
}

func TestInstallationTokens_IT02(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t)
	if !strings.Contains(string(s.metadata().Body), `"client_credentials"`) {
		t.Errorf("IT-04: %s", s.metadata().Body)
	}
	s.name(partnertest.Business)
	s.approve()
	issued := s.token().Want(http.StatusOK)
	members := issued.JSON()
	if len(members) != 4 || members["token_type"] != "Bearer" || members["expires_in"] != 3600.0 || members["scope"] != "invoices:read journal:write payments:write" {
		t.Errorf("TOK-02: %s", issued.Body)
	}
	if issued.Header.Get("Cache-Control") != "no-store" || issued.Header.Get("Pragma") != "no-cache" {
		t.Errorf("TOK-02: %v", issued.Header)
	}
	t.Run("IT-03 introspection", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.APIURL+"/oauth/introspect", strings.NewReader(url.Values{"token": {issued.Text("access_token")}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(s.app.App.ClientID, s.app.Secret)
		found, err := s.Store.Installations(t.Context(), partner.InstallationQuery{AppID: s.app.App.ID})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if got := partnertest.Send(t, http.DefaultClient, r).JSON(); got["active"] != true || got["sub"] != found[0].ID || got["client_id"] != s.app.App.ClientID {
			t.Errorf("%v", got)
		}
	})
	t.Run("no business identifier is sent", func(t *testing.T) {
		if strings.Contains(string(issued.Body), partnertest.Business) {
			t.Errorf("%s", issued.Body)
		}
	})
	t.Run("malformed scope", func(t *testing.T) {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.app.App.ClientID}, "client_secret": {s.app.Secret}, "scope": {"a\"b"}}
		if got := s.tokenWith(form).Want(http.StatusBadRequest).Text("error"); got != "invalid_scope" {
			t.Error(got)
		}
	})
	t.Run("IT-04 lockout", func(t *testing.T) {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.app.App.ClientID}, "client_secret": {"wrong"}}
		for range 31 {
			s.tokenWith(form).Want(http.StatusUnauthorized)
		}
		s.token().Want(http.StatusTooManyRequests)
		s.Advance(time.Minute)
		s.token().Want(http.StatusOK)
	})
	t.Run("turned off again", func(t *testing.T) {
		cfg := config(t)
		cfg.Store, cfg.Clock = s.Store, s.Clock
		if _, err := platform(t, cfg).OAuth().VerifyAccessToken(t.Context(), s.token().Text("access_token")); !errors.Is(err, identity.ErrInvalidToken) {
			t.Errorf("%v", err)
		}
	})
}

// The settings of the app in the console name the business, and show the page to send it to.
func TestCustomConnectionSettings_IT01(t *testing.T) {
	t.Parallel()
	s := newCustomScene(t)
	at := s.AppURL + "/developer/apps/" + s.app.App.ID + "/settings"
	save := func(businessID string) connectionPage {
		t.Helper()
		form := s.do(s.developer, http.MethodGet, at, nil).form("")
		form.Del("decision")
		form["scopes"] = s.app.App.Scopes.Names()
		form.Set("name", "Ledger Sync")
		form.Set("redirect_uris", "https://partner.example/cb")
		form.Set("custom_business", businessID)
		return s.do(s.developer, http.MethodPost, at, form)
	}
	if page := s.do(s.developer, http.MethodGet, at, nil); !strings.Contains(page.body, `name="custom_business" class="mono" value=""`) || strings.Contains(page.body, "/connections/new") {
		t.Errorf("%d %s", page.status, page.text())
	}
	if page := save(partnertest.Business); page.status != http.StatusOK || !strings.Contains(page.body, s.AppURL+"/connections/new?client_id="+s.app.App.ClientID) {
		t.Errorf("%d %s", page.status, page.text())
	}
	s.approve()
	if page := save("biz_other"); page.status != http.StatusConflict || !strings.Contains(page.text(), "has approved a custom connection") || !strings.Contains(page.body, `value="biz_other"`) {
		t.Errorf("%d %s", page.status, page.text())
	}
	s.wantIssued(true)
	if page := save(""); page.status != http.StatusOK {
		t.Errorf("%d %s", page.status, page.text())
	}
	s.wantIssued(false)
	off := newCustomScene(t, func(c *partnerkit.Config) { c.OAuth.CustomConnections = false })
	if page := off.do(off.developer, http.MethodGet, off.AppURL+"/developer/apps/"+off.app.App.ID+"/settings", nil); page.status != http.StatusOK || strings.Contains(page.body, "custom_business") {
		t.Errorf("without the option: %d %s", page.status, page.text())
	}
}
