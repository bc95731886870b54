package sandbox

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
)

// metrics are for Prometheus: the process, requests by host, method and status, and
// what the library measures. Nothing that a client chooses freely becomes a label.
type metrics struct {
	registry *prometheus.Registry
	library  *metric.MeterProvider // the library speaks OpenTelemetry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight *prometheus.GaugeVec
	refused  prometheus.Counter // connections
}

func newMetrics() (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "partnerkit_http_requests_total", Help: "Requests answered.",
		}, []string{"host", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "partnerkit_http_request_duration_seconds", Help: "How long answers took.", Buckets: prometheus.DefBuckets,
		}, []string{"host"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "partnerkit_http_requests_in_flight", Help: "Requests being answered.",
		}, []string{"host"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "partnerkit_http_connections_refused_total", Help: "Connections closed because their network, or all clients together, had too many.",
		}),
	}
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(m.registry),
		otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	// Exemplars are off because the server has no spans to refer to.
	m.library = metric.NewMeterProvider(metric.WithReader(exporter), metric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	return m, nil
}

// count measures what next does. Unknown methods share a label.
func (m *metrics) count(host string, next http.Handler) http.Handler {
	label := prometheus.Labels{"host": host}
	next = promhttp.InstrumentHandlerCounter(m.requests.MustCurryWith(label), next)
	next = promhttp.InstrumentHandlerDuration(m.duration.MustCurryWith(label), next)
	return promhttp.InstrumentHandlerInFlight(m.inFlight.With(label), next)
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
