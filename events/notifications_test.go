package events_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
)

// notified is a queue whose Notifier is a function, while Run runs.
func notified(t *testing.T, capacity int, notify events.NotifierFunc) (queue *events.Notifications, stop func() error) {
	t.Helper()
	return notifiedWith(t, events.NotificationsConfig{Notifier: notify, Capacity: capacity})
}

// notifiedWith is a queue with a configuration, while Run runs.
func notifiedWith(t *testing.T, cfg events.NotificationsConfig) (queue *events.Notifications, stop func() error) {
	t.Helper()
	queue, err := events.NewNotifications(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- queue.Run(ctx) }()
	return queue, func() error { cancel(); return <-done }
}

// droppedCounter stores the reasons that partnerkit.notifications.dropped was counted with.
type droppedCounter struct {
	noop.MeterProvider
	mu      sync.Mutex
	reasons []string
}

func (d *droppedCounter) Meter(string, ...metric.MeterOption) metric.Meter { return dropMeter{d: d} }

type dropMeter struct {
	noop.Meter
	d *droppedCounter
}

func (m dropMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if name != "partnerkit.notifications.dropped" {
		return nil, errors.New("an unknown counter: " + name)
	}
	return dropCounter{d: m.d}, nil
}

type dropCounter struct {
	noop.Int64Counter
	d *droppedCounter
}

func (c dropCounter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	attributes := metric.NewAddConfig(options).Attributes()
	reason, _ := attributes.Value("reason")
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	for range n {
		c.d.reasons = append(c.d.reasons, reason.AsString())
	}
}

// take returns the reasons since the last call.
func (d *droppedCounter) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	reasons := d.reasons
	d.reasons = nil
	return reasons
}

func TestNotifier(t *testing.T) {
	t.Parallel()
	t.Run("OPS-03 a notifier that blocks delays nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			release, calls := make(chan struct{}), 0
			queue, stop := notified(t, 2, func(context.Context, events.Notification) error {
				calls++
				<-release // it ignores its context
				return nil
			})
			begun := time.Now()
			for range 10 {
				queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated})
			}
			if took := time.Since(begun); took > 0 {
				t.Errorf("Tell blocked for %v", took)
			}
			synctest.Wait()
			if err := stop(); err != nil || time.Since(begun) > 6*time.Second {
				t.Errorf("Run returned %v after %v", err, time.Since(begun))
			}
			close(release)
			synctest.Wait()
			if calls > 3 {
				t.Errorf("%d calls with room for 2 in the queue", calls)
			}
		})
	})
	t.Run("OPS-03 a notifier that blocks for one notification delays no other", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			var told []events.NotificationKind
			queue, stop := notified(t, 0, func(_ context.Context, n events.Notification) error {
				if n.Kind == events.NotifyAppCreated {
					<-release // it ignores its context
				}
				told = append(told, n.Kind)
				return nil
			})
			queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated}, events.Notification{Kind: events.NotifyAppSuspended})
			time.Sleep(12 * time.Second)
			synctest.Wait()
			if want := []events.NotificationKind{events.NotifyAppSuspended}; !slices.Equal(told, want) {
				t.Errorf("told %v, want %v", told, want)
			}
			close(release)
			synctest.Wait()
			_ = stop()
			if len(told) != 2 {
				t.Errorf("told %v after the release", told)
			}
		})
	})
	t.Run("OPS-03 what failed is tried again with growing delays for an hour", func(t *testing.T) {
		t.Parallel()
		for name, outcome := range map[string]func() error{
			"error": func() error { return errors.New("mailbox full") },
			"panic": func() error { panic("no mail server") },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var calls []time.Time
					dropped := new(droppedCounter)
					queue, stop := notifiedWith(t, events.NotificationsConfig{MeterProvider: dropped, Notifier: events.NotifierFunc(func(context.Context, events.Notification) error {
						calls = append(calls, time.Now())
						return outcome()
					})})
					queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated})
					time.Sleep(59 * time.Minute)
					if got := dropped.take(); len(got) != 0 {
						t.Errorf("dropped within the hour: %v", got)
					}
					time.Sleep(24 * time.Hour)
					synctest.Wait()
					for i := 2; i < len(calls); i++ {
						if before, after := calls[i-1].Sub(calls[i-2]), calls[i].Sub(calls[i-1]); after <= before {
							t.Errorf("a delay of %v follows one of %v", after, before)
						}
					}
					if took := calls[len(calls)-1].Sub(calls[0]); len(calls) < 5 || took != time.Hour {
						t.Errorf("%d calls within %v, want the last after an hour", len(calls), took)
					}
					if diff := cmp.Diff([]string{"failed"}, dropped.take()); diff != "" {
						t.Errorf("dropped (-want +got):\n%s", diff)
					}
					_ = stop()
				})
			})
		}
	})
	t.Run("OPS-03 a retry that succeeds is the last", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls, now := 0, clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
			dropped := new(droppedCounter)
			queue, stop := notifiedWith(t, events.NotificationsConfig{Clock: now, MeterProvider: dropped, Notifier: events.NotifierFunc(func(context.Context, events.Notification) error {
				calls++
				if calls < 3 {
					return errors.New("mailbox full")
				}
				return nil
			})})
			queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated})
			for i := range 10 {
				if err := queue.Settle(t.Context()); err != nil || calls != min(i+1, 3) {
					t.Errorf("%d calls after %d jumps: %v", calls, i, err)
				}
				now.Advance(time.Hour)
			}
			_ = stop()
			if got := dropped.take(); len(got) != 0 {
				t.Errorf("dropped %v", got)
			}
		})
	})
	t.Run("OPS-03 what is dropped is counted", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			calls, dropped := 0, new(droppedCounter)
			queue, stop := notifiedWith(t, events.NotificationsConfig{Capacity: 2, MeterProvider: dropped, Notifier: events.NotifierFunc(func(context.Context, events.Notification) error {
				calls++
				return errors.New("mailbox full")
			})})
			for range 3 { // the third has no room to wait for its retry
				queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated})
				synctest.Wait()
			}
			if diff := cmp.Diff([]string{"full"}, dropped.take()); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			_ = stop() // tries what waits once more
			if diff := cmp.Diff([]string{"stopped", "stopped"}, dropped.take()); diff != "" || calls != 5 {
				t.Errorf("%d calls, dropped at the end (-want +got):\n%s", calls, diff)
			}
		})
	})
	t.Run("OPS-03 a notifier that panics or fails delays no other notification", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var told []events.NotificationKind
			queue, stop := notified(t, 0, func(_ context.Context, n events.Notification) error {
				told = append(told, n.Kind)
				switch n.Kind {
				case events.NotifyAppCreated:
					panic("no mail server")
				case events.NotifyAppSuspended:
					return errors.New("mailbox full")
				}
				return nil
			})
			queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppCreated}, events.Notification{Kind: events.NotifyAppSuspended})
			queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppReactivated})
			if err := queue.Settle(t.Context()); err != nil || len(told) != 3 {
				t.Errorf("told %v: %v", told, err)
			}
			queue.Tell(t.Context(), events.Notification{Kind: events.NotifyAppDeactivated})
			err := stop() // tells the new one first, then those that failed once more
			want := []events.NotificationKind{events.NotifyAppDeactivated, events.NotifyAppCreated, events.NotifyAppSuspended}
			if diff := cmp.Diff(want, told[3:]); diff != "" || err != nil {
				t.Errorf("%v, told at the end (-want +got):\n%s", err, diff)
			}
		})
	})
	t.Run("OPS-03 nothing is told before the commit", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			told := 0
			queue, stop := notified(t, 0, func(context.Context, events.Notification) error { told++; return nil })
			defer func() { _ = stop() }()
			runs := 0
			transact := func(ctx context.Context, do func(context.Context) error) error {
				for range 2 { // as a database does that lost the transaction
					if err := do(ctx); err != nil {
						return err
					}
					synctest.Wait()
					if told > 0 {
						t.Error("told before the commit")
					}
				}
				return nil
			}
			fail := errors.New("refused")
			for _, want := range []error{nil, fail} {
				err := queue.AfterCommit(t.Context(), transact, func(ctx context.Context) error {
					runs++
					queue.Tell(ctx, events.Notification{Kind: events.NotifyAppCreated})
					return want
				})
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if want == nil {
					synctest.Wait()
					if told != 1 {
						t.Errorf("told %d times after the commit", told)
					}
					told = 0
				}
			}
			synctest.Wait()
			if told != 0 || runs != 3 {
				t.Errorf("told %d times after a refusal, %d runs", told, runs)
			}
		})
	})
}

func TestNotificationText(t *testing.T) {
	t.Parallel()
	n := events.Notification{Kind: events.NotifyAppConnected, Detail: "invoices:read"}
	if got := n.Text(); got != "An app was connected to a business: invoices:read." {
		t.Errorf("got %q", got)
	}
	if got := (events.Notification{Kind: "other"}).Text(); got != "other." {
		t.Errorf("got %q", got)
	}
}
