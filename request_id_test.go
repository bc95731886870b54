package partnerkit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

var randomRequestID = regexp.MustCompile(`^req_[a-z2-7]{26}$`)

// ERR-05: every response of the API host has an id of its own, whatever serves it and
// whatever the client sends.
func TestEveryResponseHasARequestID_ERR05(t *testing.T) {
	t.Parallel()
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "that of the server behind")
	}))
	t.Cleanup(behind.Close)
	at, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t)
	cfg.Developers, cfg.Operators = partnertest.NewHost(), partnertest.NewHost()
	cfg.APIRoutes = httputil.NewSingleHostReverseProxy(at)
	anonymous := platform(t, cfg)
	cfg.Host, cfg.Developers = somebody{partnertest.NewHost()}, somebody{partnertest.NewHost()}
	signedIn := platform(t, cfg)

	seen := map[string]bool{}
	for _, test := range []struct {
		name         string
		p            *partnerkit.Platform
		method, path string
		want         int
	}{
		{"metadata", anonymous, "GET", "/.well-known/oauth-authorization-server", 200},
		{"keys", anonymous, "GET", "/.well-known/jwks.json", 200},
		{"OAuth error", anonymous, "POST", "/oauth/token", 401},
		{"wrong method", anonymous, "GET", "/oauth/token", 405},
		{"revocation", anonymous, "POST", "/oauth/revoke", 400},
		{"registration", anonymous, "POST", "/oauth/register", 400},
		{"preflight of OAuth", anonymous, "OPTIONS", "/oauth/token", 204},
		{"preflight of the API", anonymous, "OPTIONS", "/events", 204},
		{"no credentials", anonymous, "GET", "/events", 401},
		{"unknown path", anonymous, "GET", "/nothing", 401},
		{"invalid path", anonymous, "GET", "/%00", 400},
		{"console", signedIn, "GET", "/developer/apps", 200},
		{"console, nobody", anonymous, "GET", "/developer/apps", 401},
		{"console, unknown", signedIn, "GET", "/developer/nothing", 404},
		{"operator", signedIn, "GET", "/operator/apps", 200},
		{"proxied", signedIn, "GET", "/host", 200},
		{"path that is not clean", signedIn, "GET", "//events", 200},
	} {
		r := httptest.NewRequest(test.method, "http://x"+test.path, nil)
		r.Header.Set("X-Request-Id", "req_chosenbytheclient222222222")
		if test.method == http.MethodOptions {
			r.Header.Set("Origin", "https://spa.example.com")
			r.Header.Set("Access-Control-Request-Method", "POST")
		}
		w := httptest.NewRecorder()
		test.p.API().ServeHTTP(w, r)
		ids := w.Header().Values("X-Request-Id")
		if len(ids) != 1 || !randomRequestID.MatchString(ids[0]) || seen[ids[0]] {
			t.Errorf("%s: request ids %q", test.name, ids)
		} else {
			seen[ids[0]] = true
		}
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d: %s", test.name, w.Code, test.want, w.Body)
		}
	}
}

// ERR-05: the id of the response is in the log, in the text of an internal error, on the
// span, in the request log and in the handler's context.
func TestRequestIDIsTheSameEverywhere_ERR05(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	spans := tracetest.NewInMemoryExporter()
	var inHandler string
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
		c.TracerProvider = trace.NewTracerProvider(trace.WithSyncer(spans))
		c.RequestID = func(r *http.Request) string { return r.Header.Get("Gateway-Id") }
		c.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: func(_ http.ResponseWriter, r *http.Request) error {
			inHandler = apierror.RequestID(r.Context())
			return errors.New("broken")
		}}}
	})
	app := h.Connect(partnertest.ConnectOptions{})
	got := app.Do(http.MethodGet, "/invoices", nil, "Gateway-Id", "gw/7f3a~!").Want(http.StatusInternalServerError)
	const want = "gw/7f3a~!"
	if got.Header.Get("X-Request-Id") != want || inHandler != want || !strings.Contains(got.Body, want) || !strings.Contains(log.String(), `request_id=`+want) {
		t.Errorf("header %q, handler %q, body %s, log %s", got.Header.Get("X-Request-Id"), inHandler, got.Body, log.String())
	}
	found := false
	for _, span := range spans.GetSpans() {
		for _, a := range span.Attributes {
			found = found || a.Key == "partnerkit.request.id" && a.Value.AsString() == want
		}
	}
	if !found {
		t.Errorf("spans %+v", spans.GetSpans())
	}
	h.Settle()
	logged, err := h.Analytics().Requests(t.Context(), callstore.RequestQuery{AppID: app.ID, Limit: 10})
	if err != nil || len(logged) != 1 || logged[0].RequestID != want {
		t.Errorf("request log %+v, %v", logged, err)
	}
}

// ERR-05: an id of the host is used if it is 1 to 128 visible ASCII characters.
func TestRequestIDOfTheHost_ERR05(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 128)
	for _, test := range []struct {
		name, id string
		isUsed   bool
	}{
		{"one character", "!", true}, {"128 characters", long, true}, {"129 characters", long + "a", false}, {"empty", "", false},
		{"space", "a b", false}, {"line break", "a\r\nX-Evil: 1", false}, {"not ASCII", "ä", false}, {"delete", "\x7f", false},
	} {
		cfg := config(t)
		cfg.RequestID = func(*http.Request) string { return test.id }
		if got := get(platform(t, cfg).API(), "/nothing").Header().Get("X-Request-Id"); (got == test.id) != test.isUsed || !test.isUsed && !randomRequestID.MatchString(got) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	cfg := config(t)
	cfg.RequestID = func(*http.Request) string { panic("no gateway") }
	if got := get(platform(t, cfg).API(), "/nothing"); got.Code != http.StatusUnauthorized || !randomRequestID.MatchString(got.Header().Get("X-Request-Id")) {
		t.Errorf("after a panic: %d %v", got.Code, got.Header())
	}
}
