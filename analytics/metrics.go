package analytics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"
)

// observe registers the metrics. They are read when a collector asks, so that
// counting a call pays nothing for them.
func (c *Counter) observe() error {
	meter := c.cfg.MeterProvider.Meter("github.com/partnerkit/partnerkit/analytics")
	_, err := meter.Int64ObservableGauge("partnerkit.analytics.buckets",
		metric.WithDescription("Buckets of counted calls that wait in memory."),
		metric.WithUnit("{bucket}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(c.waiting.Load())
			return nil
		}))
	if err != nil {
		return fmt.Errorf("analytics: metric: %w", err)
	}
	_, err = meter.Int64ObservableCounter("partnerkit.analytics.dropped",
		metric.WithDescription("Calls that were not counted since too many buckets wait in memory."),
		metric.WithUnit("{call}"),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(c.dropped.Load())
			return nil
		}))
	if err != nil {
		return fmt.Errorf("analytics: metric: %w", err)
	}
	return nil
}
