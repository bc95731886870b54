package analytics

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/clock"
)

const (
	defaultFlushEvery = 10 * time.Second
	defaultMaxBuckets = 10_000
)

// Config of a [Counter]. Store is required; the zero value of everything else is
// its default.
type Config struct {
	Store callstore.Store

	// Clock determines the current day in reports, the time of flushes and the age of purged
	// records; nil means real time.
	Clock clock.Clock
	// Logger receives failed flushes and dropped calls; nil discards them.
	Logger *slog.Logger

	// Retention is how long counts are kept; 0 means [Retention], which is the most.
	Retention time.Duration
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
	c.Clock = clock.From(c.Clock)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Retention == 0 {
		c.Retention = Retention
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
	case c.Retention < 0 || c.Retention > Retention:
		return fmt.Errorf("analytics: Config.Retention is %v; it must be at most %v", c.Retention, Retention)
	case c.MaxBuckets < 0:
		return fmt.Errorf("analytics: Config.MaxBuckets is negative, %d", c.MaxBuckets)
	}
	return nil
}
