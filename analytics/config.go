package analytics

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/clock"
)

const (
	defaultFlushEvery = 10 * time.Second
	defaultMaxBuckets = 10_000
)

// Config of a [Counter]. Store is required; the zero value of everything else is
// its default.
type Config struct {
	Store Store

	// Clock says what today is in reports, when to flush and what is old enough
	// to be purged; nil means the real time.
	Clock clock.Movable
	// Logger hears of flushes that failed and of dropped calls; nil discards.
	Logger *slog.Logger

	// FlushEvery is how long counts stay in memory; 0 means 10 seconds.
	FlushEvery time.Duration
	// MaxBuckets is how many apps and hours may wait in memory, some 250 bytes
	// each; 0 means 10,000. When half of them do they are flushed at once. See
	// the package comment for what happens at the limit.
	MaxBuckets int

	// MeterProvider gets partnerkit.analytics.buckets, how many buckets wait in
	// memory, and partnerkit.analytics.dropped, how many calls were dropped
	// since there were too many. Nil means none.
	MeterProvider metric.MeterProvider
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.FlushEvery == 0 {
		c.FlushEvery = defaultFlushEvery
	}
	if c.MaxBuckets == 0 {
		c.MaxBuckets = defaultMaxBuckets
	}
	if c.MeterProvider == nil {
		c.MeterProvider = noop.NewMeterProvider()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Store == nil:
		return errors.New("analytics: Config.Store is nil")
	case c.FlushEvery < 0:
		return fmt.Errorf("analytics: Config.FlushEvery is negative, %v", c.FlushEvery)
	case c.MaxBuckets < 0:
		return fmt.Errorf("analytics: Config.MaxBuckets is negative, %d", c.MaxBuckets)
	}
	return nil
}
