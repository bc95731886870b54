package webhooks_test

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/webhooks"
)

// meters takes measurements by the names of their instruments, without the prefix
// that all have, and by their attributes.
type meters struct {
	metricnoop.MeterProvider
	mu      sync.Mutex
	sums    map[string]int64
	records map[string][]float64
	gauges  map[string]metric.Float64Callback
}

func newMeters() *meters {
	return &meters{sums: map[string]int64{}, records: map[string][]float64{}, gauges: map[string]metric.Float64Callback{}}
}

const meterPrefix = "partnerkit.webhooks."

func (m *meters) Meter(string, ...metric.MeterOption) metric.Meter { return meter{m: m} }

type meter struct {
	metricnoop.Meter
	m *meters
}

func (m meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{m: m.m, name: name[len(meterPrefix):]}, nil
}

func (m meter) Int64UpDownCounter(name string, _ ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return upDown{m: m.m, name: name[len(meterPrefix):]}, nil
}

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{m: m.m, name: name[len(meterPrefix):]}, nil
}

func (m meter) Float64ObservableGauge(name string, options ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	m.m.gauges[name[len(meterPrefix):]] = metric.NewFloat64ObservableGaugeConfig(options...).Callbacks()[0]
	return metricnoop.Float64ObservableGauge{}, nil
}

type counter struct {
	metricnoop.Int64Counter
	m    *meters
	name string
}

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	c.m.add(c.name, n, options)
}

type upDown struct {
	metricnoop.Int64UpDownCounter
	m    *meters
	name string
}

func (u upDown) Add(_ context.Context, n int64, options ...metric.AddOption) {
	u.m.add(u.name, n, options)
}

func (m *meters) add(name string, n int64, options []metric.AddOption) {
	m.mu.Lock()
	defer m.mu.Unlock()
	attributes := metric.NewAddConfig(options).Attributes()
	for _, kv := range attributes.ToSlice() {
		name += " " + string(kv.Key) + "=" + kv.Value.String()
	}
	m.sums[name] += n
}

type histogram struct {
	metricnoop.Float64Histogram
	m    *meters
	name string
}

func (h histogram) Record(_ context.Context, value float64, _ ...metric.RecordOption) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.m.records[h.name] = append(h.m.records[h.name], value)
}

type observed struct {
	metricnoop.Float64Observer
	value float64
}

func (o *observed) Observe(value float64, _ ...metric.ObserveOption) { o.value = value }

// read reads a gauge.
func (m *meters) read(t *testing.T, name string) float64 {
	t.Helper()
	var o observed
	if err := m.gauges[name](t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	return o.value
}

// takeSums returns what was counted since it was called before.
func (m *meters) takeSums() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := m.sums
	m.sums = map[string]int64{}
	maps.DeleteFunc(sums, func(_ string, n int64) bool { return n == 0 })
	return sums
}

func (m *meters) takeRecords() map[string][]float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	records := m.records
	m.records = map[string][]float64{}
	return records
}

// measured runs a test on a harness whose dispatcher is measured.
func measured(t *testing.T, test func(t *testing.T, r *harness, m *meters)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newMeters()
		r := newHarness(t, webhooks.Config{MeterProvider: m})
		r.start()
		test(t, r, m)
	})
}

func wantSame(t *testing.T, when string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// Deliveries are counted as they are queued, arrive, fail, and fail for good.
func TestMetricsOfDeliveries(t *testing.T) {
	t.Parallel()
	type counts = map[string]int64
	measured(t, func(t *testing.T, r *harness, m *meters) {
		a := r.app(endpoint, "invoice.created")
		r.record(a.business, "invoice.created")
		r.record(a.business, "invoice.created")
		r.record(a.business, "invoice.paid") // no webhook subscribes to it
		r.settle()
		wantSame(t, "two that arrive", counts{"queued": 2, "delivered": 2}, m.takeSums())

		r.net.handle(endpoint, response(http.StatusInternalServerError))
		r.record(a.business, "invoice.created")
		r.settle()
		wantSame(t, "one that fails", counts{"queued": 1, "retried": 1}, m.takeSums())
		for range 4 {
			r.advance(7 * time.Hour)
		}
		wantSame(t, "and again", counts{"retried": 4}, m.takeSums())
		r.advance(7 * time.Hour)
		wantSame(t, "for good", counts{"failed": 1}, m.takeSums())

		r.net.handle(endpoint, hang)
		r.record(a.business, "invoice.created")
		r.settle()
		wantSame(t, "under way", counts{"queued": 1, "in_flight": 1}, m.takeSums())
		time.Sleep(webhooks.AttemptTimeout)
		synctest.Wait()
		wantSame(t, "no longer", counts{"in_flight": -1, "retried": 1}, m.takeSums())
	})
}

// What is not sent is counted by what kept it back, and is neither in flight nor a
// failure.
func TestMetricsOfDrops(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{
		"off": "webhook_off", "suspended": "app_not_active", "deactivated": "app_not_active", "uninstalled": "app_not_installed",
		"app narrowed": "scope_missing", "installation narrowed": "scope_missing", "deleted": "webhook_deleted",
	}
	for name, reason := range reasons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			measured(t, func(t *testing.T, r *harness, m *meters) {
				a := r.app(endpoint, "invoice.created")
				r.net.handle(endpoint, response(http.StatusInternalServerError))
				r.record(a.business, "invoice.created")
				r.settle()
				m.takeSums()
				if name == "deleted" {
					r.must(r.DeleteWebhook(t.Context(), a.ID, a.webhook.ID, r.clock.Now()))
				} else {
					r.must(gates[name].close(r, a))
				}
				r.advance(time.Hour)
				wantSame(t, name, map[string]int64{"dropped reason=" + reason: 1}, m.takeSums())
			})
		})
	}
}

// Attempts are timed; and how long an event has waited for its first one, which is
// not that of a redelivery.
func TestMetricsOfTime(t *testing.T) {
	t.Parallel()
	type times = map[string][]float64
	measured(t, func(t *testing.T, r *harness, m *meters) {
		a := r.app(endpoint, "invoice.created")
		r.net.handle(endpoint, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(3 * time.Second)
			w.WriteHeader(http.StatusInternalServerError)
		})
		r.halt()
		r.record(a.business, "invoice.created")
		time.Sleep(2 * time.Second)
		r.start()
		r.settle()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantSame(t, "the first attempt", times{"first_attempt.delay": {2}, "attempt.duration": {3}}, m.takeRecords())
		for range 5 {
			r.advance(7 * time.Hour)
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		wantSame(t, "the others", times{"attempt.duration": {3, 3, 3, 3, 3}}, m.takeRecords())
		d, _ := r.only(a)
		_, err := r.svc.Redeliver(t.Context(), a.ID, a.webhook.ID, d.ID)
		r.must(err)
		r.settle()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantSame(t, "again", times{"attempt.duration": {3}}, m.takeRecords())
	})
}

// The age of the oldest delivery that waits shows an endpoint that cannot keep up;
// to read it costs the database nothing.
func TestMetricsOfTheOldest(t *testing.T) {
	t.Parallel()
	measured(t, func(t *testing.T, r *harness, m *meters) {
		const oldest = "oldest_due.age"
		a := r.app(endpoint, "invoice.created")
		r.net.handle(endpoint, hang)
		for range 3 {
			r.record(a.business, "invoice.created")
		}
		var ages []float64
		for _, pause := range []time.Duration{8, 8, 16} { // the last begins after 20 seconds
			time.Sleep(pause * time.Second)
			synctest.Wait()
			statements, _ := r.Tap.Counts()
			ages = append(ages, m.read(t, oldest))
			if after, _ := r.Tap.Counts(); after != statements {
				t.Errorf("reading costs %d statements", after-statements)
			}
		}
		wantSame(t, "ages", []float64{8, 16, 0}, ages)
	})
}
