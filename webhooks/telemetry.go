package webhooks

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// telemetry holds the metrics. None of them is computed by reading tables.
type telemetry struct {
	queued, delivered, retried, failed, dropped metric.Int64Counter
	inFlight                                    metric.Int64UpDownCounter
	duration, delay                             metric.Float64Histogram
	oldest                                      atomic.Int64 // Unix milliseconds of the oldest due time; 0: nothing is due
}

var seconds = metric.WithUnit("s")

func newTelemetry(meters metric.MeterProvider, clock clock.Clock) (*telemetry, error) {
	t, meter := &telemetry{}, meters.Meter("github.com/partnerkit/partnerkit/webhooks")
	var errs []error
	counter := func(name, description string) metric.Int64Counter {
		c, err := meter.Int64Counter("partnerkit.webhooks."+name, metric.WithUnit("{delivery}"), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	histogram := func(name, description string, bounds ...float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram("partnerkit.webhooks."+name, seconds, metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		errs = append(errs, err)
		return h
	}
	t.queued = counter("queued", "Deliveries that were queued for events.")
	t.delivered = counter("delivered", "Deliveries that arrived.")
	t.retried = counter("retried", "Attempts that failed and are to be repeated.")
	t.failed = counter("failed", "Deliveries that failed for good after their last attempt.")
	t.dropped = counter("dropped", "Deliveries that were not sent, by reason.")
	t.duration = histogram("attempt.duration", "How long attempts take.", 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
	t.delay = histogram("first_attempt.delay", "From the recording of an event to its first attempt.", 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600)
	var err error
	t.inFlight, err = meter.Int64UpDownCounter("partnerkit.webhooks.in_flight", metric.WithUnit("{attempt}"), metric.WithDescription("Attempts under way."))
	errs = append(errs, err)
	_, err = meter.Float64ObservableGauge("partnerkit.webhooks.oldest_due.age", seconds,
		metric.WithDescription("How long the oldest delivery of this node's shards that is due has been waiting, as far as the node has looked."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			age := 0.0
			if oldest := t.oldest.Load(); oldest != 0 {
				age = max(0, clock.Now().Sub(time.UnixMilli(oldest)).Seconds())
			}
			o.Observe(age)
			return nil
		}))
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("webhooks: metrics: %w", err)
	}
	return t, nil
}

// begin and end are around an attempt; count is for what it came to, once that is
// recorded.

func (t *telemetry) begin(ctx context.Context, due webhookstore.Due, now time.Time) {
	t.inFlight.Add(ctx, 1)
	isFirst := due.Attempts == 0 && due.Round == 0
	if recorded, ok := id.Time(id.Event, due.EventID); ok && isFirst {
		t.delay.Record(ctx, max(0, now.Sub(recorded).Seconds()))
	}
}

func (t *telemetry) end(ctx context.Context, o webhookstore.Outcome) {
	t.inFlight.Add(ctx, -1)
	t.duration.Record(ctx, o.Attempt.Duration.Seconds())
}

func (t *telemetry) count(ctx context.Context, o webhookstore.Outcome) {
	switch {
	case o.Attempt == nil: // dropped
	case o.Status == partner.DeliveryDelivered:
		t.delivered.Add(ctx, 1)
	case o.Status == partner.DeliveryRetrying:
		t.retried.Add(ctx, 1)
	default:
		t.failed.Add(ctx, 1)
	}
}

func (t *telemetry) drop(ctx context.Context, reason gate) {
	t.dropped.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", string(reason))))
}
