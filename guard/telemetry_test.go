package guard_test

import (
	"context"
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
	mu    sync.Mutex
	lines []string
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

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
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

// A span for each call, with app and business; metrics with neither.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	k := newHarness(t, func(c *guard.Config) { c.MeterProvider, c.TracerProvider = seen, tracers{o: seen} })
	inHandler := false
	k.must(k.surface.Handle(guard.Route{Pattern: "GET /spans/{id}", Scope: guard.AnyScope, Handler: func(_ http.ResponseWriter, r *http.Request) error {
		_, inHandler = trace.SpanFromContext(r.Context()).(*span)
		return nil
	}}))
	token := k.token()
	of := fmt.Sprintf("partnerkit.app.id=%s partnerkit.business.id=%s", k.app.ID, business)
	for _, test := range []struct {
		call string
		who  with
		want []string
	}{
		{"GET /spans/7", bearer(token), []string{
			"http.server.request.duration http.request.method=GET http.response.status_class=2xx http.route=/spans/{id}",
			"GET /spans/{id} (server) http.request.method=GET http.response.status_code=200 http.route=/spans/{id} " + of,
		}},
		{"PURGE /anything", bearer(token), []string{
			"http.server.request.duration http.request.method=_OTHER http.response.status_class=4xx",
			"_OTHER (server) http.request.method=_OTHER http.response.status_code=403 " + of,
		}},
		{"GET /panic", bearer(token), []string{
			"http.server.request.duration http.request.method=GET http.response.status_class=5xx http.route=/panic",
			"GET /panic (server) error.type=500 http.request.method=GET http.response.status_code=500 http.route=/panic " + of + " Error",
		}},
		{"GET /invoices", bearer("wrong"), []string{
			"http.server.request.duration http.request.method=GET http.response.status_class=4xx http.route=/invoices",
			"GET /invoices (server) http.request.method=GET http.response.status_code=401 http.route=/invoices",
		}},
		{"GET /profile", k.session(user, business), []string{
			"http.server.request.duration http.request.method=GET http.response.status_class=2xx http.route=/profile",
			"GET /profile (server) http.request.method=GET http.response.status_code=200 http.route=/profile partnerkit.business.id=" + business,
		}},
	} {
		k.send(test.call, test.who)
		if diff := cmp.Diff(test.want, seen.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.call, diff)
		}
	}
	if !inHandler {
		t.Error("the handler is not inside the span")
	}
}

// Refusals are counted by the limit that refused.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	seen := &observer{}
	k := newHarness(t, func(c *guard.Config) { c.MeterProvider = seen })
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
