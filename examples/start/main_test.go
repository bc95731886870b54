package main

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/storage/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The verifier and challenge of docs/get-started.md.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

var hidden = regexp.MustCompile(`name="([^"]+)" value="([^"]*)"`)

// The steps of docs/get-started.md: approve the app, redeem the code, call the API.
func TestGetStarted(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	platform, app, err := open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	redirect := app.RedirectURIs[0]
	query := url.Values{
		"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {redirect}, "scope": {"invoices:read"},
		"state": {"xyz"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
	page := send(platform.App(), httptest.NewRequest(http.MethodGet, "http://localhost:8091/oauth/authorize?"+query.Encode(), nil))
	for page.Code == http.StatusSeeOther {
		next := httptest.NewRequest(http.MethodGet, "http://localhost:8091"+strings.TrimPrefix(page.Header().Get("Location"), "http://localhost:8091"), nil)
		addCookies(next, page)
		shown := send(platform.App(), next)
		for _, c := range page.Result().Cookies() {
			http.SetCookie(shown, c)
		}
		page = shown
	}
	form := url.Values{"decision": {"allow"}, "business_id": {"bakery"}}
	for _, input := range hidden.FindAllStringSubmatch(page.Body.String(), -1) {
		if input[1] != "decision" && input[1] != "business_id" {
			form.Set(input[1], html.UnescapeString(input[2]))
		}
	}
	decide := post("http://localhost:8091/oauth/authorize", form)
	decide.Header.Set("Origin", "http://localhost:8091")
	addCookies(decide, page)
	decided := send(platform.App(), decide)
	to, err := url.Parse(decided.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" || to.Query().Get("state") != "xyz" {
		t.Fatalf("%d to %q, %v; page %d: %s", decided.Code, to, err, page.Code, page.Body)
	}

	response := send(platform.API(), post("http://localhost:8090/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {app.ClientID}, "redirect_uri": {redirect},
		"code": {to.Query().Get("code")}, "code_verifier": {verifier},
	}))
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(response.Body.Bytes(), &tokens); err != nil {
		t.Fatalf("%v: %s", err, response.Body)
	}
	call := httptest.NewRequest(http.MethodGet, "http://localhost:8090/invoices", nil)
	call.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	if got := send(platform.API(), call); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"invoicesOf":"bakery"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func send(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func post(address string, form url.Values) *http.Request {
	r := httptest.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func addCookies(r *http.Request, from *httptest.ResponseRecorder) {
	for _, c := range from.Result().Cookies() {
		r.AddCookie(c)
	}
}
