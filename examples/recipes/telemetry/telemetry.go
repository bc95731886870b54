// Package telemetry sends the metrics and spans of a platform to an OpenTelemetry collector, and
// serves the metrics to Prometheus besides.
package telemetry

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"

	"github.com/partnerkit/partnerkit"
)

// Telemetry is what a program sets up once.
type Telemetry struct {
	Metrics http.Handler // serve it inside your network, as /metrics
	meters  *metric.MeterProvider
	tracers *trace.TracerProvider
}

// Start exports to a collector, such as http://localhost:4318. Nothing waits for it: what it does
// not take is dropped.
func Start(ctx context.Context, collector, service string) (*Telemetry, error) {
	registry := prometheus.NewRegistry()
	reader, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	toMetrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(collector+"/v1/metrics"))
	if err != nil {
		return nil, err
	}
	toTraces, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(collector+"/v1/traces"))
	if err != nil {
		return nil, err
	}
	named := resource.NewSchemaless(semconv.ServiceName(service))
	return &Telemetry{
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		meters:  metric.NewMeterProvider(metric.WithResource(named), metric.WithReader(reader), metric.WithReader(metric.NewPeriodicReader(toMetrics))),
		tracers: trace.NewTracerProvider(trace.WithResource(named), trace.WithBatcher(toTraces)),
	}, nil
}

// Configure gives a platform its providers. Spans continue those of the request's context, so
// wrap Platform.API with the middleware that you already use.
func (t *Telemetry) Configure(c *partnerkit.Config) {
	c.MeterProvider, c.TracerProvider = t.meters, t.tracers
}

// Stop sends what is left. Call it after the platform has stopped.
func (t *Telemetry) Stop(ctx context.Context) error {
	return errors.Join(t.meters.Shutdown(ctx), t.tracers.Shutdown(ctx))
}
