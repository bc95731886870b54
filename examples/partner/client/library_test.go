package client_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// shop is a backend with one business, whose owner is always signed in.
type shop struct{}

func (shop) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{ID: "ses_1", UserID: "usr_1", BusinessID: "biz_1"}, true, nil
}

func (shop) SignIn(http.ResponseWriter, *http.Request, string) {}

func (shop) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "biz_1", Name: "The shop", SandboxOf: "org_1", MayConnect: true}}, nil
}

func (shop) IsMember(context.Context, string, string) (bool, error) { return true, nil }

// forgiving is the library in a backend that gives a minute to repeat a refresh.
func forgiving(t *testing.T) (*partnerkit.Platform, *client.App, *wire) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	key, err := keyring.NewKey("", []byte(strings.Repeat("k", keyring.KeySize)))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(key)
	if err != nil {
		t.Fatal(err)
	}
	var platform *partnerkit.Platform
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { platform.API().ServeHTTP(w, r) }))
	t.Cleanup(api.Close)
	platform, err = partnerkit.New(t.Context(), partnerkit.Config{
		Store: store, Host: shop{}, Keyring: ring, Pages: pages.New(), APIURL: api.URL, AppURL: "https://app.example",
		OAuth: oauthserver.Config{RefreshRetry: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	scopes, err := identity.ParseScopes("profile:read")
	if err != nil {
		t.Fatal(err)
	}
	created, err := platform.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Type: oauthserver.Confidential, Name: "Sync", OrganizationID: "org_1", RedirectURIs: []string{"https://partner.example/callback"}, Scopes: scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	metadata, err := client.Discover(t.Context(), http.DefaultClient, api.URL)
	if err != nil {
		t.Fatal(err)
	}
	network := &wire{}
	return platform, &client.App{
		Metadata: metadata, ClientID: created.App.ClientID, ClientSecret: created.Secret,
		RedirectURL: "https://partner.example/callback", Scopes: scopes.Names(), HTTP: &http.Client{Transport: client.TokenRetry(network)},
	}, network
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// allow is the owner at the consent page.
func allow(t *testing.T, app http.Handler, authorizeURL string) url.Values {
	t.Helper()
	page := httptest.NewRecorder()
	app.ServeHTTP(page, httptest.NewRequest(http.MethodGet, authorizeURL, nil))
	form := url.Values{"business_id": {"biz_1"}, "decision": {"allow"}}
	for _, match := range hiddenField.FindAllStringSubmatch(page.Body.String(), -1) {
		form.Add(html.UnescapeString(match[1]), html.UnescapeString(match[2]))
	}
	decision := httptest.NewRequest(http.MethodPost, "https://app.example/oauth/authorize", strings.NewReader(form.Encode()))
	decision.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, cookie := range page.Result().Cookies() {
		decision.AddCookie(cookie)
	}
	answer := httptest.NewRecorder()
	app.ServeHTTP(answer, decision)
	back, err := url.Parse(answer.Header().Get("Location"))
	if err != nil || answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return back.Query()
}
