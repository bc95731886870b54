package guard_test

import (
	"context"
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

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

const (
	apiURL      = "https://api.example.com"
	metadataURL = apiURL + "/.well-known/oauth-protected-resource"
	user        = "usr_1"
	business    = "biz_1"
)

// start is 10 days before the sunset of the version that is about to go.
var start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

var versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{
	{Name: "2025-06-01", Sunset: start.Add(-time.Hour)},
	{Name: "2026-01-15", Sunset: start.Add(10 * 24 * time.Hour)},
	{Name: "2026-09-01"},
}}

var allScopes = identity.MustScopes("invoices:read", "invoices:write", "events:read", "payments:write", "profile:read", "customers:read")

// harness is a surface on a real store and a real OAuth server.
type harness struct {
	testing.TB
	store   *storetest.Env
	clock   *clock.Manual
	host    *host
	oauth   *oauthserver.Server
	surface *guard.Surface
	api     http.Handler
	app     oauthserver.App
	calls   *recorded
}

func newHarness(t testing.TB, changes ...func(*guard.Config)) *harness {
	t.Helper()
	return newHarnessOn(t, storetest.SQLite, changes...)
}

func newHarnessOn(t testing.TB, open storetest.Opener, changes ...func(*guard.Config)) *harness {
	t.Helper()
	k := &harness{TB: t, store: storetest.NewEnv(t, open), clock: clock.NewManual(start), host: newHost(), calls: &recorded{}}
	var err error
	k.oauth, err = oauthserver.New(oauthserver.Config{
		Store: k.store, Host: k.host, Keyring: fixture.Keyring(1), Pages: struct{ oauthserver.Pages }{}, Clock: k.clock, APIURL: apiURL, AppURL: "https://app.example.com",
	})
	k.must(err)
	cfg := guard.Config{
		Tokens: k.oauth, Sessions: k.host, Permissions: guard.DefaultRoles().Permissions(k.host.roleOf), Versions: versions,
		Clock: k.clock, ResourceMetadata: func(string) string { return metadataURL }, Fallback: hostMux(), Analytics: k.calls, Scopes: identity.DefaultScopes(),
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
func (k *harness) routes() []guard.Route {
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

// echo responds with the caller that the handler sees.
func (k *harness) echo(w http.ResponseWriter, r *http.Request) error {
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
func (k *harness) invoice(w http.ResponseWriter, r *http.Request) error {
	p, _ := identity.PrincipalFrom(r.Context())
	if r.PathValue("id") != "inv_of_"+p.BusinessID {
		return apierror.NotFound("invoice")
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"business": p.BusinessID, "id": r.PathValue("id")})
}

func (k *harness) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *harness) addApp(clientID string) oauthserver.App {
	k.Helper()
	app := fixture.App(k.clock.Now(), allScopes)
	app.ClientID, app.Name = clientID, clientID
	k.must(fixture.AddApp(k.Context(), k.store, app))
	return app
}

func (k *harness) token() string { k.Helper(); return k.grant(business, allScopes).Access }

// grant connects the app to a business and returns tokens with these scopes.
func (k *harness) grant(businessID string, scopes identity.Scopes) fixture.Tokens {
	k.Helper()
	k.host.AddBusiness(user, oauthserver.Business{ID: businessID})
	tokens, err := fixture.Connect(k.Context(), k.store, fixture.Consent{App: k.app, BusinessID: businessID, UserID: user, Scopes: scopes, Now: k.clock.Now()})
	k.must(err)
	return tokens
}

func (k *harness) pin(version string) {
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

// session signs a user in, in a business.
func (k *harness) session(userID, businessID string) with {
	return func(r *http.Request) { r.AddCookie(k.host.NewSession(userID, businessID)) }
}

// send takes a method and a path: "GET /invoices".
func (k *harness) send(call string, changes ...with) response {
	k.Helper()
	method, path, _ := strings.Cut(call, " ")
	return k.do(httptest.NewRequestWithContext(k.Context(), method, path, http.NoBody), changes...)
}

func (k *harness) do(r *http.Request, changes ...with) response {
	k.Helper()
	for _, change := range changes {
		change(r)
	}
	got := response{TB: k.TB, Response: partnertest.Serve(k.TB, k.api, r)}
	if strings.HasPrefix(got.Body, "{") {
		got.body = got.JSON()
	}
	return got
}

type response struct {
	testing.TB
	*partnertest.Response
	body map[string]any // when it is JSON
}

func (a response) text(name string) string {
	text, _ := a.body[name].(string)
	return text
}

func (a response) ok() response {
	a.Helper()
	a.Want(http.StatusOK)
	return a
}

// refused wants an error in the standard shape, to the letter (ERR-01, ERR-02).
func (a response) refused(status int, code apierror.Code) response {
	a.Helper()
	if a.Status != status || a.text("code") != string(code) {
		a.Fatalf("%s: %d %s, want %d %s", a.Request, a.Status, a.Body, status, code)
	}
	if a.body["statusCode"] != float64(status) || a.text("error") != http.StatusText(status) || a.text("message") == "" {
		a.Errorf("%s: body %s", a.Request, a.Body)
	}
	known := []string{"statusCode", "message", "error", "code", "params"}
	for name := range maps.Keys(a.body) {
		if !slices.Contains(known, name) {
			a.Errorf("%s: member %q", a.Request, name)
		}
	}
	if _, has := a.body["code"]; has != (code != "") {
		a.Errorf("%s: code in %s", a.Request, a.Body)
	}
	if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "no-store" {
		a.Errorf("%s: header %v", a.Request, a.Header)
	}
	if got := a.Header.Get("WWW-Authenticate"); (got != "") != (status == http.StatusUnauthorized || code == apierror.InsufficientScope) {
		a.Errorf("%s: a %d with the challenge %q", a.Request, status, got)
	}
	if got := a.Header.Get("Retry-After"); (got != "") != (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
		a.Errorf("%s: a %d with Retry-After %q", a.Request, status, got)
	}
	return a
}

// limited reports whether the response has the three headers of LIM-04; it must have
// all or none, each once.
func (a response) limited() bool {
	a.Helper()
	have := 0
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		have += len(a.Header.Values(name))
	}
	if have != 0 && have != 3 {
		a.Errorf("%s: header %v", a.Request, a.Header)
	}
	return have == 3
}

// host is the double, with roles.
type host struct {
	*partnertest.Host
	mu    sync.Mutex
	role  guard.Role
	fault error // of roles
}

func newHost() *host {
	h := &host{Host: partnertest.NewHost(), role: guard.Owner}
	h.AddBusiness(user, oauthserver.Business{ID: business})
	return h
}

func (h *host) roleOf(_ context.Context, businessID, userID string) (guard.Role, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if userID != user || businessID != business {
		return "", h.fault
	}
	return h.role, h.fault
}

// recorded remembers calls.
type recorded struct {
	mu    sync.Mutex
	calls []counted
	used  map[string]time.Time
	all   []analytics.Call
}

type counted struct {
	app         string
	at          time.Time
	status      int
	rateLimited bool
}

func (a *recorded) Count(c analytics.Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, c)
	if c.HasDeadToken {
		return
	}
	if c.Took <= 0 {
		c.Status = -1 // a call takes time
	}
	a.calls = append(a.calls, counted{c.AppID, c.At, c.Status, c.RateLimited})
	if a.used == nil {
		a.used = make(map[string]time.Time)
	}
	a.used[c.InstallationID] = c.At
}

func mustIP(text string) netip.Addr { return netip.MustParseAddr(text) }
