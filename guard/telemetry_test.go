package guard_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
)

// observer takes spans and measurements, one line each.
type observer struct {
	metricnoop.MeterProvider
	mu         sync.Mutex
	lines      []string
	histograms []string // with unit and boundaries
}

func (o *observer) add(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

func (o *observer) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := o.lines
	o.lines = nil
	return lines
}

func show(set attribute.Set) string {
	var all []string
	for _, kv := range set.ToSlice() {
		all = append(all, string(kv.Key)+"="+kv.Value.String())
	}
	return strings.Join(all, " ")
}

func (o *observer) Meter(string, ...metric.MeterOption) metric.Meter { return meter{o: o} }

type meter struct {
	metricnoop.Meter
	o *observer
}

func (m meter) Float64Histogram(name string, options ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	config := metric.NewFloat64HistogramConfig(options...)
	m.o.histograms = append(m.o.histograms, fmt.Sprint(name, " ", config.Unit(), " ", config.ExplicitBucketBoundaries()))
	return histogram{o: m.o, name: name}, nil
}

func (m meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{o: m.o, name: name}, nil
}

type histogram struct {
	metricnoop.Float64Histogram
	o    *observer
	name string
}

func (h histogram) Record(_ context.Context, _ float64, options ...metric.RecordOption) {
	h.o.add("%s %s", h.name, show(metric.NewRecordConfig(options).Attributes()))
}

type counter struct {
	metricnoop.Int64Counter
	o    *observer
	name string
}

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	c.o.add("%s %d %s", c.name, n, show(metric.NewAddConfig(options).Attributes()))
}

type tracers struct {
	tracenoop.TracerProvider
	o *observer
}

func (t tracers) Tracer(string, ...trace.TracerOption) trace.Tracer { return tracer{o: t.o} }

type tracer struct {
	tracenoop.Tracer
	o *observer
}

func (t tracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(options...)
	s := &span{o: t.o, name: name + " (" + config.SpanKind().String() + ")", attributes: config.Attributes()}
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	tracenoop.Span
	o          *observer
	name       string
	attributes []attribute.KeyValue
	failed     string
}

func (s *span) SetAttributes(kv ...attribute.KeyValue) { s.attributes = append(s.attributes, kv...) }
func (s *span) SetStatus(code codes.Code, _ string)    { s.failed = " " + code.String() }
func (s *span) End(...trace.SpanEndOption) {
	s.o.add("%s %s%s", s.name, show(attribute.NewSet(s.attributes...)), s.failed)
}

// A span for each call, with app and business; metrics with neither. Both follow
// OpenTelemetry's semantic conventions for HTTP.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	k := newAPI(t, func(c *guard.Config) { c.MeterProvider, c.TracerProvider = seen, tracers{o: seen} })
	if diff := cmp.Diff([]string{"http.server.request.duration s [0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10]"}, seen.histograms); diff != "" {
		t.Errorf("histograms (-want +got):\n%s", diff)
	}
	inHandler := false
	k.Must(k.surface.Handle(guard.Route{Pattern: "GET /spans/{id}", Scope: guard.AnyScope, Handler: func(_ http.ResponseWriter, r *http.Request) error {
		_, inHandler = trace.SpanFromContext(r.Context()).(*span)
		return nil
	}}))
	token := k.token()
	app, ofBusiness := " partnerkit.app.id="+k.app.ID, " partnerkit.business.id="+business
	const version, scheme = " network.protocol.version=1.1", " url.scheme=http"
	for _, test := range []struct {
		call   string
		who    with
		span   string
		labels string // before the version of HTTP, of both metric and span
		of     string
		status string
	}{
		{"GET /spans/7", bearer(token), "GET /spans/{id}", "http.request.method=GET http.response.status_code=200 http.route=/spans/{id}", app + ofBusiness, ""},
		{"PURGE /anything", bearer(token), "_OTHER", "http.request.method=_OTHER http.response.status_code=403", app + ofBusiness, ""},
		{"get /spans/7", bearer(token), "_OTHER", "http.request.method=_OTHER http.response.status_code=403", app + ofBusiness, ""},
		{"TRACE /anything", bearer(token), "TRACE", "http.request.method=TRACE http.response.status_code=403", app + ofBusiness, ""},
		{"QUERY /anything", bearer(token), "QUERY", "http.request.method=QUERY http.response.status_code=403", app + ofBusiness, ""},
		{"GET /panic", bearer(token), "GET /panic", "error.type=500 http.request.method=GET http.response.status_code=500 http.route=/panic", app + ofBusiness, " Error"},
		{"GET /invoices", bearer("wrong"), "GET /invoices", "http.request.method=GET http.response.status_code=401 http.route=/invoices", "", ""},
		{"GET /profile", k.session(user, business), "GET /profile", "http.request.method=GET http.response.status_code=200 http.route=/profile", ofBusiness, ""},
	} {
		k.send(test.call, test.who)
		want := []string{
			"http.server.request.duration " + test.labels + version + scheme,
			test.span + " (server) " + test.labels + version + test.of + scheme + test.status,
		}
		if diff := cmp.Diff(want, seen.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.call, diff)
		}
	}
	if !inHandler {
		t.Error("the handler is not inside the span")
	}
}

// The scheme is that of the public URL, or of the connection; the version is one that
// exists.
func TestTelemetryOfProtocols(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scheme string
		change with
		want   string
	}{
		{"plain", "", func(*http.Request) {}, "network.protocol.version=1.1 url.scheme=http"},
		{"TLS", "", func(r *http.Request) { r.TLS = &tls.ConnectionState{} }, "network.protocol.version=1.1 url.scheme=https"},
		{"behind a proxy", "https", func(*http.Request) {}, "network.protocol.version=1.1 url.scheme=https"},
		{"forwarded by anybody", "", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "gopher") }, "network.protocol.version=1.1 url.scheme=http"},
		{"1.0", "", func(r *http.Request) { r.ProtoMinor = 0 }, "network.protocol.version=1.0 url.scheme=http"},
		{"1.7", "", func(r *http.Request) { r.ProtoMinor = 7 }, "network.protocol.version=1.1 url.scheme=http"},
		{"2", "", func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 2, 0 }, "network.protocol.version=2 url.scheme=http"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := &observer{}
			k := newAPI(t, func(c *guard.Config) { c.MeterProvider, c.Scheme = seen, test.scheme })
			k.send("GET /invoices", bearer(k.token()), test.change)
			want := []string{"http.server.request.duration http.request.method=GET http.response.status_code=200 http.route=/invoices " + test.want}
			if diff := cmp.Diff(want, seen.take()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := guard.New(guard.Config{Tokens: newAPI(t).OAuth, Scheme: "gopher"}); err == nil {
		t.Error("a scheme that the API cannot have is accepted")
	}
}

// Refusals are counted by the limit that refused.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	k := newAPI(t, func(c *guard.Config) { c.MeterProvider = seen })
	token := k.grant(business, identity.MustScopes("invoices:read")).Access
	for range 300 {
		k.send("GET /nothing", bearer(token))
	}
	for range 600 {
		k.send("GET /nothing", bearer("wrong"))
	}
	seen.take()
	k.send("GET /nothing", bearer(token))
	k.send("GET /nothing", bearer("wrong"))
	var refusals []string
	for _, line := range seen.take() {
		if strings.HasPrefix(line, "partnerkit.guard.rate_limited") {
			refusals = append(refusals, line)
		}
	}
	want := []string{"partnerkit.guard.rate_limited 1 limit=app and business", "partnerkit.guard.rate_limited 1 limit=address"}
	if diff := cmp.Diff(want, refusals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
