package partnerkit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/partnerkit/partnerkit/partnertest"
)

// The scheme of a call is that of the public URL, even if a proxy that ends TLS stands in
// front, in whatever spelling the URL has.
func TestCallsHaveThePublicScheme(t *testing.T) {
	t.Parallel()
	for apiURL, want := range map[string]string{"HTTPS://api.example.com": "https", "http://localhost:8080": "http"} {
		reader := metric.NewManualReader()
		cfg := config(t)
		cfg.APIURL, cfg.MeterProvider = apiURL, metric.NewMeterProvider(metric.WithReader(reader))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://10.0.0.1/events", http.NoBody)
		partnertest.Serve(t, platform(t, cfg).API(), r).Want(http.StatusUnauthorized)
		var all metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, scope := range all.ScopeMetrics {
			for _, one := range scope.Metrics {
				if calls, ok := one.Data.(metricdata.Histogram[float64]); ok && one.Name == "http.server.request.duration" {
					scheme, _ := calls.DataPoints[0].Attributes.Value("url.scheme")
					found = scheme.AsString()
				}
			}
		}
		if found != want {
			t.Errorf("%s: url.scheme %q, want %q", apiURL, found, want)
		}
	}
}
