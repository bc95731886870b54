package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/telemetry"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

// One call is in Prometheus, and its metrics and its span reach the collector.
func TestTelemetry(t *testing.T) {
	var mu sync.Mutex
	received := map[string]string{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		received[r.URL.Path] += string(body)
	}))
	t.Cleanup(collector.Close)
	telemetry, err := recipe.Start(t.Context(), collector.URL, "books")
	if err != nil {
		t.Fatal(err)
	}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		telemetry.Configure(c)
		c.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}}}
	})
	h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}}).Get("/invoices").Want(http.StatusNoContent)
	page := partnertest.Serve(t, telemetry.Metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil)).Want(http.StatusOK)
	if !strings.Contains(page.Body, `http_server_request_duration_seconds_count{`) || !strings.Contains(page.Body, `http_route="/invoices"`) {
		t.Errorf("%.2000s", page.Body)
	}
	if err := telemetry.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]string{"/v1/metrics": "http.server.request.duration", "/v1/traces": "/invoices"} {
		if !strings.Contains(received[path], want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
}
