package partnerkit_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// permissions are those of everybody.
type permissions map[guard.Permission]bool

func (p permissions) HasPermission(_ context.Context, _, _ string, permission guard.Permission) (bool, error) {
	return p[permission], nil
}

// customScene is an app of developers and a business that has nothing to do with them.
type customScene struct {
	*partnertest.Harness
	t         testing.TB
	app       oauthserver.CreatedApp
	developer *http.Client
	calls     []identity.Principal
}

const developer = "usr_dev"

// newCustomScene creates an unreviewed app that names no business yet.
func newCustomScene(t testing.TB, edits ...func(*partnerkit.Config)) *customScene {
	t.Helper()
	s := &customScene{t: t}
	s.Harness = partnertest.New(t, append([]func(*partnerkit.Config){withCustom(&s.calls)}, edits...)...)
	s.Host.AddOrganization(developer, console.Organization{ID: "org_maker", Name: "Maker Works"})
	s.developer = s.Browser(developer, "")
	var err error
	s.app, err = s.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Ledger Sync", Type: partner.Confidential, OrganizationID: "org_maker", RedirectURIs: []string{"https://partner.example/cb"},
		Scopes: identity.MustScopes("invoices:read", "journal:write", "payments:write"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patch changes the app in the console.
func (s *customScene) patch(body string) *partnertest.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPatch, s.APIURL+"/developer/apps/"+s.app.App.ID, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return partnertest.Send(s.t, s.developer, r)
}

func (s *customScene) name(businessID string) {
	s.t.Helper()
	s.patch(`{"customBusinessId": "` + businessID + `"}`).Want(http.StatusOK)
}

// connectionPage is a page of the app host, as a browser has it.
type connectionPage struct {
	status int
	header http.Header
	body   string
	url    *url.URL
}

// text returns the text of the page without its elements.
func (p connectionPage) text() string {
	_, main, _ := strings.Cut(p.body, "<main")
	main = regexp.MustCompile(`</?(strong|code)>`).ReplaceAllString("<main"+main, "")
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(main, " "))), " ")
}

// form returns the hidden fields of the decision.
func (p connectionPage) form(decision string) url.Values {
	form := url.Values{"decision": {decision}}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`).FindAllStringSubmatch(p.body, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return form
}

func (s *customScene) do(browser *http.Client, method, address string, form url.Values, header ...string) connectionPage {
	s.t.Helper()
	var body io.Reader = http.NoBody
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", s.AppURL)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return connectionPage{response.StatusCode, response.Header, string(text), response.Request.URL}
}

func (s *customScene) open(browser *http.Client, header ...string) connectionPage {
	s.t.Helper()
	return s.do(browser, http.MethodGet, s.AppURL+"/connections/new?client_id="+s.app.App.ClientID, nil, header...)
}

func (s *customScene) decide(browser *http.Client, form url.Values) connectionPage {
	s.t.Helper()
	return s.do(browser, http.MethodPost, s.AppURL+"/connections/new", form)
}

// approve opens the page in the business and allows the connection.
func (s *customScene) approve() {
	s.t.Helper()
	browser := s.Browser(partnertest.User, partnertest.Business)
	if done := s.decide(browser, s.open(browser).form("allow")); done.status != http.StatusOK {
		s.t.Fatalf("approval: %d %s", done.status, done.text())
	}
}

// token asks for an installation token.
func (s *customScene) token() *partnertest.Response {
	s.t.Helper()
	return s.tokenWith(url.Values{"grant_type": {"client_credentials"}, "client_id": {s.app.App.ClientID}, "client_secret": {s.app.Secret}})
}

func (s *customScene) tokenWith(form url.Values) *partnertest.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.APIURL+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return partnertest.Send(s.t, http.DefaultClient, r)
}

// call makes a call with a token.
func (s *customScene) call(token string) *partnertest.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.APIURL+"/invoices", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return partnertest.Send(s.t, http.DefaultClient, r)
}

func (s *customScene) wantIssued(want bool) {
	s.t.Helper()
	got := s.token()
	switch {
	case want:
		got.Want(http.StatusOK)
	default:
		if error := got.Want(http.StatusBadRequest).Text("error"); error != "invalid_grant" || got.JSON()["error_description"] != nil {
			s.t.Errorf("%s", got.Body)
		}
	}
}

func (s *customScene) metadata() *partnertest.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.APIURL+"/.well-known/oauth-authorization-server", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	return partnertest.Send(s.t, http.DefaultClient, r).Want(http.StatusOK)
}
