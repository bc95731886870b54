package oauthserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// What every API test has: two apps that can connect anywhere, a user and a
// business.
const (
	confidentialID = "cli_confidential"
	publicID       = "cli_public"
	apiSecret      = "a-secret_of-the-app"
	apiRedirect    = "https://app.example.com/callback"
	apiUser        = "usr_1"
	apiBusiness    = "biz_1"
	apiVerifier    = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	apiChallenge   = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	apiOrigin      = "https://api.example.com"
	appOrigin      = "https://app.example.net"
)

// apiHarness is a server on a real store, driven over its handler.
type apiHarness struct {
	*harness.Harness
	ip string // of the caller

	sessions int // session tokens made so far
}

func newAPIHarness(t testing.TB, changes ...func(*oauthserver.Config)) *apiHarness {
	t.Helper()
	return newAPIHarnessOn(t, testdb.SQLite, changes...)
}

func newAPIHarnessOn(t testing.TB, open testdb.Opener, changes ...func(*oauthserver.Config)) *apiHarness {
	t.Helper()
	k := &apiHarness{ip: "192.0.2.1", Harness: harness.New(t, open, append([]func(*oauthserver.Config){func(c *oauthserver.Config) {
		c.AppURL, c.SessionTokens = appOrigin, apiSessions{}.VerifySessionToken
	}}, changes...)...)}
	k.Host.AddBusiness(apiUser, oauthserver.Business{ID: apiBusiness})
	k.API = k.OAuth.APIHandler()
	k.addApp(confidentialID, partner.Confidential)
	k.addApp(publicID, partner.Public)
	return k
}

func apiScopes() identity.Scopes { return identity.MustScopes("invoices:read", "customers:read") }

// addApp adds an app of that type; a confidential one has the secret apiSecret.
func (k *apiHarness) addApp(clientID string, kind partner.ClientType) partner.App {
	k.Helper()
	app := fixture.App(k.Clock.Now(), apiScopes())
	app.ClientID, app.Type, app.Name, app.RedirectURIs, app.OrganizationID = clientID, kind, clientID, []string{apiRedirect}, ""
	var secrets []partner.ClientSecret
	if kind == partner.Confidential {
		valid, _ := fixture.Secret(app)
		valid.Digest, valid.Prefix = secret.DigestOf(apiSecret), "a-s"
		secrets = append(secrets, valid)
	}
	if err := fixture.AddApp(k.Context(), k.Store, app, secrets...); err != nil {
		k.Fatal(err)
	}
	return app
}

func (k *apiHarness) app(clientID string) partner.App {
	k.Helper()
	app, err := fixture.AppByClientID(k.Context(), k.Store, clientID)
	if err != nil {
		k.Fatal(err)
	}
	return app
}

// code is an authorization code that the user has just approved.
func (k *apiHarness) code(clientID, challenge string) string {
	k.Helper()
	app := k.app(clientID)
	app.RedirectURIs = []string{apiRedirect}
	_, code, err := fixture.Approve(k.Context(), k.Store, fixture.Consent{
		App: app, BusinessID: apiBusiness, UserID: apiUser, Scopes: apiScopes(), CodeChallenge: challenge, Now: k.Clock.Now(),
	})
	k.Must(err)
	return code
}

func (k *apiHarness) approval(requestID string) oauthstore.Decision {
	return fixture.Approval(requestID, fixture.Consent{BusinessID: apiBusiness, UserID: apiUser, Now: k.Clock.Now()})
}

// tokens are the response to a code, redeemed by its client.
func (k *apiHarness) tokens(clientID string) (access, refresh string) {
	k.Helper()
	got := k.redeem(clientID, k.code(clientID, apiChallenge))
	if got.Status != http.StatusOK {
		k.Fatalf("redeem: %d %v", got.Status, got.body)
	}
	return got.text("access_token"), got.text("refresh_token")
}

func (k *apiHarness) redeem(clientID, code string) apiResponse {
	k.Helper()
	return k.token(k.as(clientID), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect, "code_verifier", apiVerifier)
}

func (k *apiHarness) refresh(clientID, token string) apiResponse {
	k.Helper()
	return k.token(k.as(clientID), "grant_type", "refresh_token", "refresh_token", token)
}

// newDevice begins the device flow and returns its two codes.
func (k *apiHarness) newDevice(clientID string) (deviceCode, userCode string) {
	k.Helper()
	got := k.post("/oauth/device/authorize", k.as(clientID))
	if got.Status != http.StatusOK {
		k.Fatalf("device: %d %v", got.Status, got.body)
	}
	return got.text("device_code"), got.text("user_code")
}

func (k *apiHarness) approveDevice(userCode string) {
	k.Helper()
	device, err := k.Store.DeviceByUserCode(k.Context(), userCode)
	k.Must(err)
	approved, err := k.Store.DecideDevice(k.Context(), k.approval(device.ID))
	if err != nil || approved.Outcome != oauthstore.ApprovalDone {
		k.Fatalf("approve device: %v, %v", approved.Outcome, err)
	}
}

func (k *apiHarness) poll(clientID, deviceCode string) apiResponse {
	k.Helper()
	return k.token(k.as(clientID), "grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", deviceCode)
}

// apiRequest changes a request before it is sent.
type apiRequest func(*http.Request)

func withBasic(id, secret string) apiRequest {
	return func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) }
}

func withHeader(name, value string) apiRequest {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

// as authenticates one of the two apps in the usual way.
func (k *apiHarness) as(clientID string) apiRequest {
	if clientID == publicID {
		return withBasic(clientID, "")
	}
	return withBasic(clientID, apiSecret)
}

func (k *apiHarness) token(change apiRequest, pairs ...string) apiResponse {
	k.Helper()
	return k.post("/oauth/token", change, pairs...)
}

// post sends a form of name and value pairs.
func (k *apiHarness) post(path string, change apiRequest, pairs ...string) apiResponse {
	k.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return k.send(http.MethodPost, path, form.Encode(), withHeader("Content-Type", "application/x-www-form-urlencoded"), change)
}

func (k *apiHarness) postJSON(path, body string, changes ...apiRequest) apiResponse {
	k.Helper()
	return k.send(http.MethodPost, path, body, append([]apiRequest{withHeader("Content-Type", "application/json")}, changes...)...)
}

func (k *apiHarness) send(method, path, body string, changes ...apiRequest) apiResponse {
	k.Helper()
	return k.sendCtx(k.Context(), method, path, body, changes...)
}

func (k *apiHarness) sendCtx(ctx context.Context, method, path, body string, changes ...apiRequest) apiResponse {
	k.Helper()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.RemoteAddr = k.ip + ":1234"
	for _, change := range changes {
		if change != nil {
			change(r)
		}
	}
	got := apiResponse{TB: k.TB, Response: partnertest.Serve(k.TB, k.API, r)}
	if strings.HasPrefix(got.Body, "{") {
		got.body = got.JSON()
	}
	return got
}

// apiResponse is what came back.
type apiResponse struct {
	testing.TB
	*partnertest.Response
	body map[string]any // when it is JSON
}

func (a apiResponse) text(name string) string {
	text, _ := a.body[name].(string)
	return text
}

func (a apiResponse) keys() string {
	names := make([]string, 0, len(a.body))
	for name := range a.body {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// ok wants a 200 with exactly these members.
func (a apiResponse) ok(members string) apiResponse {
	a.Helper()
	if a.Status != http.StatusOK || a.keys() != members {
		a.Fatalf("answer %d %s, want 200 with %q", a.Status, a.Body, members)
	}
	a.noStore()
	return a
}

func (a apiResponse) noStore() {
	a.Helper()
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Pragma") != "no-cache" || a.Header.Get("Content-Type") != "application/json" {
		a.Errorf("headers %v, want no-store, no-cache, application/json", a.Header)
	}
}

// refused wants an error in the OAuth shape, to the letter (OERR-01, OERR-02).
// The description * stands for any.
func (a apiResponse) refused(status int, code, description string) {
	a.Helper()
	want := map[string]any{"error": code, "message": code}
	if description == "*" {
		description = a.text("error_description")
	}
	if description != "" {
		want["error_description"], want["message"] = description, description
	}
	if diff := cmp.Diff(want, a.body); diff != "" || a.Status != status {
		a.Errorf("answer %d, want %d (-want +got):\n%s", a.Status, status, diff)
	}
	a.noStore()
	if challenge := a.Header.Get("WWW-Authenticate"); challenge != "" && status != http.StatusUnauthorized {
		a.Errorf("a %d with the challenge %q", status, challenge)
	}
}

// dead wants invalid_grant with that description.
func (a apiResponse) dead(description string) {
	a.Helper()
	a.refused(http.StatusBadRequest, "invalid_grant", description)
}

// isLive reports whether a call could be made with an access token.
func (k *apiHarness) isLive(access string) bool {
	k.Helper()
	_, err := k.OAuth.VerifyAccessToken(k.Context(), access)
	return err == nil
}
