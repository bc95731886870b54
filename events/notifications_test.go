package events_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/events"
)

// notified is a queue whose Notifier is a function, while Run runs.
func notified(t *testing.T, capacity int, notify events.NotifierFunc) (queue *events.Notifications, stop func() error) {
	t.Helper()
	queue, err := events.NewNotifications(events.NotificationsConfig{Notifier: notify, Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- queue.Run(ctx) }()
	return queue, func() error { cancel(); return <-done }
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
			if err := stop(); !errors.Is(err, context.Canceled) || time.Since(begun) > 6*time.Second {
				t.Errorf("Run returned %v after %v", err, time.Since(begun))
			}
			close(release)
			synctest.Wait()
			if calls > 3 {
				t.Errorf("%d calls with room for 2 in the queue", calls)
			}
		})
	})
	t.Run("OPS-03 a notifier that panics or fails loses its own notification alone", func(t *testing.T) {
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
			if err := stop(); !errors.Is(err, context.Canceled) || len(told) != 4 {
				t.Errorf("after the end told %v: %v", told, err)
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
