package partnerkit_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// somebody is a host on which every request is signed in, by a user without businesses.
type somebody struct{ *partnertest.Host }

func (somebody) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{ID: "ses_1", UserID: "usr_1", BusinessID: "biz_1"}, true, nil
}

func config(t *testing.T) partnerkit.Config {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return partnerkit.Config{
		Store: store, Host: partnertest.NewHost(), Keyring: fixture.Keyring(1),
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
		Clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)),
	}
}

func platform(t *testing.T, cfg partnerkit.Config) *partnerkit.Platform {
	t.Helper()
	p, err := partnerkit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func teapot(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

func TestPlatformRoutes(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	bare := platform(t, cfg)
	cfg.APIRoutes, cfg.AppRoutes = http.HandlerFunc(teapot), http.HandlerFunc(teapot)
	full := platform(t, cfg)
	cfg.Host = somebody{partnertest.NewHost()}
	signedIn := platform(t, cfg)
	cfg.Host, cfg.Developers = partnertest.NewHost(), partnertest.NewHost()
	anonymous := platform(t, cfg)
	cfg.Host, cfg.Developers = somebody{partnertest.NewHost()}, somebody{partnertest.NewHost()}
	developing := platform(t, cfg)
	for _, test := range []struct {
		name string
		h    http.Handler
		path string
		want int
	}{
		{"metadata", bare.API(), "/.well-known/oauth-authorization-server", http.StatusOK},
		{"token takes POST", bare.API(), "/oauth/token", http.StatusMethodNotAllowed},
		{"authorize is a page", bare.App(), "/oauth/authorize", http.StatusBadRequest},
		{"device needs a session", bare.App(), "/device", http.StatusSeeOther},
		{"nobody on the API host", bare.API(), "/invoices", http.StatusUnauthorized},
		{"nothing on the app host", bare.App(), "/home", http.StatusNotFound},
		{"authorize is not on the API host, API-04", full.API(), "/oauth/authorize", http.StatusUnauthorized},
		{"unknown below /.well-known/, API-04", full.API(), "/.well-known/nothing", http.StatusUnauthorized},
		{"unknown below /oauth/ with a session, API-04", signedIn.API(), "/oauth/nothing", http.StatusTeapot},
		{"token is not on the app host", full.App(), "/oauth/token", http.StatusTeapot},
		{"the host's own on the API host is not for everybody", full.API(), "/invoices", http.StatusUnauthorized},
		{"the host's own on the API host", signedIn.API(), "/invoices", http.StatusTeapot},
		{"the host's own on the app host", full.App(), "/home", http.StatusTeapot},
		{"no console on the API host", signedIn.API(), "/developer/apps", http.StatusTeapot},
		{"no console on the app host", signedIn.App(), "/developer", http.StatusTeapot},
		{"the console's JSON for nobody", anonymous.API(), "/developer/apps", http.StatusUnauthorized},
		{"the console's pages for nobody", anonymous.App(), "/developer", http.StatusSeeOther},
		{"the console's JSON", developing.API(), "/developer/apps", http.StatusOK},
		{"the console's pages", developing.App(), "/developer", http.StatusOK},
		{"a path that only resembles the console's", developing.App(), "/developers", http.StatusTeapot},
		{"a path that only resembles ours", signedIn.API(), "//oauth/token", http.StatusTeapot},
	} {
		if got := get(test.h, "http://x"+test.path).Code; got != test.want {
			t.Errorf("%s: GET %s = %d, want %d", test.name, test.path, got, test.want)
		}
	}
}

// ERR-02: what is at no path has the standard shape.
func TestUnknownPathHasTheStandardShape(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Host = somebody{partnertest.NewHost()}
	w := get(platform(t, cfg).API(), "/nothing/here")
	var body struct {
		StatusCode int
		Message    string
		Error      string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.StatusCode != 404 || body.Error != "Not Found" || body.Message == "" {
		t.Errorf("body %s, %v", w.Body, err)
	}
}

// A path that can be none is refused on both hosts, and on that of people in no frame.
func TestInvalidPath(t *testing.T) {
	t.Parallel()
	p := platform(t, config(t))
	for _, path := range []string{"/%00", "/%ff", "/oauth/authorize%00"} {
		api, app := get(p.API(), path), get(p.App(), path)
		if api.Code != http.StatusBadRequest || app.Code != http.StatusBadRequest || api.Body.String() != app.Body.String() {
			t.Errorf("%s: %d %s and %d %s", path, api.Code, api.Body, app.Code, app.Body)
		}
		if app.Header().Get("X-Frame-Options") != "DENY" || !strings.Contains(app.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: %v", path, app.Header())
		}
	}
	t.Run("META-05 a browser app can read it", func(t *testing.T) {
		if header := get(p.API(), "/%00").Header(); header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
			t.Errorf("%v", header)
		}
	})
	t.Run("OPS-01 nothing shows that there are operators", func(t *testing.T) {
		cfg := config(t)
		cfg.Developers, cfg.Operators = partnertest.NewHost(), partnertest.NewHost()
		staffed := platform(t, cfg).API()
		for _, rest := range []string{"/%00", "/apps/%ff", "/apps"} {
			operator, nothing := get(staffed, "/operator"+rest), get(staffed, "/nothing"+rest)
			operator.Header().Del("X-Request-Id")
			nothing.Header().Del("X-Request-Id")
			if diff := cmp.Diff(nothing.Header(), operator.Header()); diff != "" || operator.Code != nothing.Code {
				t.Errorf("%s: %d, want %d; header (-want +got):\n%s", rest, operator.Code, nothing.Code, diff)
			}
		}
	})
	star := httptest.NewRequest("PRI", "*", http.NoBody) // what HTTP/2 begins with
	w := httptest.NewRecorder()
	p.App().ServeHTTP(w, star)
	if w.Code != http.StatusBadRequest || !json.Valid(w.Body.Bytes()) {
		t.Errorf("*: %d %s", w.Code, w.Body)
	}
}

// API-01, META-06: the response to a request without credentials names the metadata URL.
func TestChallenge(t *testing.T) {
	t.Parallel()
	w := get(platform(t, config(t)).API(), "/nothing/here")
	const want = `Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"`
	if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != want {
		t.Errorf("%d, challenge %q", w.Code, got)
	}
}

// API-10: the console's and the operators' challenges name the service, as those of the API do.
func TestChallengeNamesService_API10(t *testing.T) {
	t.Parallel()
	for service, want := range map[string]string{"": `Bearer realm="Service"`, `Ledger "One"`: `Bearer realm="Ledger \"One\""`} {
		h := partnertest.New(t, func(c *partnerkit.Config) { c.Service = service })
		staff, err := operator.New(operator.Config{
			Store: h.Store, Service: service, Host: h.Host, OAuth: h.OAuth(), Console: h.Console(), Analytics: h.Analytics(),
		})
		if err != nil {
			t.Fatal(err)
		}
		for path, handler := range map[string]http.Handler{"/developer/apps": h.API(), "/developer/nothing": h.API(), "/operator/apps": staff} {
			w := get(handler, path)
			if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != want {
				t.Errorf("%s: %d, challenge %q, want %q", path, w.Code, got, want)
			}
		}
	}
}

// API-05, API-07, VER-01: what Config says about the API reaches the surface.
func TestSurface(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Host = somebody{partnertest.NewHost()}
	cfg.Service = "Books"
	cfg.Versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-09-01"}}}
	cfg.Permissions = guard.DefaultRoles().Permissions(func(context.Context, string, string) (guard.Role, error) { return guard.Member, nil })
	route := guard.Route{Pattern: "GET /mine", Scope: "invoices:read", SessionsAllowed: true, Handler: guard.HTTP(http.HandlerFunc(teapot))}
	cfg.Routes = []guard.Route{route, {Pattern: "GET /ours", Scope: "invoices:read", Permission: "journal.post", SessionsAllowed: true, Handler: route.Handler}}
	p := platform(t, cfg)
	if w := get(p.API(), "/mine"); w.Code != http.StatusTeapot || w.Header().Get("Books-Version") != "2026-09-01" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := get(p.API(), "/ours"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "PERMISSION_REQUIRED") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	write := httptest.NewRequest(http.MethodPost, "/mine", nil)
	write.Header.Set("Origin", "https://evil.example.com")
	w := httptest.NewRecorder()
	if p.API().ServeHTTP(w, write); w.Code != http.StatusForbidden {
		t.Errorf("a write from elsewhere: %d", w.Code)
	}
}

// LIM-05: routes without a limit of their own share 600 requests a minute for each address.
func TestDefaultLimit(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	moving := clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
	cfg.Clock = moving
	p := platform(t, cfg)
	for i := range ratelimit.DefaultLimits().DefaultPerIP.Count {
		if i%2 == 0 {
			get(p.API(), "/nothing")
		} else if w := get(p.API(), "/.well-known/jwks.json"); w.Code != http.StatusOK {
			t.Fatalf("request %d: %d", i+1, w.Code)
		}
	}
	w := get(p.API(), "/nothing")
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"statusCode":429`) {
		t.Errorf("the 601st: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := get(p.App(), "/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("the app host counts for itself: %d", w.Code)
	}
	moving.Advance(time.Minute)
	if w := get(p.API(), "/nothing"); w.Code != http.StatusUnauthorized {
		t.Errorf("a minute later: %d", w.Code)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*partnerkit.Config)
		want  string
	}{
		"no store":   {func(c *partnerkit.Config) { c.Store = nil }, "Config.Store"},
		"no host":    {func(c *partnerkit.Config) { c.Host = nil }, "Config.Host"},
		"no keyring": {func(c *partnerkit.Config) { c.Keyring = nil }, "Config.Keyring"},
		"a path":     {func(c *partnerkit.Config) { c.APIURL = "https://api.example.com/v1" }, "Config.APIURL"},
		"a route":    {func(c *partnerkit.Config) { c.Routes = []guard.Route{{Pattern: "GET /x"}} }, "GET /x"},
		"a version":  {func(c *partnerkit.Config) { c.Versions.Current = "2026-09-01" }, "2026-09-01"},
		"plain http": {func(c *partnerkit.Config) { c.AppURL = "http://app.example.com" }, "Config.AppURL"},
	} {
		cfg := config(t)
		test.spoil(&cfg)
		if _, err := partnerkit.New(cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error that names %s", name, err, test.want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	p := platform(t, config(t))
	go func() { done <- p.Run(ctx) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// CAT-01: a platform offers the events whose scopes it has, and no other.
func TestEventsFitScopes_CAT01(t *testing.T) {
	t.Parallel()
	scopes, err := identity.NewScopeCatalog(
		identity.Scope{Name: "notes:read", Description: "See your notes"},
		identity.Scope{Name: "customers:read", Description: "See your customers"},
		identity.Scope{Name: "suppliers:read", Description: "See your suppliers", Internal: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t)
	cfg.Scopes, cfg.Developers = scopes, partnertest.NewHost()
	p := platform(t, cfg)
	var got []string
	for _, d := range p.Events().Catalog().All() {
		got = append(got, d.Name)
	}
	want := []string{"app.installed", "app.uninstalled", "app.scopes_updated", "business.redact", "app_data.updated", "customer.redact", "customer.created", "customer.updated", "customer.deleted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d := read(t, p.OpenAPI()); len(d.Webhooks) != len(want) {
		t.Errorf("%d webhooks are described", len(d.Webhooks))
	}

	cfg = config(t)
	cfg.Scopes, cfg.Events = scopes, events.DefaultCatalog()
	_, err = partnerkit.New(cfg)
	if err == nil || !strings.Contains(err.Error(), "Config.Events: invoice.created needs the scope invoices:read, which Config.Scopes does not have") || strings.Contains(err.Error(), "customer.created") {
		t.Errorf("%v", err)
	}
	cfg = config(t)
	if n := len(platform(t, cfg).Events().Catalog().All()); n != 45 {
		t.Errorf("%d events with the default scopes", n)
	}
}
