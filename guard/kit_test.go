package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

const (
	apiURL      = "https://api.example.com"
	metadataURL = apiURL + "/.well-known/oauth-protected-resource"
	user        = "usr_1"
	business    = "biz_1"
	cookieName  = "session"
)

// start is 10 days before the sunset of the version that is about to go.
var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{
	{Name: "2025-06-01", Sunset: start.Add(-time.Hour)},
	{Name: "2026-01-15", Sunset: start.Add(10 * 24 * time.Hour)},
	{Name: "2026-09-01"},
}}

var allScopes = identity.MustScopes("invoices:read", "invoices:write", "events:read", "payments:write", "profile:read", "customers:read")

// kit is a surface on a real store and a real OAuth server.
type kit struct {
	testing.TB
	store   *storetest.Env
	clock   *clock.Manual
	host    *host
	oauth   *oauthserver.Server
	surface *guard.Surface
	api     http.Handler
	app     oauthserver.App
	calls   *analytics
}

func newKit(t testing.TB, changes ...func(*guard.Config)) *kit {
	t.Helper()
	return newKitOn(t, storetest.SQLite, changes...)
}

func newKitOn(t testing.TB, open storetest.Opener, changes ...func(*guard.Config)) *kit {
	t.Helper()
	k := &kit{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start), host: &host{role: guard.Owner}, calls: &analytics{}}
	key, err := keyring.NewKey("test", make([]byte, keyring.KeySize))
	k.must(err)
	ring, err := keyring.New(key)
	k.must(err)
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: k.host, Keyring: ring, Pages: struct{ oauthserver.Pages }{}, Clock: k.clock, APIURL: apiURL, AppURL: "https://app.example.com",
	})
	k.must(err)
	cfg := guard.Config{
		Tokens: k.oauth, Sessions: k.host, Permissions: guard.DefaultRoles().Permissions(k.host.roleOf), Versions: versions,
		Clock: k.clock, ResourceMetadata: metadataURL, Fallback: hostMux(), Analytics: k.calls, Scopes: identity.DefaultScopes(),
		Origins: []string{"https://app.example.com"},
	}
	for _, change := range changes {
		change(&cfg)
	}
	k.surface, err = guard.New(cfg)
	k.must(err)
	k.must(k.surface.Handle(k.routes()...))
	k.api = k.surface
	k.app = k.addApp("cli_1")
	return k
}

// hostMux is what people with a session get.
func hostMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /invoices", func(w http.ResponseWriter, r *http.Request) {
		session, _ := identity.SessionFrom(r.Context())
		_ = apierror.WriteJSON(w, http.StatusOK, map[string]string{"fallback": session.UserID})
	})
	mux.HandleFunc("POST /settings", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return mux
}

// routes has one of each kind.
func (k *kit) routes() []guard.Route {
	return []guard.Route{
		{Pattern: "GET /invoices", Scope: "invoices:read", Handler: k.echo},
		{Pattern: "GET /invoices/{id}", Scope: "invoices:read", Handler: k.invoice},
		{Pattern: "POST /invoices", Scope: "invoices:write", Handler: k.echo},
		{Pattern: "DELETE /payments/{id}", Scope: "payments:write", Permission: guard.DeletePayments, Handler: k.echo},
		{Pattern: "GET /profile", Scope: "profile:read", SessionsAllowed: true, Handler: k.echo},
		{Pattern: "POST /profile", Scope: "profile:read", Permission: guard.ManageAccounts, SessionsAllowed: true, Handler: k.echo},
		{Pattern: "GET /events", Scope: "events:read", AppsOnly: apierror.EventLogForConnectedApps, Handler: k.echo},
		{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: apierror.AppDataForConnectedApps, Handler: k.echo},
		{Pattern: "GET /panic", Scope: guard.AnyScope, Handler: func(http.ResponseWriter, *http.Request) error { panic("oh") }},
		{Pattern: "GET /broken", Scope: guard.AnyScope, Handler: func(http.ResponseWriter, *http.Request) error { return errors.New("secret detail") }},
	}
}

// echo says who the handler thinks it serves.
func (k *kit) echo(w http.ResponseWriter, r *http.Request) error {
	p, ok := identity.PrincipalFrom(r.Context())
	if !ok {
		return errors.New("no principal")
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{
		"app": p.AppID, "client": p.ClientID, "installation": p.InstallationID, "business": p.BusinessID, "user": p.UserID,
		"scopes": p.Scopes.String(), "version": p.Version, "signIn": string(p.SignIn), "id": r.PathValue("id"), "pattern": r.Pattern,
	})
}

// invoice knows one in each business, with that business in its id.
func (k *kit) invoice(w http.ResponseWriter, r *http.Request) error {
	p, _ := identity.PrincipalFrom(r.Context())
	if r.PathValue("id") != "inv_of_"+p.BusinessID {
		return apierror.NotFound("invoice")
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"business": p.BusinessID, "id": r.PathValue("id")})
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kit) addApp(clientID string) oauthserver.App {
	k.Helper()
	now := k.clock.Now()
	app := oauthserver.App{
		ID: id.New(id.App, now), ClientID: clientID, Type: oauthserver.Public, Status: oauthserver.AppActive, Origin: oauthserver.OriginConsole,
		Name: clientID, Reviewed: true, RedirectURIs: []string{"https://partner.example.com/cb"}, Scopes: allScopes, CreatedAt: now,
	}
	k.must(k.store.CreateApp(k.Context(), app, nil))
	return app
}

// grant is a token and what hangs on it.
type grant struct {
	token, tokenID, family string
}

func (k *kit) token() string { k.Helper(); return k.grant(business, allScopes).token }

// grant connects the app to a business and gives a token with these scopes.
func (k *kit) grant(businessID string, scopes identity.Scopes) grant {
	k.Helper()
	now := k.clock.Now()
	request := oauthserver.AuthorizationRequest{
		ID: id.New(id.Authorization, now), Digest: secret.New(secret.ConsentRequest).Digest(), AppID: k.app.ID, RedirectURI: k.app.RedirectURIs[0],
		Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(oauthserver.RequestLifetime),
	}
	k.must(k.store.HoldRequest(k.Context(), request))
	code := secret.New(secret.AuthorizationCode).Digest()
	approved, err := k.store.ApproveRequest(k.Context(), oauthserver.Approval{
		RequestID: request.ID, UserID: user, BusinessID: businessID, InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Check:  func(oauthserver.App) oauthserver.ApprovalOutcome { return oauthserver.ApprovalDone },
		Record: func(oauthserver.Approved) []events.Event { return nil },
	}, oauthserver.NewCode{ID: id.New(id.Code, now), Digest: code, ExpiresAt: now.Add(oauthserver.CodeLifetime)})
	if err != nil || approved.Outcome != oauthserver.ApprovalDone {
		k.Fatalf("approve: %v, %v", approved.Outcome, err)
	}
	found, err := k.store.Code(k.Context(), code)
	k.must(err)
	access := secret.NewToken(secret.AccessToken, id.New(id.Token, now))
	mint := oauthserver.NewTokens{
		Now: now, FamilyID: id.New(id.Family, now), AccessID: access.TokenID(), AccessDigest: access.Digest(), AccessExpires: now.Add(oauthserver.AccessTokenLifetime),
		RefreshID: id.New(id.Token, now), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: now.Add(oauthserver.RefreshTokenLifetime),
	}
	if minted, err := k.store.RedeemCode(k.Context(), found, mint); err != nil || minted.Outcome != oauthserver.Issued {
		k.Fatalf("redeem: %v, %v", minted.Outcome, err)
	}
	return grant{access.Reveal(), mint.AccessID, mint.FamilyID}
}

func (k *kit) pin(version string) {
	k.Helper()
	_, err := k.store.UpdateApp(k.Context(), k.app.ID, func(a oauthserver.App) (oauthserver.App, error) {
		a.PinnedVersion = version
		return a, nil
	})
	k.must(err)
}

// with changes a request before it is sent.
type with func(*http.Request)

func header(name, value string) with { return func(r *http.Request) { r.Header.Add(name, value) } }
func bearer(token string) with       { return header("Authorization", "Bearer "+token) }
func version(v string) with          { return header("Service-Version", v) }
func from(ip string) with            { return func(r *http.Request) { r.RemoteAddr = ip + ":1234" } }

// cookie signs a user in, in a business: "user@business".
func cookie(value string) with {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: value}) }
}

// send takes a method and a path: "GET /invoices".
func (k *kit) send(call string, changes ...with) answer {
	k.Helper()
	method, path, _ := strings.Cut(call, " ")
	return k.do(httptest.NewRequestWithContext(k.Context(), method, path, http.NoBody), changes...)
}

func (k *kit) do(r *http.Request, changes ...with) answer {
	k.Helper()
	for _, change := range changes {
		change(r)
	}
	w := httptest.NewRecorder()
	k.api.ServeHTTP(w, r)
	got := answer{TB: k.TB, call: r.Method + " " + r.URL.Path, status: w.Code, header: w.Result().Header, raw: w.Body.String()}
	if strings.HasPrefix(got.raw, "{") {
		k.must(json.Unmarshal(w.Body.Bytes(), &got.body))
	}
	return got
}

type answer struct {
	testing.TB
	call   string
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (a answer) text(name string) string {
	text, _ := a.body[name].(string)
	return text
}

func (a answer) ok() answer {
	a.Helper()
	if a.status != http.StatusOK {
		a.Fatalf("%s: %d %s, want 200", a.call, a.status, a.raw)
	}
	return a
}

// refused wants an error in the standard shape, to the letter (ERR-01, ERR-02).
func (a answer) refused(status int, code apierror.Code) answer {
	a.Helper()
	if a.status != status || a.text("code") != string(code) {
		a.Fatalf("%s: %d %s, want %d %s", a.call, a.status, a.raw, status, code)
	}
	if a.body["statusCode"] != float64(status) || a.text("error") != http.StatusText(status) || a.text("message") == "" {
		a.Errorf("%s: body %s", a.call, a.raw)
	}
	known := []string{"statusCode", "message", "error", "code", "params"}
	for name := range maps.Keys(a.body) {
		if !slices.Contains(known, name) {
			a.Errorf("%s: member %q", a.call, name)
		}
	}
	if _, has := a.body["code"]; has != (code != "") {
		a.Errorf("%s: code in %s", a.call, a.raw)
	}
	if a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" {
		a.Errorf("%s: header %v", a.call, a.header)
	}
	if got := a.header.Get("WWW-Authenticate"); (got != "") != (status == http.StatusUnauthorized) {
		a.Errorf("%s: a %d with the challenge %q", a.call, status, got)
	}
	if got := a.header.Get("Retry-After"); (got != "") != (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
		a.Errorf("%s: a %d with Retry-After %q", a.call, status, got)
	}
	return a
}

// limited reports whether the answer has the three headers of LIM-04; it must have
// all or none, each once.
func (a answer) limited() bool {
	a.Helper()
	have := 0
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		have += len(a.header.Values(name))
	}
	if have != 0 && have != 3 {
		a.Errorf("%s: header %v", a.call, a.header)
	}
	return have == 3
}

// host has one member; cookies say "user@business".
type host struct {
	mu     sync.Mutex
	left   bool
	role   guard.Role
	fault  error
	broken error // of sessions and roles
}

func (h *host) IsMember(context.Context, string, string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.left, h.fault
}

func (h *host) roleOf(_ context.Context, businessID, userID string) (guard.Role, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if userID != user || businessID != business {
		return "", h.broken
	}
	return h.role, h.broken
}

func (h *host) Session(r *http.Request) (identity.Session, bool, error) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return identity.Session{}, false, nil
	}
	who, where, _ := strings.Cut(c.Value, "@")
	return identity.Session{ID: "ses_1", UserID: who, BusinessID: where}, who != "", h.broken
}

func (h *host) SignIn(http.ResponseWriter, *http.Request, string) {}

func (h *host) Businesses(context.Context, string) ([]oauthserver.Business, error) { return nil, nil }

// analytics remembers.
type analytics struct {
	mu    sync.Mutex
	calls []counted
	used  map[string]time.Time
}

type counted struct {
	app         string
	at          time.Time
	status      int
	rateLimited bool
}

func (a *analytics) Count(appID string, at time.Time, status int, rateLimited bool, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if took <= 0 {
		status = -1 // a call takes time
	}
	a.calls = append(a.calls, counted{appID, at, status, rateLimited})
}

func (a *analytics) Use(installationID string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used == nil {
		a.used = make(map[string]time.Time)
	}
	a.used[installationID] = at
}

func mustIP(text string) netip.Addr { return netip.MustParseAddr(text) }
