package redislimit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// warnEvery is the least time between two warnings, in real time.
const warnEvery = 10 * time.Second

// outage tells the operator that Redis does not respond.
type outage struct {
	logger  *slog.Logger
	mode    OnFailure
	counter metric.Int64Counter
	start   time.Time    // for readings of the monotonic clock
	warnAt  atomic.Int64 // since start
}

func newOutage(config Config) (*outage, error) {
	meter := config.MeterProvider.Meter("github.com/partnerkit/partnerkit/ratelimit/redislimit")
	counter, err := meter.Int64Counter("partnerkit.ratelimit.redis.unavailable",
		metric.WithDescription("Calls of the rate limiter that Redis did not answer."),
		metric.WithUnit("{call}"))
	if err != nil {
		return nil, err
	}
	return &outage{logger: config.Logger, mode: config.OnFailure, counter: counter, start: time.Now()}, nil
}

// report counts every call and warns of one in a while.
func (o *outage) report(ctx context.Context, err error) {
	o.counter.Add(ctx, 1)
	now, at := time.Since(o.start), o.warnAt.Load()
	if now < time.Duration(at) || !o.warnAt.CompareAndSwap(at, int64(now+warnEvery)) {
		return
	}
	o.logger.WarnContext(ctx, "rate limiter: redis does not respond", "err", err, "on_failure", string(o.mode))
}
