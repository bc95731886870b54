package analytics_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var errDown = errors.New("the store is down")

// harness is a counter on SQLite whose store can be down, with its log and metrics.
type harness struct {
	*analytics.Counter
	*gauges
	env   *testdb.Env
	clock *clock.Manual
	down  atomic.Bool
	log   logtest.Buffer
	uses  []int // in each batch that was written
}

func newHarness(t testing.TB, cfg analytics.Config) *harness {
	t.Helper()
	r := &harness{env: testdb.NewEnv(t, testdb.SQLite), clock: clock.NewManual(noon), gauges: newGauges()}
	cfg.Store, cfg.MeterProvider, cfg.Logger = (*flaky)(r), r.gauges, slog.New(slog.NewTextHandler(&r.log, nil))
	if cfg.Clock == nil {
		cfg.Clock = r.clock
	}
	counter, err := analytics.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Counter = counter
	return r
}

// call counts a good call that took no time.
func (r *harness) call(appID string) {
	r.Count(analytics.Call{AppID: appID, At: r.clock.Now(), Status: 200})
}

func (r *harness) flush(t testing.TB) {
	t.Helper()
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// stored returns the buckets of an app as they are in the store, unflushed.
func (r *harness) stored(t testing.TB, appID string) []callstore.Bucket {
	t.Helper()
	buckets, err := r.env.Calls(context.WithoutCancel(t.Context()), appID, noon.AddDate(-5, 0, 0), noon.AddDate(5, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return buckets
}

func (r *harness) storedCalls(t testing.TB, appID string) int64 {
	t.Helper()
	var sum callstore.Counts
	for _, b := range r.stored(t, appID) {
		sum.Add(b.Counts)
	}
	return sum.Calls
}

// flaky is the harness's store.
type flaky harness

func (f *flaky) AddCalls(ctx context.Context, batch callstore.Batch) error {
	if f.down.Load() {
		return errDown
	}
	if n := len(batch.Uses); n > 0 {
		f.uses = append(f.uses, n)
	}
	return f.env.AddCalls(ctx, batch)
}

func (f *flaky) Calls(ctx context.Context, appID string, from, to time.Time) ([]callstore.Bucket, error) {
	return f.env.Calls(ctx, appID, from, to)
}

func (f *flaky) LastUses(ctx context.Context, installationIDs []string) (map[string]time.Time, error) {
	return f.env.LastUses(ctx, installationIDs)
}

func (f *flaky) CallGroups(ctx context.Context, q callstore.GroupQuery) ([]callstore.Group, error) {
	return f.env.CallGroups(ctx, q)
}

func (f *flaky) Usage(ctx context.Context, q callstore.UsageQuery) ([]callstore.Usage, error) {
	return f.env.Usage(ctx, q)
}

func (f *flaky) Requests(ctx context.Context, q callstore.RequestQuery) ([]callstore.Request, error) {
	return f.env.Requests(ctx, q)
}

func (f *flaky) TrimRequests(ctx context.Context, appID string, keep, limit int) (int, error) {
	return f.env.TrimRequests(ctx, appID, keep, limit)
}

func (f *flaky) Purge(ctx context.Context, p storage.Purge) (int, error) {
	if f.down.Load() {
		return 0, errDown
	}
	return f.env.Purge(ctx, p)
}

// gauges is a meter that asks when it is asked.
type gauges struct {
	noop.MeterProvider
	callbacks map[string]metric.Int64Callback
}

func newGauges() *gauges { return &gauges{callbacks: map[string]metric.Int64Callback{}} }

func (g *gauges) observed(t testing.TB, name string) int64 {
	t.Helper()
	callback := g.callbacks["partnerkit.analytics."+name]
	if callback == nil {
		t.Fatalf("no metric %s", name)
	}
	var seen observer
	if err := callback(t.Context(), &seen); err != nil {
		t.Fatal(err)
	}
	return seen.value
}

func (g *gauges) Meter(string, ...metric.MeterOption) metric.Meter { return meter{g: g} }

type meter struct {
	noop.Meter
	g *gauges
}

func (m meter) Int64ObservableGauge(name string, options ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	m.g.callbacks[name] = metric.NewInt64ObservableGaugeConfig(options...).Callbacks()[0]
	return noop.Int64ObservableGauge{}, nil
}

func (m meter) Int64ObservableCounter(name string, options ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	m.g.callbacks[name] = metric.NewInt64ObservableCounterConfig(options...).Callbacks()[0]
	return noop.Int64ObservableCounter{}, nil
}

type observer struct {
	noop.Int64Observer
	value int64
}

func (o *observer) Observe(value int64, _ ...metric.ObserveOption) { o.value = value }
