package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/apierror"
)

const (
	// NotifyTimeout is how long a [Notifier] has for one notification.
	NotifyTimeout = 10 * time.Second
	// notifyGrace is how long Run goes on notifying after its context has ended.
	notifyGrace     = 5 * time.Second
	defaultCapacity = 1000
)

// NotificationsConfig configures [NewNotifications].
type NotificationsConfig struct {
	Notifier Notifier // nil: LogNotifier of Logger
	// Capacity is how many notifications may wait; 0 means 1,000. More are dropped and
	// counted.
	Capacity      int
	Logger        *slog.Logger         // nil: discards
	MeterProvider metric.MeterProvider // nil: no metrics
}

// Notifications is the queue between changes and a [Notifier]. It is safe for concurrent
// use.
type Notifications struct {
	notifier Notifier
	logger   *slog.Logger
	queue    chan Notification
	waiting  atomic.Int64 // queued, or being told
	dropped  metric.Int64Counter
}

// NewNotifications returns an empty queue. [Notifications.Run] empties it.
func NewNotifications(cfg NotificationsConfig) (*Notifications, error) {
	if cfg.Capacity < 0 {
		return nil, errors.New("events: NotificationsConfig.Capacity is negative")
	}
	if cfg.Capacity == 0 {
		cfg.Capacity = defaultCapacity
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Notifier == nil {
		cfg.Notifier = LogNotifier(cfg.Logger)
	}
	if cfg.MeterProvider == nil {
		cfg.MeterProvider = noop.NewMeterProvider()
	}
	dropped, err := cfg.MeterProvider.Meter("github.com/partnerkit/partnerkit/events").Int64Counter("partnerkit.notifications.dropped",
		metric.WithUnit("{notification}"), metric.WithDescription("notifications that found the queue full"))
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &Notifications{notifier: cfg.Notifier, logger: cfg.Logger, queue: make(chan Notification, cfg.Capacity), dropped: dropped}, nil
}

// Tell queues notifications and returns at once. If the queue is full they are dropped
// and counted. Inside of [Notifications.AfterCommit] they wait for its commit.
func (q *Notifications) Tell(ctx context.Context, all ...Notification) {
	if q == nil {
		return
	}
	if pending, ok := ctx.Value(pendingKey{}).(*pending); ok {
		pending.add(all)
		return
	}
	for _, n := range all {
		q.waiting.Add(1)
		select {
		case q.queue <- n:
		default:
			q.waiting.Add(-1)
			q.dropped.Add(ctx, 1)
			q.logger.WarnContext(ctx, "notification dropped", "kind", n.Kind)
		}
	}
}

// pending holds the notifications of a transaction that has not committed.
type pending struct {
	mu  sync.Mutex
	all []Notification
}

type pendingKey struct{}

func (p *pending) add(all []Notification) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, all...)
}

func (p *pending) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = nil
}

// AfterCommit runs a transaction and queues the notifications that were added during it
// once transact has returned without an error. The function transact may run do more than
// once; only the notifications of the last run are queued.
func (q *Notifications) AfterCommit(
	ctx context.Context, transact func(ctx context.Context, do func(ctx context.Context) error) error, do func(ctx context.Context) error,
) error {
	held := new(pending)
	err := transact(ctx, func(ctx context.Context) error {
		held.reset()
		return do(context.WithValue(ctx, pendingKey{}, held))
	})
	if err == nil {
		q.Tell(ctx, held.all...)
	}
	return err
}

// Run calls the Notifier until ctx ends, and then for what is still queued, for up to five
// seconds. It returns the error of ctx, even if the Notifier does not return.
func (q *Notifications) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.run(ctx)
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(notifyGrace):
		q.logger.WarnContext(ctx, "notifier did not return", "queued", len(q.queue))
	}
	return ctx.Err()
}

func (q *Notifications) run(ctx context.Context) {
	for {
		select {
		case n := <-q.queue:
			q.notify(context.WithoutCancel(ctx), n)
		case <-ctx.Done():
			q.drain(context.WithoutCancel(ctx))
			return
		}
	}
}

// drain notifies of what is queued, for a limited time.
func (q *Notifications) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, notifyGrace)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case n := <-q.queue:
			q.notify(ctx, n)
		default:
			return
		}
	}
}

// Settle waits until the Notifier has returned for everything that was queued, while Run
// runs. It returns the error of ctx if that ends first.
func (q *Notifications) Settle(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for q.waiting.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (q *Notifications) notify(ctx context.Context, n Notification) {
	defer q.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, NotifyTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			q.logger.ErrorContext(ctx, "notifier panicked", "kind", n.Kind, "err", apierror.Panicked(cause))
		}
	}()
	if err := q.notifier.Notify(ctx, n); err != nil {
		q.logger.ErrorContext(ctx, "notifier failed", "kind", n.Kind, "err", err)
	}
}
