package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

func (r *harness) pin(a app, version string) {
	r.t.Helper()
	_, err := r.UpdateApp(r.t.Context(), a.ID, func(a partner.App) (partner.App, error) {
		a.PinnedVersion = version
		return a, nil
	})
	r.must(err)
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Stopping waits for attempts under way and records them.
func TestStopRecordsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		r.net.handle(endpoint, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(8 * time.Second)
			w.WriteHeader(http.StatusOK)
		})
		r.record(a.business, "invoice.created")
		r.settle()
		r.halt()
		if d, _ := r.only(a); d.Status != partner.DeliveryDelivered {
			t.Errorf("%+v", d)
		}
		fleet, err := r.Beat(t.Context(), "observer", time.Minute)
		r.must(err)
		if fleet.Shards[0].Holder != "" || fleet.Nodes != 1 {
			t.Errorf("after the stop: %+v", fleet)
		}
	})
}

// DLV-06: endpoints that hang do not hold up the others, even when there are more
// of them than places.
func TestDeadEndpointsHoldUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{MaxInFlight: 8, PerEndpoint: 4}})
		var dead []app
		for i := range 20 {
			address := fmt.Sprintf("127.0.1.%d", i)
			r.net.handle(address, hang)
			dead = append(dead, r.app(address, "invoice.created"))
		}
		alive := r.app(endpoint, "invoice.created")
		for _, a := range dead {
			r.record(a.business, "invoice.created")
		}
		for range 10 {
			r.record(alive.business, "invoice.created")
		}
		start := time.Now()
		r.start()
		time.Sleep(webhooks.AttemptTimeout / 2)
		posts := r.net.posts(endpoint)
		if len(posts) != 10 {
			t.Fatalf("%d posts to the endpoint that is well, want 10, while others hang", len(posts))
		}
		t.Logf("the last came %v after the start", posts[9].at.Sub(start))
		r.net.mu.Lock()
		for _, a := range dead {
			r.net.handlers[a.business[len("biz_"):]] = nil
		}
		r.net.mu.Unlock()
	})
}

// DLV-06: a long queue of one endpoint does not keep the others waiting.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{MaxInFlight: 4, PerEndpoint: 4}})
		long, short := r.app("127.0.1.1", "invoice.created"), r.app(endpoint, "invoice.created")
		for range 100 {
			r.record(long.business, "invoice.created")
		}
		r.record(short.business, "invoice.created")
		before := -1
		r.net.handle(endpoint, func(w http.ResponseWriter, _ *http.Request) {
			before = len(r.net.posts("127.0.1.1"))
			w.WriteHeader(http.StatusOK)
		})
		r.start()
		r.settle()
		if before < 0 || before > 50 {
			t.Errorf("the only delivery of one endpoint came after %d of 100 of another", before)
		}
		if got := len(r.net.posts("127.0.1.1")); got != 100 {
			t.Errorf("%d posts, want 100", got)
		}
	})
}

// One dispatcher stops and another goes on where it was: nothing is lost, and
// nothing sent again.
func TestDispatchersShareTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{Lease: 4 * time.Second}})
		var apps []app
		for i := range 40 {
			apps = append(apps, r.app(fmt.Sprintf("127.0.1.%d", i), "invoice.created"))
		}
		r.start()
		second, stop := context.WithCancel(context.Background())
		r.running.Go(func() { _ = r.svc.Run(second) })
		time.Sleep(10 * time.Second) // they share
		fleet, err := r.Beat(t.Context(), "observer", time.Second)
		r.must(err)
		r.must(r.LeaveShards(t.Context(), "observer"))
		holds := map[string]int{}
		for _, shard := range fleet.Shards {
			holds[shard.Holder]++
		}
		if len(holds) != 2 || holds[""] != 0 {
			t.Errorf("shards by holder: %v", holds)
		}
		for range 5 {
			for _, a := range apps {
				r.record(a.business, "invoice.created")
			}
		}
		r.settle()
		stop()
		for _, a := range apps {
			r.record(a.business, "invoice.created")
		}
		time.Sleep(10 * time.Second)
		r.settle()
		for _, a := range apps {
			if got := len(r.net.posts(a.business[len("biz_"):])); got != 6 {
				t.Errorf("%s: %d posts, want 6", a.business, got)
			}
		}
	})
}

// OPS-03, DLV-11: each time that a webhook begins to fail, or recovers, causes one
// notification, however many of its attempts fail and on whichever node.
func TestHealthNotifications_DLV11(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []events.Notification
		queue, err := events.NewNotifications(events.NotificationsConfig{Notifier: events.NotifierFunc(func(_ context.Context, n events.Notification) error {
			told = append(told, n)
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- queue.Run(ctx) }()
		defer func() { stop(); <-done }()
		r := newHarness(t, webhooks.Config{Notifications: queue})
		a := r.app(endpoint, "invoice.created")
		r.start()
		want := func(when string, kinds ...events.NotificationKind) {
			t.Helper()
			synctest.Wait()
			var all []events.Notification
			for _, kind := range kinds {
				all = append(all, events.Notification{Kind: kind, AppID: a.webhook.AppID, WebhookID: a.webhook.ID})
			}
			if diff := cmp.Diff(all, told, cmpopts.IgnoreFields(events.Notification{}, "At"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
			told = nil
		}
		try := func(status, times int) {
			t.Helper()
			r.net.handle(endpoint, response(status))
			for range times {
				r.record(a.business, "invoice.created")
			}
			r.settle()
			r.must(r.clock.Advance(time.Second))
		}
		try(http.StatusOK, 20)
		want("it works")
		try(http.StatusBadGateway, 20)
		want("some fail within the hour")
		r.advance(time.Minute)
		r.advance(5 * time.Minute)
		want("the retries fail within the hour")
		r.advance(2 * time.Hour)
		for range 3 {
			r.advance(7 * time.Hour)
		}
		want("nothing has succeeded for an hour", events.NotifyWebhookFailing)

		// The next dispatcher knows nothing of this one.
		r.halt()
		r.start()
		try(http.StatusBadGateway, 3)
		want("another dispatcher fails as well")
		try(http.StatusOK, 20)
		want("it works again", events.NotifyWebhookRecovered)
		try(http.StatusBadGateway, 1)
		r.advance(2 * time.Hour)
		want("it fails again", events.NotifyWebhookFailing)

		// A webhook that is switched on again can fail again.
		for _, is := range []bool{false, true} {
			_, err := r.svc.Update(t.Context(), a.ID, a.webhook.ID, webhooks.Change{Enabled: &is})
			r.must(err)
			r.advance(7 * time.Hour)
		}
		want("switched off and on")
		try(http.StatusBadGateway, 3)
		want("it fails from the first attempt on", events.NotifyWebhookFailing)
	})
}

// deaf is a store that gives no hints of recorded events, as after the host's own commit.
type deaf struct{ webhookstore.Store }

func (d deaf) Watch(topic string) *storage.Hints {
	if topic == eventstore.TopicRecorded {
		return nil
	}
	return d.Store.Watch(topic)
}

func TestWake(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		wake   bool
		within time.Duration
	}{{"with", true, 10 * time.Millisecond}, {"without", false, time.Second}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newHarness(t, webhooks.Config{})
				cfg := webhooks.Config{Store: deaf{r.Store}, Keyring: fixture.Keyring(1), Dial: r.net.dial, Clock: r.clock, Options: webhooks.Options{AllowLoopback: true}}
				var err error
				r.svc, err = webhooks.New(cfg)
				r.must(err)
				a := r.app(endpoint, "invoice.created")
				r.net.handle(endpoint, response(http.StatusOK))
				r.start()
				time.Sleep(5*time.Second + 10*time.Millisecond)
				r.record(a.business, "invoice.created")
				if test.wake {
					r.svc.Wake()
				}
				time.Sleep(test.within)
				synctest.Wait()
				if d, attempts := r.only(a); d.Status != partner.DeliveryDelivered || len(attempts) != 1 {
					t.Errorf("after %v: %s", test.within, d.Status)
				}
			})
		})
	}
}
