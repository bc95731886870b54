package webhooks_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

func (k *consoleHarness) redeliver(d partner.Delivery) (partner.Delivery, error) {
	k.Helper()
	return k.service.Redeliver(k.Context(), d.AppID, d.WebhookID, d.ID)
}

// RDL-01, WH-03: the same row, id, event and body; attempts restart at zero, immediately.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	d := k.failed(w, sampled)
	k.wantDue(w)
	k.Clock.Advance(time.Hour)
	want := d
	want.Status, want.Attempts, want.ResponseCode, want.LastError, want.NextAttemptAt, want.Round = partner.DeliveryQueued, 0, 0, "", k.Clock.Now(), 1
	queued, err := k.redeliver(d)
	k.Must(err)
	if diff := cmp.Diff(want, queued) + cmp.Diff(want, k.delivery(d)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	k.wantDue(w, d.ID)

	// It fails again, and can be sent again, as often as one likes.
	k.end(queued, partner.DeliveryFailed)
	_, err = k.redeliver(d)
	k.Must(err)
	if _, attempts, err := k.service.Delivery(t.Context(), k.app.ID, w.ID, d.ID); err != nil || len(attempts) != 2 {
		t.Errorf("%d attempts are logged, %v", len(attempts), err)
	}
}

// RDL-02: only a failed one.
func TestRedeliverNotFailed(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	queued, retrying, delivered := k.queued(w, sampled), k.end(k.queued(w, sampled), partner.DeliveryRetrying), k.end(k.queued(w, sampled), partner.DeliveryDelivered)
	for _, d := range []partner.Delivery{queued, retrying, delivered} {
		_, err := k.redeliver(d)
		wantCode(t, err, codes.DeliveryNotFailed.Code)
		if now := k.delivery(d); !cmp.Equal(d, now) {
			t.Errorf("a refused redelivery changed %+v to %+v", d, now)
		}
	}
	k.wantDue(w, queued.ID)
}

// closing is a step that closes a gate, and the resulting error code. The codes are in
// their order of precedence.
type closing struct {
	name string
	shut func(k *consoleHarness, w partner.Webhook)
	code apierror.Code
	// isForTests reports whether a test is refused too.
	isForTests bool
}

var closings = []closing{
	{"suspended", func(k *consoleHarness, _ partner.Webhook) { k.setStatus(partner.AppSuspended) }, codes.AppNotActive.Code, true},
	{"deactivated", func(k *consoleHarness, _ partner.Webhook) { k.setStatus(partner.AppDeactivated) }, codes.AppNotActive.Code, true},
	{"off", func(k *consoleHarness, w partner.Webhook) { k.off(w) }, codes.WebhookNotActive.Code, true},
	{"uninstalled", func(k *consoleHarness, _ partner.Webhook) { k.uninstall() }, codes.AppNotInstalled.Code, false},
	{"scope gone from the app", func(k *consoleHarness, _ partner.Webhook) {
		k.setApp(func(a *partner.App) { a.Scopes = identity.MustScopes("customers:read") })
	}, codes.EventScopeMissing.Code, false},
	{"scope gone from the installation", func(k *consoleHarness, _ partner.Webhook) { k.narrow("customers:read") }, codes.EventScopeMissing.Code, false},
}

// RDL-03, DLV-03: each gate by itself, for business and privacy events.
func TestRedeliverGates(t *testing.T) {
	t.Parallel()
	for _, c := range closings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newConsole(t)
			k.setApp(func(a *partner.App) { a.Scopes = identity.MustScopes("invoices:read") })
			w := k.hook(sampled)
			d := k.failed(w, sampled)
			c.shut(k, w)
			_, err := k.redeliver(d)
			wantCode(t, err, c.code)
			if now := k.delivery(d); !cmp.Equal(d, now) {
				t.Errorf("a refused redelivery changed %+v to %+v", d, now)
			}
			k.wantDue(w)
		})
	}
	t.Run("a privacy event", func(t *testing.T) {
		t.Parallel()
		k := newConsole(t)
		w := k.hook("customer.redact")
		d := k.failed(w, "customer.redact")
		k.narrow("invoices:read")
		_, err := k.redeliver(d)
		wantCode(t, err, codes.EventScopeMissing.Code)
		if want := "customer.redact needs the scope customers:read, which the app or its installation no longer has"; err == nil || !cmp.Equal(messages(err), []string{want}) {
			t.Errorf("messages %q", messages(err))
		}
		k.uninstall()
		_, err = k.redeliver(d)
		wantCode(t, err, codes.AppNotInstalled.Code)
	})
}

func messages(err error) []string {
	refused, _ := errors.AsType[*apierror.Error](err)
	if refused == nil {
		return nil
	}
	return refused.Messages()
}

// RDL-03: if several reasons apply, the error is the first in a fixed order.
func TestRedeliverOrder(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	d := k.failed(w, sampled)
	// From the last to the first, each hides those before it.
	for _, i := range []int{5, 3, 2, 0} {
		closings[i].shut(k, w)
		_, err := k.redeliver(d)
		wantCode(t, err, closings[i].code)
	}
	// A status hides all of these, and the age hides the status.
	other := k.queued(w, sampled)
	_, err := k.redeliver(other)
	wantCode(t, err, codes.DeliveryNotFailed.Code)
	k.Clock.Advance(webhooks.Retention)
	for _, old := range []partner.Delivery{d, other} {
		_, err = k.redeliver(old)
		wantCode(t, err, codes.DeliveryTooOld.Code)
	}
}

// RDL-03, RDL-04: 30 days after its creation it is too old, whether it is still there
// or not.
func TestRedeliverTooOld(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	first, second := k.failed(w, sampled), k.failed(w, sampled)
	k.Clock.Advance(webhooks.Retention - time.Millisecond)
	_, err := k.redeliver(first)
	k.Must(err)
	k.Clock.Advance(time.Millisecond)
	_, err = k.redeliver(second)
	wantCode(t, err, codes.DeliveryTooOld.Code)
	some, err := k.service.RedeliverSome(t.Context(), webhooks.FailedDeliveries{AppID: w.AppID, WebhookID: w.ID}, "")
	k.Must(err)
	if len(some.Queued) != 0 || some.Skipped != 1 {
		t.Errorf("redelivering all of them: %+v", some)
	}
	k.Clock.Advance(time.Millisecond)
	k.service.Tidy(t.Context(), k.Clock.Now())
	_, err = k.redeliver(second)
	wantCode(t, err, codes.DeliveryTooOld.Code)
	never := second
	never.ID = id.New(id.Delivery, k.Clock.Now())
	_, err = k.redeliver(never)
	wantNotFound(t, "one that never was", err)
	k.Must(k.service.Delete(t.Context(), w.AppID, w.ID))
	_, err = k.redeliver(second)
	wantNotFound(t, "one of a deleted webhook", err)
}

// DLV-03: an event of the app's own life needs no installation.
func TestRedeliverAppEvent(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(events.AppUninstalled)
	d := k.failed(w, events.AppUninstalled)
	k.uninstall()
	_, err := k.redeliver(d)
	k.Must(err)
	k.wantDue(w, d.ID)
}

// A subscription to an event that the host has removed from its catalog cannot be checked.
func TestRedeliverUnknownEvent(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	d := k.failed(w, "invoice.eaten")
	_, err := k.redeliver(d)
	wantInvalid(t, err, "invoice.eaten is no longer in the catalog")
	k.wantDue(w)
}

// RDL-02: exactly one of many concurrent requests wins.
func TestRedeliverAtOnce(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	d := k.failed(w, sampled)
	var won atomic.Int64
	testdb.Race(32, func(int) {
		if _, err := k.service.Redeliver(t.Context(), d.AppID, d.WebhookID, d.ID); err == nil {
			won.Add(1)
		} else {
			wantCode(t, err, codes.DeliveryNotFailed.Code)
		}
	})
	if won.Load() != 1 {
		t.Errorf("%d won", won.Load())
	}
	k.wantDue(w, d.ID)
}

// A storage error is an internal error, not a rejection, and nothing is queued.
func TestRedeliverFault(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	d := k.failed(w, sampled)
	for n := 1; ; n++ {
		k.Store.Tap.Arm(testdb.FaultError, n)
		_, err := k.redeliver(d)
		struck := k.Store.Tap.Struck()
		k.Store.Tap.Reset()
		if !struck {
			k.Must(err)
			break
		}
		if _, refused := errors.AsType[*apierror.Error](err); refused || errors.Is(err, partner.ErrNotFound) || !errors.Is(err, testdb.ErrInjected) {
			t.Errorf("a fault at statement %d: %v", n, err)
		}
		k.wantDue(w)
	}
	k.wantDue(w, d.ID)
}
