package oauthserver_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// meters counts what is added to any counter, by the attribute "by".
type meters struct {
	noop.MeterProvider
	mu    sync.Mutex
	added map[string]int64
}

func (m *meters) Meter(string, ...metric.MeterOption) metric.Meter { return meter{m: m} }

type meter struct {
	noop.Meter
	m *meters
}

func (m meter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{m: m.m}, nil
}

type counter struct {
	noop.Int64Counter
	m *meters
}

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	attributes := metric.NewAddConfig(options).Attributes()
	by, _ := attributes.Value("by")
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.added[by.AsString()] += n
}

// LOCK-01, OLIM-03: operators see how often a lockout and a limit refused.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	m := &meters{added: map[string]int64{}}
	k := newAPIHarness(t, func(c *oauthserver.Config) { c.MeterProvider = m })
	for range 33 { // 31 fail, 2 are locked out
		k.token(withBasic(confidentialID, "wrong"), "grant_type", "refresh_token", "refresh_token", "x")
	}
	for range 31 { // one more than the limit
		k.post("/oauth/device/authorize", k.as(confidentialID))
	}
	if m.added["lockout"] != 2 || m.added["counter"] != 1 || len(m.added) != 2 {
		t.Errorf("counted %v", m.added)
	}
	if got := k.post("/oauth/device/authorize", k.as(confidentialID)); got.Status != http.StatusTooManyRequests {
		t.Errorf("over the limit: %d", got.Status)
	}
}
