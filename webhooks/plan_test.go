package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// CAT-02: which webhooks get an event.
func TestWhoHears(t *testing.T) {
	t.Parallel()
	business := func(name string) func(r *harness, a app) {
		return func(r *harness, a app) { r.record(a.business, name) }
	}
	for name, test := range map[string]struct {
		happens func(r *harness, a app)
		want    int
	}{
		"subscribed":                         {business("invoice.created"), 1},
		"not subscribed":                     {business("invoice.paid"), 0},
		"no such scope":                      {business("payment.received"), 0},
		"a privacy notice":                   {business("customer.redact"), 1},
		"a privacy notice without its scope": {business("supplier.redact"), 0},
		"another business":                   {func(r *harness, _ app) { r.record("biz_other", "invoice.created") }, 0},
		"its own life":                       {func(r *harness, a app) { r.recordFor(a, events.AppScopesUpdated) }, 1},
		"another app's life": {func(r *harness, _ app) {
			other := r.app("127.0.0.8")
			r.recordFor(other, events.AppScopesUpdated)
		}, 0},
		"its own life, not installed": {func(r *harness, a app) {
			r.must(r.uninstall(a))
			r.recordFor(a, events.AppScopesUpdated)
		}, 1},
		"not installed": {func(r *harness, a app) {
			r.must(r.uninstall(a))
			r.record(a.business, "invoice.created")
		}, 0},
		"installed later": {func(r *harness, a app) {
			r.halt() // so that it is planned late
			r.record("biz_new", "invoice.created")
			r.must(r.clock.Advance(time.Second))
			r.connect(a, "biz_new", scopes)
			r.start()
		}, 0},
		"a webhook that came later": {func(r *harness, a app) {
			r.halt()
			r.record(a.business, "customer.created")
			r.must(r.clock.Advance(time.Second))
			_, _, err := r.svc.Create(r.t.Context(), webhooks.NewWebhook{AppID: a.ID, URL: "http://" + endpoint + "/later", Events: []string{"customer.created"}})
			r.must(err)
			r.start()
		}, 0},
		"a webhook that is off": {func(r *harness, a app) {
			r.must(r.change(a, func(w *partner.Webhook) { w.Enabled = false }))
			r.record(a.business, "invoice.created")
		}, 0},
		"a second webhook": {func(r *harness, a app) {
			_, _, err := r.svc.Create(r.t.Context(), webhooks.NewWebhook{AppID: a.ID, URL: "http://" + endpoint + "/second", Events: []string{"invoice.created"}})
			r.must(err)
			r.record(a.business, "invoice.created")
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *harness) {
				a := r.app(endpoint, "invoice.created", "payment.received", "customer.redact", "supplier.redact", events.AppScopesUpdated)
				test.happens(r, a)
				r.settle()
				if posts := r.net.posts(endpoint); len(posts) != test.want {
					t.Errorf("%d posts, want %d", len(posts), test.want)
				}
			})
		})
	}
}

// DLV-04: an event exists when the transaction of the write has committed, and not
// otherwise.
func TestEventsOfTheHostsTransaction(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		for _, commit := range []bool{false, true} {
			tx, err := r.BeginTx(t.Context())
			r.must(err)
			_, err = r.log.RecordIn(t.Context(), tx, events.Draft{Type: "invoice.created", BusinessID: a.business, Data: map[string]any{}})
			r.must(err)
			if commit {
				r.must(tx.Commit(t.Context()))
			} else {
				r.must(tx.Rollback())
			}
		}
		r.settle()
		if posts := r.net.posts(endpoint); len(posts) != 1 {
			t.Errorf("%d posts, want 1", len(posts))
		}
	})
}

// VER-03: a body has the version that its app has pinned, and data of that shape.
func TestPinnedVersion(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		r.pin(a, "2026-01-15")
		r.record(a.business, "invoice.created")
		r.settle()
		if body := sent(t, r.net.posts(endpoint)[0]); body["apiVersion"] != "2026-01-15" {
			t.Errorf("apiVersion %v", body["apiVersion"])
		}
	})
}

// lookTap notes from where the planner looks for events.
type lookTap struct {
	webhookstore.Store
	mu    sync.Mutex
	looks []webhookstore.Backlog
}

func (l *lookTap) Unplanned(ctx context.Context, of []webhookstore.Backlog) (webhookstore.Unplanned, error) {
	l.mu.Lock()
	l.looks = append(l.looks, of...)
	l.mu.Unlock()
	return l.Store.Unplanned(ctx, of)
}

// EVT-05: the planner looks for events that are a little older than what it planned last. The hint
// about one of another node may come after that about a later event of this one.
func TestLooksForLateEvents_EVT05(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, webhooks.Config{})
		tap := &lookTap{Store: r.Store}
		var err error
		r.svc, err = webhooks.New(webhooks.Config{
			Store: tap, Keyring: fixture.Keyring(1), Clock: r.clock, Dial: r.net.dial, Options: webhooks.Options{AllowLoopback: true},
		})
		r.must(err)
		r.start()
		a := r.app(endpoint, "invoice.created")
		var last partner.Event
		for range 3 {
			last = r.record(a.business, "invoice.created")
			r.settle()
			r.advance(time.Minute)
		}
		tap.mu.Lock()
		tap.looks = nil
		tap.mu.Unlock()
		r.record(a.business, "invoice.created")
		r.settle()
		tap.mu.Lock()
		defer tap.mu.Unlock()
		oldest, newest := id.Floor(id.Event, last.CreatedAt.Add(-time.Minute)), id.Floor(id.Event, last.CreatedAt.Add(-2*time.Second))
		if len(tap.looks) == 0 || tap.looks[0].EventID < oldest || tap.looks[0].EventID > newest {
			t.Errorf("looked from %v; the last planned event is %s", tap.looks, last.ID)
		}
	})
}
