package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
)

const (
	// notifyTimeout is how long a [Notifier] has for one notification.
	notifyTimeout = 10 * time.Second
	// notifyPatience is how long other notifications wait for a call that ignores the end of
	// its context.
	notifyPatience = notifyTimeout + time.Second
	// notifyCalls is how many calls may be under way. There is more than one only while a
	// call ignores the end of its context.
	notifyCalls = 10
	// notifyGrace is how long Run goes on notifying after its context has ended.
	notifyGrace     = 5 * time.Second
	defaultCapacity = 1000
)

// notifyDelays are the pauses after the first failed call for a notification, the second and
// so on. Their sum is one hour.
var notifyDelays = []time.Duration{
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute,
	15 * time.Minute, 29*time.Minute + 15*time.Second,
}

// The reasons for which notifications are dropped.
const (
	dropFull    = "full"    // too many wait
	dropFailed  = "failed"  // every call failed
	dropStopped = "stopped" // Run returned
)

// NotificationsConfig configures [NewNotifications].
type NotificationsConfig struct {
	Notifier Notifier // nil: LogNotifier of Logger
	// Capacity is how many notifications may wait for their first call, and how many for
	// another one; 0 means 1,000 each. More are dropped and counted.
	Capacity      int
	Clock         clock.Clock          // nil: the real time
	Logger        *slog.Logger         // nil: discards
	MeterProvider metric.MeterProvider // nil: no metrics
}

// Notifications is the queue between changes and a [Notifier]. It is safe for concurrent
// use.
type Notifications struct {
	notifier Notifier
	capacity int
	clock    clock.Clock
	logger   *slog.Logger
	dropped  metric.Int64Counter
	slots    chan struct{} // one for each call under way
	woken    chan struct{} // something was added

	mu       sync.Mutex
	queue    []queued // those that wait for their first call, oldest first
	retries  []queued // those that wait for another call, by due
	calling  int      // how many calls are under way
	isEnding bool     // everything is due, and a call that fails was the last
}

// queued is a notification that waits for a call.
type queued struct {
	Notification
	failed int       // how many calls have failed
	due    time.Time // when the next call is due; zero before the first
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
		metric.WithUnit("{notification}"), metric.WithDescription("notifications that were dropped, by reason"))
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &Notifications{
		notifier: cfg.Notifier, capacity: cfg.Capacity, clock: clock.From(cfg.Clock), logger: cfg.Logger, dropped: dropped,
		slots: make(chan struct{}, notifyCalls), woken: make(chan struct{}, 1),
	}, nil
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
		if !q.add(n) {
			q.drop(ctx, dropFull, n)
		}
	}
}

// add queues a notification and reports whether there was room for it.
func (q *Notifications) add(n Notification) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) >= q.capacity {
		return false
	}
	q.queue = append(q.queue, queued{Notification: n})
	q.wake()
	return true
}

func (q *Notifications) wake() {
	select {
	case q.woken <- struct{}{}:
	default:
	}
}

// drop counts a notification that is lost.
func (q *Notifications) drop(ctx context.Context, reason string, n Notification) {
	q.dropped.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
	q.logger.WarnContext(ctx, "notification dropped", "kind", n.Kind, "reason", reason)
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

// Run calls the Notifier until ctx ends, and then once for what still waits, for up to five
// seconds. It then returns nil, even if the Notifier does not return.
func (q *Notifications) Run(ctx context.Context) error {
	q.setEnding(false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.run(ctx)
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(notifyGrace):
		q.logger.WarnContext(ctx, "notifier did not return")
	}
	q.dropAll(ctx)
	return nil
}

func (q *Notifications) run(ctx context.Context) {
	for ctx.Err() == nil {
		if n, ok, due := q.next(); ok {
			q.call(context.WithoutCancel(ctx), n)
		} else {
			q.wait(ctx, due)
		}
	}
	// Everything that waits is tried now, for a limited time.
	q.setEnding(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyGrace)
	defer cancel()
	for ctx.Err() == nil {
		n, ok, _ := q.next()
		if !ok {
			return
		}
		q.call(ctx, n)
	}
}

// next takes the notification whose call is due, if there is one. Otherwise it returns when
// the next will be due; zero if none waits.
func (q *Notifications) next() (n queued, ok bool, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := &q.queue
	if len(q.queue) == 0 {
		if !q.isDue() {
			if len(q.retries) > 0 {
				due = q.retries[0].due
			}
			return n, false, due
		}
		from = &q.retries
	}
	n = (*from)[0]
	*from = slices.Delete(*from, 0, 1)
	q.calling++
	return n, true, due
}

// isDue reports whether a call is due. Its caller holds the mutex.
func (q *Notifications) isDue() bool {
	return len(q.queue) > 0 || len(q.retries) > 0 && (q.isEnding || !q.retries[0].due.After(q.clock.Now()))
}

// wait returns when something was added, at due unless it is zero, or when ctx ends.
func (q *Notifications) wait(ctx context.Context, due time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !due.IsZero() {
		go func() {
			_ = clock.Wait(ctx, q.clock, due)
			cancel()
		}()
	}
	select {
	case <-q.woken:
	case <-ctx.Done():
	}
}

// call calls the Notifier and returns when the call has, or when others should not wait for
// it any longer.
func (q *Notifications) call(ctx context.Context, n queued) {
	q.slots <- struct{}{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { <-q.slots }()
		err := q.notify(ctx, n.Notification)
		q.finish(ctx, n, err)
	}()
	patience := time.NewTimer(notifyPatience)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		q.logger.WarnContext(ctx, "notifier blocks", "kind", n.Kind)
	}
}

func (q *Notifications) notify(ctx context.Context, n Notification) (err error) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = apierror.Panicked(cause)
		}
	}()
	return q.notifier.Notify(ctx, n)
}

// finish queues a notification again if its call has failed and it may have another one.
func (q *Notifications) finish(ctx context.Context, n queued, err error) {
	reason := ""
	if err != nil {
		q.logger.ErrorContext(ctx, "notifier failed", "kind", n.Kind, "calls", n.failed+1, "err", err)
		reason = q.retry(n)
	}
	if reason != "" {
		q.drop(ctx, reason, n.Notification)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calling--
}

// retry queues a notification for its next call, or returns the reason why there is none.
func (q *Notifications) retry(n queued) (dropped string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.isEnding:
		return dropStopped
	case n.failed == len(notifyDelays):
		return dropFailed
	case len(q.retries) >= q.capacity:
		return dropFull
	}
	n.due = q.clock.Now().Add(notifyDelays[n.failed])
	n.failed++
	at := slices.IndexFunc(q.retries, func(one queued) bool { return one.due.After(n.due) })
	if at < 0 {
		at = len(q.retries)
	}
	q.retries = slices.Insert(q.retries, at, n)
	q.wake()
	return ""
}

func (q *Notifications) setEnding(isEnding bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isEnding = isEnding
}

// dropAll drops everything that waits.
func (q *Notifications) dropAll(ctx context.Context) {
	q.mu.Lock()
	all := slices.Concat(q.queue, q.retries)
	q.queue, q.retries, q.isEnding = nil, nil, true
	q.mu.Unlock()
	for _, n := range all {
		q.drop(ctx, dropStopped, n.Notification)
	}
}

// Settle waits until the Notifier has returned for every notification whose call is due,
// while Run runs. It returns the error of ctx if that ends first.
func (q *Notifications) Settle(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !q.isSettled() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (q *Notifications) isSettled() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calling == 0 && !q.isDue()
}
