package idempotency_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// inBubble runs a test on a shop in time that passes by itself.
func inBubble(t *testing.T, test func(s *shop), changes ...func(*idempotency.Config)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		test(newShop(t, func(t testing.TB) storage.DB {
			db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: dir + "/shop.db"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return db
		}, changes...))
	})
}

// A handler may take longer than a lease: it is renewed for as long as it runs.
func TestLeaseIsHeld(t *testing.T) {
	inBubble(t, func(s *shop) {
		slow := func(w http.ResponseWriter, r *http.Request) error {
			time.Sleep(10 * time.Minute)
			return s.create(w, r)
		}
		var first response
		done := make(chan struct{})
		go func() {
			defer close(done)
			first = s.serve(slow, keyed("k", "hello"))
		}()
		for range 9 {
			time.Sleep(time.Minute)
			s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		}
		<-done
		first.is(http.StatusCreated, "")
		s.serve(s.create, keyed("k", "hello")).repeats(first)
		s.wantInvoices(1)
	})
}

// An error while renewing does not stop the request; the next renewal holds the key.
func TestLeaseSurvivesAFault(t *testing.T) {
	var log strings.Builder
	inBubble(t, func(s *shop) {
		s.serve(func(w http.ResponseWriter, r *http.Request) error {
			s.Tap.Arm(testdb.FaultError, 1)
			time.Sleep(45 * time.Second)
			s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
			return s.create(w, r)
		}, keyed("k", "hello")).is(http.StatusCreated, "")
		if !strings.Contains(log.String(), "renewing a lease failed") || strings.Contains(log.String(), "hello") {
			s.Errorf("logged %q", log.String())
		}
	}, func(cfg *idempotency.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
}

// The context of a request that has lost its key is cancelled.
func TestLostLeaseEndsTheContext(t *testing.T) {
	inBubble(t, func(s *shop) {
		s.serve(func(_ http.ResponseWriter, r *http.Request) error {
			s.endLeases()
			s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
			<-r.Context().Done()
			if !errors.Is(context.Cause(r.Context()), keystore.ErrLost) {
				s.Errorf("the context ended with %v", context.Cause(r.Context()))
			}
			return r.Context().Err()
		}, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
		s.wantInvoices(1)
	})
}

// Run removes keys after one day on the platform's clock, and continues after an
// error.
func TestRun(t *testing.T) {
	inBubble(t, func(s *shop) {
		for i := range 250 {
			s.serve(func(http.ResponseWriter, *http.Request) error { return nil }, keyed(strings.Repeat("k", i%255+1), "hello"))
		}
		ctx, stop := context.WithCancel(s.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.keys.Run(ctx) }()
		for _, test := range []struct {
			advance time.Duration
			fault   int
			want    int
		}{
			{0, 0, 250},
			{24*time.Hour - time.Second, 0, 250},
			{time.Minute, 1, 250},
			{time.Minute, 0, 0},
		} {
			s.Tap.Arm(testdb.FaultError, test.fault)
			s.clock.Advance(test.advance)
			synctest.Wait()
			s.Tap.Reset()
			var n int
			if err := storage.One(ctx, s.Tap.DB, "SELECT COUNT(*) FROM partnerkit_idempotency_key", nil, &n); err != nil || n != test.want {
				s.Errorf("%d keys, want %d; %v", n, test.want, err)
			}
		}
		stop()
		if err := <-ended; err != nil {
			s.Errorf("ended with %v", err)
		}
	})
}

// keyCounters counts by name.
type keyCounters struct {
	noop.MeterProvider
	mu     sync.Mutex
	counts map[string]int64
}

func (m *keyCounters) Meter(string, ...metric.MeterOption) metric.Meter { return keyMeter{of: m} }

type keyMeter struct {
	noop.Meter
	of *keyCounters
}

func (m keyMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return keyCounter{of: m.of, name: name}, nil
}

type keyCounter struct {
	noop.Int64Counter
	of   *keyCounters
	name string
}

func (c keyCounter) Add(_ context.Context, n int64, _ ...metric.AddOption) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.counts[c.name] += n
}

func TestIdempotencyMetrics(t *testing.T) {
	seen := &keyCounters{counts: map[string]int64{}}
	inBubble(t, func(s *shop) {
		s.serve(func(w http.ResponseWriter, r *http.Request) error {
			s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, codes.IdempotencyConflict.Code)
			return s.create(w, r)
		}, keyed("k", "hello"))
		for range 2 {
			s.serve(s.create, keyed("k", "hello"))
		}
		for range 3 {
			s.serve(s.create, keyed("k", "other"))
		}
		for name, want := range map[string]int64{"conflicts": 1, "replays": 2, "mismatches": 3} {
			if got := seen.counts["partnerkit.idempotency."+name]; got != want {
				s.Errorf("%d %s, want %d", got, name, want)
			}
		}
	}, func(cfg *idempotency.Config) { cfg.MeterProvider = seen })
}
