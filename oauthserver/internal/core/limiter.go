package core

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// countedLimiter counts the requests that limits and lockouts reject, for operators.
type countedLimiter struct {
	ratelimit.Limiter
	refusals metric.Int64Counter
}

// CountRefusals returns a limiter that counts what it rejects, if there is a meter.
func CountRefusals(limiter ratelimit.Limiter, meters metric.MeterProvider) (ratelimit.Limiter, error) {
	if meters == nil {
		return limiter, nil
	}
	refusals, err := meters.Meter("github.com/partnerkit/partnerkit/oauthserver").Int64Counter("partnerkit.oauth.refusals",
		metric.WithUnit("{request}"), metric.WithDescription("Requests of the OAuth server that a limit or a lockout refused."))
	if err != nil {
		return nil, err
	}
	return countedLimiter{limiter, refusals}, nil
}

// Check implements ratelimit.Limiter.
func (l countedLimiter) Check(ctx context.Context, now time.Time, req ratelimit.Request) (ratelimit.Result, error) {
	result, err := l.Limiter.Check(ctx, now, req)
	l.count(ctx, result, err)
	return result, err
}

// Fail implements ratelimit.Limiter.
func (l countedLimiter) Fail(ctx context.Context, now time.Time, failed ratelimit.Lockouts) (ratelimit.Result, error) {
	result, err := l.Limiter.Fail(ctx, now, failed)
	l.count(ctx, result, err)
	return result, err
}

func (l countedLimiter) count(ctx context.Context, result ratelimit.Result, err error) {
	if err == nil && !result.Allowed {
		l.refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("by", string(result.Refusal))))
	}
}
