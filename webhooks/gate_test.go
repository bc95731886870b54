package webhooks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

var noInvoices = identity.MustScopes("customers:read", "events:read")

// gates are what can close while a delivery waits for its next attempt.
var gates = map[string]struct {
	close   func(r *harness, a app) error
	text    string
	keepApp bool // an event of the app's own life passes
}{
	"off": {func(r *harness, a app) error {
		return r.change(a, func(w *partner.Webhook) { w.Enabled = false })
	}, "not sent: the webhook is switched off", false},
	"suspended": {func(r *harness, a app) error {
		return fixture.SetAppStatus(r.t.Context(), r, a.ID, partner.AppSuspended)
	}, "not sent: the app is suspended or deactivated", false},
	"deactivated": {func(r *harness, a app) error {
		return fixture.SetAppStatus(r.t.Context(), r, a.ID, partner.AppDeactivated)
	}, "not sent: the app is suspended or deactivated", false},
	"uninstalled": {func(r *harness, a app) error {
		return r.uninstall(a)
	}, "not sent: the app is not installed in the business", true},
	"app narrowed": {func(r *harness, a app) error {
		_, err := r.UpdateApp(r.t.Context(), a.ID, func(a partner.App) (partner.App, error) {
			a.Scopes = noInvoices
			return a, nil
		})
		return err
	}, "not sent: the app or its installation lacks the scope of the event", true},
	"installation narrowed": {func(r *harness, a app) error {
		_, err := r.SetInstallationScopes(r.t.Context(), a.ID, a.business, noInvoices, func(_, _ partner.Installation) []partner.Event { return nil })
		return err
	}, "not sent: the app or its installation lacks the scope of the event", true},
}

// change updates a webhook.
func (r *harness) change(a app, change func(*partner.Webhook)) error {
	_, err := r.UpdateWebhook(r.t.Context(), a.ID, a.webhook.ID, func(w partner.Webhook) (partner.Webhook, error) {
		change(&w)
		return w, nil
	})
	return err
}

func (r *harness) uninstall(a app) error {
	now := r.clock.Now()
	_, err := r.EndInstallation(r.t.Context(), oauthstore.EndInstallation{
		AppID: a.ID, BusinessID: a.business, Status: partner.InstallationRemoved, Now: now, RedactAt: now.Add(lifetimes.RedactDelay),
		Record: func(partner.Installation) []partner.Event { return nil },
	})
	return err
}

// recordFor records an event of the app's own life.
func (r *harness) recordFor(a app, name string) partner.Event {
	r.t.Helper()
	now := r.clock.Now()
	e := partner.Event{ID: id.New(id.Event, now), Type: name, BusinessID: a.business, AppID: a.ID, Data: []byte(`{}`), CreatedAt: now}
	r.must(r.RecordEvents(r.t.Context(), e))
	return e
}

// DLV-03: gates are checked before every send.
func TestGatesCloseBetweenAttempts(t *testing.T) {
	t.Parallel()
	for name, gate := range gates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *harness) {
				a := r.app(endpoint, "invoice.created")
				r.net.handle(endpoint, response(http.StatusInternalServerError))
				r.record(a.business, "invoice.created")
				r.settle()
				r.must(gate.close(r, a))
				r.advance(time.Hour)
				d, attempts := r.only(a)
				if d.Status != partner.DeliveryFailed || d.LastError != gate.text || d.Attempts != 1 || len(attempts) != 1 || !d.NextAttemptAt.IsZero() {
					t.Errorf("%+v, %d attempts", d, len(attempts))
				}
				if posts := r.net.posts(endpoint); len(posts) != 1 {
					t.Errorf("%d posts after the gate had closed", len(posts)-1)
				}
			})
		})
	}
}

// DLV-03, CAT-02: events about the app itself do not require an installation or a scope.
func TestGatesOfAppEvents(t *testing.T) {
	t.Parallel()
	for name, gate := range gates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *harness) {
				a := r.app(endpoint, events.AppUninstalled)
				r.net.handle(endpoint, response(http.StatusInternalServerError))
				r.recordFor(a, events.AppUninstalled)
				r.settle()
				r.must(gate.close(r, a))
				r.advance(time.Minute)
				want := 1
				if gate.keepApp {
					want = 2
				}
				if posts := r.net.posts(endpoint); len(posts) != want {
					t.Errorf("%d posts, want %d", len(posts), want)
				}
			})
		})
	}
}

// DLV-03: a deleted webhook gets nothing more.
func TestDeletedWebhook(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *harness) {
		a := r.app(endpoint, "invoice.created")
		r.net.handle(endpoint, response(http.StatusInternalServerError))
		r.record(a.business, "invoice.created")
		r.settle()
		r.must(r.DeleteWebhook(t.Context(), a.ID, a.webhook.ID, r.clock.Now()))
		r.record(a.business, "invoice.created")
		r.advance(24 * time.Hour)
		if posts := r.net.posts(endpoint); len(posts) != 1 {
			t.Errorf("%d posts after it was deleted", len(posts)-1)
		}
		if queued, err := r.QueuedWebhooks(t.Context(), nil); err != nil || len(queued) != 0 {
			t.Errorf("left in the queue: %v, %v", queued, err)
		}
	})
}
