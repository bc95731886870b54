package oauthserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
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

var apiStart = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// apiKit is a server on a real store, driven over its handler.
type apiKit struct {
	testing.TB
	store  *storetest.Env
	clock  *clock.Manual
	host   *apiHost
	server *oauthserver.Server
	api    http.Handler
	ip     string // of the caller

	sessions int // session tokens made so far
}

func newAPIKit(t testing.TB, changes ...func(*oauthserver.Config)) *apiKit {
	t.Helper()
	return newAPIKitOn(t, storetest.SQLite, changes...)
}

func newAPIKitOn(t testing.TB, open storetest.Opener, changes ...func(*oauthserver.Config)) *apiKit {
	t.Helper()
	key, err := keyring.NewKey("test", make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(key)
	if err != nil {
		t.Fatal(err)
	}
	k := &apiKit{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(apiStart), host: &apiHost{}, ip: "192.0.2.1"}
	cfg := oauthserver.Config{
		Store: k.store, Host: k.host, Keyring: ring, Pages: apiPages{}, Clock: k.clock,
		APIURL: apiOrigin, AppURL: appOrigin, SessionTokens: apiSessions{},
	}
	for _, change := range changes {
		change(&cfg)
	}
	if k.server, err = oauthserver.New(cfg); err != nil {
		t.Fatal(err)
	}
	k.api = k.server.APIHandler()
	k.addApp(confidentialID, oauthserver.Confidential)
	k.addApp(publicID, oauthserver.Public)
	return k
}

func apiScopes() identity.Scopes { return identity.MustScopes("invoices:read", "customers:read") }

// addApp adds an app of that type; a confidential one has the secret apiSecret.
func (k *apiKit) addApp(clientID string, kind oauthserver.ClientType) oauthserver.App {
	k.Helper()
	now := k.clock.Now()
	app := oauthserver.App{
		ID: id.New(id.App, now), ClientID: clientID, Type: kind, Status: oauthserver.AppActive, Origin: oauthserver.OriginConsole,
		Name: clientID, Reviewed: true, RedirectURIs: []string{apiRedirect}, Scopes: apiScopes(), CreatedAt: now,
	}
	var secrets []oauthserver.ClientSecret
	if kind == oauthserver.Confidential {
		secrets = append(secrets, oauthserver.ClientSecret{
			ID: id.New(id.Secret, now), AppID: app.ID, Digest: secret.DigestOf(apiSecret), Prefix: "a-s", CreatedAt: now,
		})
	}
	if err := k.store.CreateApp(k.Context(), app, secrets); err != nil {
		k.Fatal(err)
	}
	return app
}

func (k *apiKit) app(clientID string) oauthserver.App {
	k.Helper()
	app, err := k.store.AppByClientID(k.Context(), clientID)
	if err != nil {
		k.Fatal(err)
	}
	return app
}

func (k *apiKit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// code is an authorization code that the user has just approved.
func (k *apiKit) code(clientID, challenge string) string {
	k.Helper()
	now, code := k.clock.Now(), secret.New(secret.AuthorizationCode)
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: secret.DigestOf(code.Reveal() + "request"), AppID: k.app(clientID).ID,
		RedirectURI: apiRedirect, Scopes: apiScopes(), CodeChallenge: challenge, CreatedAt: now, ExpiresAt: now.Add(oauthserver.RequestLifetime),
	}
	k.must(k.store.HoldRequest(k.Context(), request))
	approved, err := k.store.ApproveRequest(k.Context(), k.approval(request.ID),
		oauthserver.NewCode{ID: id.New(id.Code, now), Digest: code.Digest(), ExpiresAt: now.Add(oauthserver.CodeLifetime)})
	if err != nil || approved.Outcome != oauthserver.ApprovalDone {
		k.Fatalf("approve: %v, %v", approved.Outcome, err)
	}
	return code.Reveal()
}

func (k *apiKit) approval(requestID string) oauthserver.Approval {
	now := k.clock.Now()
	return oauthserver.Approval{
		RequestID: requestID, UserID: apiUser, BusinessID: apiBusiness,
		InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	}
}

// tokens are the answer to a code, redeemed by its client.
func (k *apiKit) tokens(clientID string) (access, refresh string) {
	k.Helper()
	got := k.redeem(clientID, k.code(clientID, apiChallenge))
	if got.status != http.StatusOK {
		k.Fatalf("redeem: %d %v", got.status, got.body)
	}
	return got.text("access_token"), got.text("refresh_token")
}

func (k *apiKit) redeem(clientID, code string) apiAnswer {
	k.Helper()
	return k.token(k.as(clientID), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect, "code_verifier", apiVerifier)
}

func (k *apiKit) refresh(clientID, token string) apiAnswer {
	k.Helper()
	return k.token(k.as(clientID), "grant_type", "refresh_token", "refresh_token", token)
}

// newDevice begins the device flow and returns its two codes.
func (k *apiKit) newDevice(clientID string) (deviceCode, userCode string) {
	k.Helper()
	got := k.post("/oauth/device/authorize", k.as(clientID))
	if got.status != http.StatusOK {
		k.Fatalf("device: %d %v", got.status, got.body)
	}
	return got.text("device_code"), got.text("user_code")
}

func (k *apiKit) approveDevice(userCode string) {
	k.Helper()
	device, err := k.store.DeviceByUserCode(k.Context(), userCode)
	k.must(err)
	approved, err := k.store.ApproveDevice(k.Context(), k.approval(device.ID))
	if err != nil || approved.Outcome != oauthserver.ApprovalDone {
		k.Fatalf("approve device: %v, %v", approved.Outcome, err)
	}
}

func (k *apiKit) poll(clientID, deviceCode string) apiAnswer {
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
func (k *apiKit) as(clientID string) apiRequest {
	if clientID == publicID {
		return withBasic(clientID, "")
	}
	return withBasic(clientID, apiSecret)
}

func (k *apiKit) token(change apiRequest, pairs ...string) apiAnswer {
	k.Helper()
	return k.post("/oauth/token", change, pairs...)
}

// post sends a form of name and value pairs.
func (k *apiKit) post(path string, change apiRequest, pairs ...string) apiAnswer {
	k.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return k.send(http.MethodPost, path, form.Encode(), withHeader("Content-Type", "application/x-www-form-urlencoded"), change)
}

func (k *apiKit) postJSON(path, body string, changes ...apiRequest) apiAnswer {
	k.Helper()
	return k.send(http.MethodPost, path, body, append([]apiRequest{withHeader("Content-Type", "application/json")}, changes...)...)
}

func (k *apiKit) send(method, path, body string, changes ...apiRequest) apiAnswer {
	k.Helper()
	return k.sendCtx(k.Context(), method, path, body, changes...)
}

func (k *apiKit) sendCtx(ctx context.Context, method, path, body string, changes ...apiRequest) apiAnswer {
	k.Helper()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.RemoteAddr = k.ip + ":1234"
	for _, change := range changes {
		if change != nil {
			change(r)
		}
	}
	w := httptest.NewRecorder()
	k.api.ServeHTTP(w, r)
	got := apiAnswer{TB: k.TB, status: w.Code, header: w.Result().Header, raw: w.Body.String()}
	if strings.HasPrefix(got.raw, "{") {
		if err := json.Unmarshal(w.Body.Bytes(), &got.body); err != nil {
			k.Fatalf("%s %s: body %q: %v", method, path, got.raw, err)
		}
	}
	return got
}

// apiAnswer is what came back.
type apiAnswer struct {
	testing.TB
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a apiAnswer) text(name string) string {
	text, _ := a.body[name].(string)
	return text
}

func (a apiAnswer) keys() string {
	names := make([]string, 0, len(a.body))
	for name := range a.body {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// ok wants a 200 with exactly these members.
func (a apiAnswer) ok(members string) apiAnswer {
	a.Helper()
	if a.status != http.StatusOK || a.keys() != members {
		a.Fatalf("answer %d %s, want 200 with %q", a.status, a.raw, members)
	}
	a.noStore()
	return a
}

func (a apiAnswer) noStore() {
	a.Helper()
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Pragma") != "no-cache" || a.header.Get("Content-Type") != "application/json" {
		a.Errorf("headers %v, want no-store, no-cache, application/json", a.header)
	}
}

// refused wants an error in the OAuth shape, to the letter (OERR-01, OERR-02).
// The description * stands for any.
func (a apiAnswer) refused(status int, code, description string) {
	a.Helper()
	want := map[string]any{"error": code, "message": code}
	if description == "*" {
		description = a.text("error_description")
	}
	if description != "" {
		want["error_description"], want["message"] = description, description
	}
	if diff := cmp.Diff(want, a.body); diff != "" || a.status != status {
		a.Errorf("answer %d, want %d (-want +got):\n%s", a.status, status, diff)
	}
	a.noStore()
	if challenge := a.header.Get("WWW-Authenticate"); challenge != "" && status != http.StatusUnauthorized {
		a.Errorf("a %d with the challenge %q", status, challenge)
	}
}

// dead wants invalid_grant with that description.
func (a apiAnswer) dead(description string) {
	a.Helper()
	a.refused(http.StatusBadRequest, "invalid_grant", description)
}

// isLive reports whether a call could be made with an access token.
func (k *apiKit) isLive(access string) bool {
	k.Helper()
	_, err := k.server.VerifyAccessToken(k.Context(), access)
	return err == nil
}

// apiHost is a host in which everybody is a member, unless said otherwise.
type apiHost struct {
	mu    sync.Mutex
	left  map[string]bool
	fault error
}

func (h *apiHost) leave(userID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = map[string]bool{userID: true}
}

func (h *apiHost) IsMember(_ context.Context, _, userID string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.left[userID], h.fault
}

func (h *apiHost) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{}, false, nil
}
func (h *apiHost) SignIn(http.ResponseWriter, *http.Request, string) {}
func (h *apiHost) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return nil, nil
}

// apiPages shows nothing: the API host has no pages.
type apiPages struct{ oauthserver.Pages }
