package partnerkit_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/partnertest"
)

type noRecords struct{}

func (noRecords) ExistingRecords(context.Context, string, []appdata.Record) ([]appdata.Record, error) {
	return nil, nil
}

// shapedPlatform has every feature that responds with standard errors.
func shapedPlatform(t *testing.T, shape apierror.ShapeFunc, logger *slog.Logger) (p *partnerkit.Platform, token string) {
	t.Helper()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.ErrorShape, c.Logger, c.Records = shape, logger, noRecords{}
		c.Notifier = &told{} // and not the log, which a test reads
		c.Routes = []guard.Route{
			{Pattern: "POST /invoices", Scope: "invoices:write", Handler: func(_ http.ResponseWriter, r *http.Request) error {
				return strictjson.Decode(r, &struct{}{}, strictjson.Limits{})
			}},
			{Pattern: "GET /broken", Scope: "invoices:write", Handler: func(http.ResponseWriter, *http.Request) error { panic("broken") }},
			{Pattern: "GET /customers", Scope: "customers:read", Handler: func(http.ResponseWriter, *http.Request) error { return nil }},
		}
	})
	return h.Platform, h.Connect(partnertest.ConnectOptions{Scopes: []string{"events:read", "invoices:write"}}).AccessToken
}

// standardErrors are requests to every feature, by the status of their response.
var standardErrors = []struct {
	name, method, path, body string
	isApp                    bool // on the app host
	hasToken                 bool
	status                   int
}{
	{name: "guard, nobody", path: "/invoices", status: http.StatusUnauthorized},
	{name: "guard, unknown path", path: "/nothing", hasToken: true, status: http.StatusForbidden},
	{name: "guard, scope", path: "/customers", hasToken: true, status: http.StatusForbidden},
	{name: "a route's own", method: http.MethodPost, path: "/invoices", body: `{"a":1,"b":2}`, hasToken: true, status: http.StatusBadRequest},
	{name: "a route that panics", path: "/broken", hasToken: true, status: http.StatusInternalServerError},
	{name: "events", path: "/events?after=evt_x", hasToken: true, status: http.StatusBadRequest},
	{name: "an event", path: "/events/evt_x", hasToken: true, status: http.StatusNotFound},
	{name: "app data", path: "/app-data", hasToken: true, status: http.StatusBadRequest},
	{name: "an app data value", method: http.MethodDelete, path: "/app-data/adv_x", hasToken: true, status: http.StatusNotFound},
	{name: "console", path: "/developer/apps", status: http.StatusUnauthorized},
	{name: "console, unknown path", path: "/developer/nothing", status: http.StatusUnauthorized},
	{name: "path that is not UTF-8", path: "/%ff", status: http.StatusBadRequest},
	{name: "metadata, method", method: http.MethodPost, path: "/.well-known/oauth-protected-resource", status: http.StatusMethodNotAllowed},
	{name: "app host, unknown path", path: "/nothing", isApp: true, status: http.StatusNotFound},
}

func requestStandardError(p *partnerkit.Platform, token string, i int) *httptest.ResponseRecorder {
	test := standardErrors[i]
	r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
	if test.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if test.hasToken {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	host := p.API()
	if test.isApp {
		host = p.App()
	}
	w := httptest.NewRecorder()
	host.ServeHTTP(w, r)
	return w
}

// One field of the configuration changes the shape of every standard error, and none of
// the OAuth endpoints'.
func TestErrorShape(t *testing.T) {
	t.Parallel()
	p, token := shapedPlatform(t, apierror.ProblemDetails, nil)
	for i, test := range standardErrors {
		t.Run("ERR-02 "+test.name, func(t *testing.T) {
			w := requestStandardError(p, token, i)
			var problem struct {
				Status        int
				Title, Detail string
				StatusCode    any
			}
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
				t.Fatal(err)
			}
			if w.Code != test.status || problem.Status != w.Code || problem.Title != http.StatusText(w.Code) || problem.Detail == "" || problem.StatusCode != nil ||
				w.Header().Get("Content-Type") != "application/problem+json" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		})
	}
	t.Run("OERR-03 OAuth endpoints keep their shape", func(t *testing.T) {
		w := get(p.API(), "/oauth/token")
		if body := w.Body.String(); w.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(body, `{"error":"invalid_request"`) {
			t.Errorf("%v %s", w.Header(), body)
		}
	})
}

// A function that panics costs its own work: the response has the standard shape.
func TestErrorShapePanics(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	p, token := shapedPlatform(t, func(apierror.View) (string, any) { panic("no shape") }, slog.New(slog.NewTextHandler(&logged, nil)))
	for i, test := range standardErrors {
		logged.Reset()
		w := requestStandardError(p, token, i)
		var body struct{ StatusCode int }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if w.Code != test.status || body.StatusCode != test.status || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(logged.String(), "error shape failed") {
			t.Errorf("%s: %d %s, log %q", test.name, w.Code, w.Body, logged.String())
		}
	}
}
