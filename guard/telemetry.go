package guard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnerkit/partnerkit/analytics"
)

const scopeName = "github.com/partnerkit/partnerkit/guard"

// telemetry holds metrics and the tracer. Metrics have nothing in them that a client
// chooses freely; which app and business it was stands on the span.
type telemetry struct {
	scheme   string       // of the public URL; empty: that of the connection
	tracer   trace.Tracer // nil: no spans
	duration metric.Float64Histogram
	refusals metric.Int64Counter // nil, like duration: no metrics
}

func newTelemetry(cfg Config) (*telemetry, error) {
	t := &telemetry{scheme: cfg.Scheme}
	if cfg.TracerProvider != nil {
		t.tracer = cfg.TracerProvider.Tracer(scopeName)
	}
	if cfg.MeterProvider == nil {
		return t, nil
	}
	var errs [2]error
	meter := cfg.MeterProvider.Meter(scopeName)
	t.duration, errs[0] = meter.Float64Histogram("http.server.request.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of calls of the API."),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10))
	t.refusals, errs[1] = meter.Int64Counter("partnerkit.guard.rate_limited",
		metric.WithUnit("{call}"), metric.WithDescription("Calls of the API that a rate limit refused."))
	return t, errors.Join(errs[:]...)
}

// begin opens the span of a call; nil when there is none.
func (t *telemetry) begin(r *http.Request, c *call) (context.Context, trace.Span) {
	if t.tracer == nil {
		return r.Context(), nil
	}
	name := methodName(r.Method)
	if c.route != nil {
		name += " " + c.route.path
	}
	return t.tracer.Start(r.Context(), name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(t.labels(r, c)...))
}

// finish counts the result of a call. A handler that panicked has cut its response short,
// which counts as a failure for every status, unless the client has disconnected.
func (s *Surface) finish(ctx context.Context, r *http.Request, c *call, span trace.Span, finished bool) {
	status, took := c.status, time.Since(c.started)
	isGone := errors.Is(context.Cause(r.Context()), context.Canceled)
	switch {
	case !finished && !isGone:
		status = http.StatusInternalServerError
	case !finished && status == 0:
		status = http.StatusBadRequest
	}
	s.tellAnalytics(r, c, status, took)
	s.telemetry.measure(ctx, r, c, status, took)
	if span != nil {
		describe(span, c, status)
		span.End()
	}
}

// tellAnalytics counts and logs the call of an app.
func (s *Surface) tellAnalytics(r *http.Request, c *call, status int, took time.Duration) {
	if s.cfg.Analytics == nil || !c.keepsError {
		return
	}
	who := c.principal
	if !c.isOAuth() {
		who = c.dead
	}
	called := analytics.Call{
		AppID: who.AppID, InstallationID: who.InstallationID, BusinessID: who.BusinessID, At: c.now, Took: took, Method: methodName(r.Method), Status: status, Bytes: c.bytes,
		RateLimited: c.refusedBy != "", HasDeadToken: !c.isOAuth(), Code: string(c.code), RequestID: c.Header().Get("X-Request-Id"), Error: c.errorBody,
	}
	if c.route != nil {
		called.Route = c.route.Pattern
	}
	s.cfg.Analytics.Count(called)
}

func (t *telemetry) measure(ctx context.Context, r *http.Request, c *call, status int, took time.Duration) {
	if t.duration == nil {
		return
	}
	t.duration.Record(ctx, took.Seconds(), metric.WithAttributes(append(t.labels(r, c), outcome(status)...)...))
	if c.refusedBy != "" {
		t.refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("limit", string(c.refusedBy))))
	}
}

func describe(span trace.Span, c *call, status int) {
	span.SetAttributes(outcome(status)...)
	if c.id != "" {
		span.SetAttributes(attribute.String("partnerkit.request.id", c.id))
	}
	if c.isOAuth() {
		span.SetAttributes(attribute.String("partnerkit.app.id", c.principal.AppID))
	}
	if c.principal.BusinessID != "" {
		span.SetAttributes(attribute.String("partnerkit.business.id", c.principal.BusinessID))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// labels returns what span and metric say about a request, by OpenTelemetry's semantic
// conventions for HTTP. No value is chosen freely by a client.
func (t *telemetry) labels(r *http.Request, c *call) []attribute.KeyValue {
	labels := make([]attribute.KeyValue, 0, 6) // with those of outcome
	labels = append(labels,
		attribute.String("http.request.method", methodName(r.Method)),
		attribute.String("url.scheme", t.schemeOf(r)),
		attribute.String("network.protocol.version", protocolVersion(r)))
	if c.route != nil {
		labels = append(labels, attribute.String("http.route", c.route.path))
	}
	return labels
}

// outcome returns what span and metric say about a response.
func outcome(status int) []attribute.KeyValue {
	labels := []attribute.KeyValue{attribute.Int("http.response.status_code", status)}
	if status >= http.StatusInternalServerError {
		labels = append(labels, attribute.String("error.type", strconv.Itoa(status)))
	}
	return labels
}

// knownMethods are those of RFC 9110, PATCH and QUERY: the ones that the semantic
// conventions know.
var knownMethods = append(slices.Clone(methods), http.MethodOptions, http.MethodConnect, http.MethodTrace, "QUERY")

func methodName(method string) string {
	if slices.Contains(knownMethods, method) {
		return method
	}
	return "_OTHER"
}

func (t *telemetry) schemeOf(r *http.Request) string {
	switch {
	case t.scheme != "":
		return t.scheme
	case r.TLS != nil:
		return "https"
	}
	return "http"
}

// protocolVersion returns the version of HTTP. A minor version that does not exist is
// treated like 1.1, as net/http does.
func protocolVersion(r *http.Request) string {
	switch {
	case r.ProtoMajor > 1:
		return strconv.Itoa(r.ProtoMajor)
	case r.ProtoMinor == 0:
		return "1.0"
	}
	return "1.1"
}
