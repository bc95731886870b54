package partnertest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// redirectURI is the redirect URI of the apps of a harness. Nothing is sent there.
const redirectURI = "https://partner.example/callback"

// ConnectOptions describes what [Harness.Connect] connects. The zero value is a new
// confidential app with every scope that apps may request, connected by [User] to
// [Business].
type ConnectOptions struct {
	// App is connected once more, for example to another business; nil means a new app.
	App *App
	// Type of a new app; empty means partner.Confidential.
	Type partner.ClientType
	// Name of a new app; empty means "Test app".
	Name string
	// Scopes that the app asks for; none means all scopes of App, or of the catalog.
	Scopes []string
	// UserID is the user who consents; empty means [User].
	UserID string
	// BusinessID is the business that the app is connected to; empty means the first one
	// that the consent page offers.
	BusinessID string
}

// App is an app that is connected to a business.
type App struct {
	ID, ClientID, ClientSecret string // a public app has no secret
	RedirectURI                string
	Scopes                     []string
	UserID, BusinessID         string // the user who consented, and where
	// AccessToken and RefreshToken are the current tokens; see [App.Refresh]. A custom
	// connection has no refresh token; see [App.Renew].
	AccessToken, RefreshToken string
	// Client sends the access token with every request to the API host. Its requests
	// need whole URLs; see [App.URL].
	Client *http.Client

	h *Harness
}

// Connect connects an app to a business, by the authorization code flow: the user sees
// the consent page and allows the app, and the app redeems the code. The app has
// completed review.
func (h *Harness) Connect(o ConnectOptions) *App {
	h.t.Helper()
	app := &App{h: h, RedirectURI: redirectURI, Scopes: o.Scopes, UserID: cmp.Or(o.UserID, User)}
	if o.App == nil {
		h.createApp(app, o)
		if err := h.OAuth().SetReviewed(h.t.Context(), app.ID, true); err != nil {
			h.t.Fatalf("partnertest: review the app: %v", err)
		}
	} else {
		app.ID, app.ClientID, app.ClientSecret = o.App.ID, o.App.ClientID, o.App.ClientSecret
		if len(app.Scopes) == 0 {
			app.Scopes = o.App.Scopes
		}
	}
	verifier := rand.Text() + rand.Text()
	challenge := sha256.Sum256([]byte(verifier))
	back := h.Approve(h.AppURL+"/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {redirectURI}, "scope": {strings.Join(app.Scopes, " ")},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}.Encode(), app.UserID, o.BusinessID)
	app.redeem(url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "redirect_uri": {redirectURI}, "code_verifier": {verifier},
	})
	caller, err := h.OAuth().VerifyAccessToken(h.t.Context(), app.AccessToken)
	if err != nil {
		h.t.Fatalf("partnertest: the new access token: %v", err)
	}
	app.BusinessID = caller.BusinessID
	app.Client = &http.Client{Transport: bearer{app}}
	return app
}

// ConnectCustom connects a confidential app to the business of o, or to [Business], by a custom
// connection: the app names the business, the user allows it on the page for that, and the app
// gets an installation token. A new app has not completed review. It needs
// Config.OAuth.CustomConnections.
func (h *Harness) ConnectCustom(o ConnectOptions) *App {
	h.t.Helper()
	app := &App{h: h, RedirectURI: redirectURI, UserID: cmp.Or(o.UserID, User), BusinessID: cmp.Or(o.BusinessID, Business)}
	if o.App == nil {
		h.createApp(app, o)
	} else {
		app.ID, app.ClientID, app.ClientSecret, app.Scopes = o.App.ID, o.App.ClientID, o.App.ClientSecret, o.App.Scopes
	}
	named, err := h.OAuth().UpdateApp(h.t.Context(), app.ID, oauthserver.AppChange{CustomBusinessID: &app.BusinessID})
	if err != nil {
		h.t.Fatalf("partnertest: name the business of the custom connection: %v", err)
	}
	page, decided := h.allow(h.OAuth().ConnectionPage(named), app.UserID, app.BusinessID)
	if decided.Status != http.StatusOK {
		page.fatal(h.t, "the custom connection was not approved", decided)
	}
	app.Renew()
	app.Client = &http.Client{Transport: bearer{app}}
	return app
}

// Renew replaces the access token of a custom connection by a new one. It must not run at the
// same time as requests of Client.
func (a *App) Renew() {
	a.h.t.Helper()
	a.redeem(url.Values{"grant_type": {"client_credentials"}})
}

func (h *Harness) createApp(app *App, o ConnectOptions) {
	h.t.Helper()
	scopes := h.OAuth().Scopes().Requestable()
	if len(o.Scopes) > 0 {
		var err error
		if scopes, err = identity.NewScopes(o.Scopes...); err != nil {
			h.t.Fatalf("partnertest: ConnectOptions.Scopes: %v", err)
		}
	}
	created, err := h.OAuth().CreateApp(h.t.Context(), oauthserver.NewApp{
		Name: cmp.Or(o.Name, "Test app"), Type: cmp.Or(o.Type, partner.Confidential), OrganizationID: Organization, RedirectURIs: []string{redirectURI}, Scopes: scopes,
	})
	if err != nil {
		h.t.Fatalf("partnertest: create the app: %v", err)
	}
	app.ID, app.ClientID, app.ClientSecret, app.Scopes = created.App.ID, created.App.ClientID, created.Secret, scopes.Names()
}

// redeem gets tokens at the token endpoint.
func (a *App) redeem(form url.Values) {
	a.h.t.Helper()
	var tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	a.Token(form).Want(http.StatusOK).Decode(&tokens)
	a.AccessToken, a.RefreshToken = tokens.Access, tokens.Refresh
}

// Token sends a form to the token endpoint as this app, and returns the response.
func (a *App) Token(form url.Values) *Response {
	a.h.t.Helper()
	if a.ClientSecret == "" {
		form.Set("client_id", a.ClientID)
	}
	r := httptest.NewRequestWithContext(a.h.t.Context(), http.MethodPost, a.h.APIURL+"/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if a.ClientSecret != "" {
		r.SetBasicAuth(url.QueryEscape(a.ClientID), url.QueryEscape(a.ClientSecret))
	}
	return Serve(a.h.t, a.h.API(), r)
}

// Refresh replaces the tokens by means of the refresh token. It must not run at the
// same time as requests of Client.
func (a *App) Refresh() {
	a.h.t.Helper()
	a.redeem(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {a.RefreshToken}})
}

// URL returns the URL of a path on the API host.
func (a *App) URL(path string) string { return a.h.APIURL + path }

// Get sends a GET request for a path on the API host.
func (a *App) Get(path string) *Response {
	a.h.t.Helper()
	return a.Do(http.MethodGet, path, nil)
}

// Do sends a request for a path on the API host. A body other than nil is sent as JSON;
// a json.RawMessage is sent as it is. Headers are names and values in turn.
func (a *App) Do(method, path string, body any, headers ...string) *Response {
	a.h.t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			a.h.t.Fatalf("partnertest: body of %s %s: %v", method, path, err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(a.h.t.Context(), method, a.URL(path), content)
	if err != nil {
		a.h.t.Fatalf("partnertest: %v", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return Send(a.h.t, a.Client, r)
}

// bearer adds the app's access token to requests to the API host, and to no others.
type bearer struct{ app *App }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if "http://"+r.URL.Host == b.app.h.APIURL {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.app.AccessToken)
	}
	return b.app.h.transport.RoundTrip(r)
}
