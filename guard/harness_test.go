package guard_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

const (
	metadataURL = harness.APIURL + "/.well-known/oauth-protected-resource"
	user        = "usr_1"
	business    = "biz_1"
)

// The clock starts 10 days before the sunset of the version that is about to go.
var versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{
	{Name: "2025-06-01", Sunset: harness.Start.Add(-time.Hour)},
	{Name: "2026-01-15", Sunset: harness.Start.Add(10 * 24 * time.Hour)},
	{Name: "2026-09-01"},
}}

var allScopes = identity.MustScopes("invoices:read", "invoices:write", "events:read", "payments:write", "profile:read", "customers:read")

// api is a surface in front of routes of every kind, and an app.
type api struct {
	*harness.Harness
	roles   *roles
	surface *guard.Surface
	app     partner.App
	calls   *recorded
}

func newAPI(t testing.TB, changes ...func(*guard.Config)) *api {
	t.Helper()
	return newAPIOn(t, testdb.SQLite, changes...)
}

func newAPIOn(t testing.TB, open testdb.Opener, changes ...func(*guard.Config)) *api {
	t.Helper()
	k := &api{Harness: harness.New(t, open), roles: &roles{role: guard.Owner}, calls: &recorded{}}
	k.Host.AddBusiness(user, oauthserver.Business{ID: business})
	cfg := k.GuardConfig()
	cfg.Permissions, cfg.Versions, cfg.Scopes = guard.DefaultRoles().Permissions(k.roles.of), versions, identity.DefaultScopes()
	cfg.ResourceMetadata, cfg.Fallback = func(string) string { return metadataURL }, hostMux()
	cfg.Analytics, cfg.Origins = k.calls, []string{harness.AppURL}
	for _, change := range changes {
		change(&cfg)
	}
	k.surface = k.Handle(cfg, k.routes()...)
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
func (k *api) routes() []guard.Route {
	return []guard.Route{
		{Pattern: "GET /invoices", Scope: "invoices:read", Handler: k.echo},
		{Pattern: "GET /invoices/{id}", Scope: "invoices:read", Handler: k.invoice},
		{Pattern: "POST /invoices", Scope: "invoices:write", Handler: k.echo},
		{Pattern: "DELETE /payments/{id}", Scope: "payments:write", Permission: "payments.delete", Handler: k.echo},
		{Pattern: "GET /profile", Scope: "profile:read", SessionsAllowed: true, Handler: k.echo},
		{Pattern: "POST /profile", Scope: "profile:read", Permission: "accounts.manage", SessionsAllowed: true, Handler: k.echo},
		{Pattern: "GET /events", Scope: "events:read", AppsOnly: codes.EventLogForConnectedApps, Handler: k.echo},
		{Pattern: "PUT /app-data", Scope: guard.AnyScope, AppsOnly: codes.AppDataForConnectedApps, Handler: k.echo},
		{Pattern: "GET /panic", Scope: guard.AnyScope, Handler: func(http.ResponseWriter, *http.Request) error { panic("oh") }},
		{Pattern: "GET /broken", Scope: guard.AnyScope, Handler: func(http.ResponseWriter, *http.Request) error { return errors.New("secret detail") }},
	}
}

// echo responds with the caller that the handler sees.
func (k *api) echo(w http.ResponseWriter, r *http.Request) error {
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
func (k *api) invoice(w http.ResponseWriter, r *http.Request) error {
	p, _ := identity.PrincipalFrom(r.Context())
	if r.PathValue("id") != "inv_of_"+p.BusinessID {
		return apierror.NotFound("invoice")
	}
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"business": p.BusinessID, "id": r.PathValue("id")})
}

func (k *api) addApp(clientID string) partner.App {
	k.Helper()
	return k.NewApp(allScopes, func(a *partner.App) { a.ClientID, a.Name = clientID, clientID })
}

func (k *api) token() string { k.Helper(); return k.grant(business, allScopes).Access }

// grant connects the app to a business and returns tokens with these scopes.
func (k *api) grant(businessID string, scopes identity.Scopes) fixture.Tokens {
	k.Helper()
	return k.Grant(fixture.Consent{App: k.app, BusinessID: businessID, UserID: user, Scopes: scopes})
}

func (k *api) pin(version string) {
	k.Helper()
	k.UpdateApp(k.app, func(a *partner.App) { a.PinnedVersion = version })
}

// with changes a request before it is sent.
type with func(*http.Request)

func header(name, value string) with { return func(r *http.Request) { r.Header.Add(name, value) } }
func bearer(token string) with       { return header("Authorization", "Bearer "+token) }
func version(v string) with          { return header("Service-Version", v) }
func from(ip string) with            { return func(r *http.Request) { r.RemoteAddr = ip + ":1234" } }

// session signs a user in, in a business.
func (k *api) session(userID, businessID string) with {
	return func(r *http.Request) { r.AddCookie(k.Host.NewSession(userID, businessID)) }
}

// send takes a method and a path: "GET /invoices".
func (k *api) send(call string, changes ...with) response {
	k.Helper()
	return k.do(harness.NewRequest(k.TB, call, ""), changes...)
}

func (k *api) do(r *http.Request, changes ...with) response {
	k.Helper()
	for _, change := range changes {
		change(r)
	}
	got := response{TB: k.TB, Response: partnertest.Serve(k.TB, k.API, r)}
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
	if got := a.Header.Get("WWW-Authenticate"); (got != "") != (status == http.StatusUnauthorized || code == codes.InsufficientScope.Code) {
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

// roles are those that the host gives.
type roles struct {
	mu    sync.Mutex
	role  guard.Role
	fault error
}

func (r *roles) of(_ context.Context, businessID, userID string) (guard.Role, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if userID != user || businessID != business {
		return "", r.fault
	}
	return r.role, r.fault
}

// recorded remembers calls.
type recorded struct {
	mu    sync.Mutex
	calls []counted
	used  map[string]time.Time
	all   []analytics.Call
}

func (a *recorded) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}

func (a *recorded) last() analytics.Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[len(a.all)-1]
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
