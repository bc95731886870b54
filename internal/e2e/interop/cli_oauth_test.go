package interop_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cli/oauth"
	"github.com/cli/oauth/api"
	"github.com/cli/oauth/device"
	"github.com/cli/oauth/webapp"
)

// DEV-01, DEV-02, DEV-04: the library of GitHub's command line, as it is meant to be used
// by a public app. It waits for the interval before it asks the first time.
func TestCLIOAuth(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	p, err := s.person()
	if err != nil {
		t.Fatal(err)
	}
	flow := &oauth.Flow{
		Host: &oauth.Host{
			DeviceCodeURL: s.API + "/oauth/device/authorize",
			AuthorizeURL:  s.App + "/oauth/authorize",
			TokenURL:      s.API + "/oauth/token",
		},
		ClientID: "interop-cli",
		Scopes:   []string{"profile:read", "invoices:read"},
	}
	flow.DisplayCode = func(userCode, _ string) error { return p.allowDevice(userCode) }
	flow.BrowseURL = func(string) error { return nil }
	token, err := flow.DeviceFlow()
	if err != nil {
		t.Fatal(err)
	}
	if token.Type != "Bearer" || token.Scope != "profile:read invoices:read" || token.RefreshToken == "" {
		t.Errorf("type %s, scope %s", token.Type, token.Scope)
	}
	s.wantProfile(token.Token, http.StatusOK)

	// It has no call to refresh or revoke: forms of our own.
	renewed, err := api.PostForm(http.DefaultClient, s.API+"/oauth/token", url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {token.RefreshToken}, "client_id": {"interop-cli"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err = renewed.AccessToken(); err != nil {
		t.Fatal(err)
	}
	s.wantProfile(token.Token, http.StatusOK)
	if _, err := api.PostForm(http.DefaultClient, s.API+"/oauth/revoke", url.Values{"token": {token.RefreshToken}, "client_id": {"interop-cli"}}); err != nil {
		t.Fatal(err)
	}
	s.wantProfile(token.Token, http.StatusUnauthorized)
}

// DEV-01, DEV-04: a confidential app adds its secret to both requests. Without it the
// library takes our 401 for a service that has no device flow.
func TestCLIOAuthConfidential(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	p, err := s.person()
	if err != nil {
		t.Fatal(err)
	}
	endpoint := s.API + "/oauth/device/authorize"
	withSecret := func(v *url.Values) { v.Set("client_secret", "interop-secret") }
	if _, err := device.RequestCode(http.DefaultClient, endpoint, "interop-web", nil); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("without its secret: %v", err)
	}
	code, err := device.RequestCode(http.DefaultClient, endpoint, "interop-web", []string{"profile:read"}, withSecret)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.allowDevice(code.UserCode); err != nil {
		t.Fatal(err)
	}
	token, err := device.Wait(t.Context(), http.DefaultClient, s.API+"/oauth/token", device.WaitOptions{
		ClientID: "interop-web", ClientSecret: "interop-secret", DeviceCode: code,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wantProfile(token.Token, http.StatusOK)
}

// AZ-02: its flow for web apps is GitHub's own and leaves response_type and grant_type out.
func TestCLIOAuthWeb(t *testing.T) {
	t.Parallel()
	s := start(t, "")
	p, err := s.person()
	if err != nil {
		t.Fatal(err)
	}
	flow, err := webapp.InitFlow()
	if err != nil {
		t.Fatal(err)
	}
	address, err := flow.BrowserURL(s.App+"/oauth/authorize", webapp.BrowserParams{ClientID: "interop-web", RedirectURI: s.redirect, Scopes: []string{"profile:read"}})
	if err != nil {
		t.Fatal(err)
	}
	port := regexp.MustCompile(`127\.0\.0\.1%3A[0-9]+`) // it chooses its own
	address = port.ReplaceAllString(address, url.QueryEscape(strings.TrimPrefix(strings.TrimSuffix(s.redirect, "/callback"), "http://")))
	if _, err := p.allow(address); err == nil || !strings.Contains(err.Error(), "invalid_request: response_type") {
		t.Errorf("%v, which docs/clients.md does not say", err)
	}
}

// wantProfile calls the API.
func (s *server) wantProfile(accessToken string, want int) {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, s.API+"/profile", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+accessToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != want {
		s.t.Errorf("GET /profile: %s, want %d", res.Status, want)
	}
}
