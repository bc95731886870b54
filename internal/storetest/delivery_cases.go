package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// deliveryCases test what the console sees and does, one operation at a time.
var deliveryCases = []testCase[partnerkit.Store]{
	// DLV-09.
	{"Deliveries are listed newest first", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		newWebhook(t, e).failed(t, noon.Add(time.Hour))
		if none := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), f.listed(3))).Deliveries; len(none) != 0 {
			t.Errorf("listed %v", none)
		}
		var want []partner.Delivery
		for i, store := range []func(*testing.T, time.Time, ...partner.Attempt) partner.Delivery{f.failed, f.failed, f.waiting, f.failed} {
			d := store(t, noon.Add(time.Duration(i)*time.Second))
			d.Body = nil
			want = append([]partner.Delivery{d}, want...)
		}
		if diff := cmp.Diff(want[:3], get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), f.listed(3))).Deliveries); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// DLV-09.
	{"A delivery comes back with its attempts", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		want := []partner.Attempt{
			{Number: 1, Signature: "t=1,v1=a", StartedAt: noon, Duration: 10 * time.Second, Error: "timed out"},
			{Number: 2, Signature: "t=2,v1=b", StartedAt: noon.Add(time.Minute), Duration: 1500 * time.Millisecond, ResponseCode: 500, Error: "answered 500", ResponseBody: []byte{0, 0xff}},
		}
		d := f.waiting(t, noon, want...)
		f.failed(t, noon, partner.Attempt{Number: 1, StartedAt: noon})
		got, attempts, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID)
		must(t, err)
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(want, attempts); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// TST-01.
	{"A test is queued", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		get[partner.App](t)(e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.PinnedVersion = "2026-01-15"
			return a, nil
		}))
		d, fire := f.test(noon)
		queued := get[partner.Delivery](t)(e.QueueTest(t.Context(), f.app.ID, f.webhook.ID, func(to webhookstore.Target) (partner.Delivery, error) {
			want := webhookstore.Target{Webhook: f.webhook, PinnedVersion: "2026-01-15", Standing: webhookstore.Standing{IsEnabled: true, IsAppUsable: true}}
			if diff := cmp.Diff(want, to, cmp.Comparer(identity.Scopes.Equal)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			return fire(to)
		}))
		f.wantQueued(t, d, queued)
	}},
	// RDL-01: the same row, as if it had never been tried.
	{"A failed delivery is queued again", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		d := f.failed(t, noon, partner.Attempt{Number: 1, StartedAt: noon})
		later := noon.Add(time.Hour)
		again := f.again(d, later)
		check := again.Check
		again.Check = func(seen partner.Delivery, standing webhookstore.Standing) error {
			want := webhookstore.Standing{IsEnabled: true, IsAppUsable: true, Viewer: events.Viewer{
				AppID: f.app.ID, AppScopes: allScopes, IsInstalled: true, InstallationScopes: allScopes,
			}}
			if diff := cmp.Diff(d, seen) + cmp.Diff(want, standing, cmp.Comparer(identity.Scopes.Equal)); diff != "" {
				t.Errorf("checked (-want +got)\n%s", diff)
			}
			return check(seen, standing)
		}
		queued := get[[]partner.Delivery](t)(e.Redeliver(t.Context(), again))[0]
		want := d
		want.Status, want.Attempts, want.ResponseCode, want.LastError, want.NextAttemptAt, want.Round = partner.DeliveryQueued, 0, 0, "", later, 1
		f.wantQueued(t, want, queued)
		if _, attempts, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID); err != nil || len(attempts) != 1 {
			t.Errorf("attempts %v, %v", attempts, err) // what was tried is still to be seen
		}
	}},
	// RDL-02, RDL-03, DLV-03.
	{"A redelivery that is refused changes nothing", func(t *testing.T, e partnerkit.Store) {
		for name, shut := range closers {
			f := newWebhook(t, e)
			d := f.failed(t, noon)
			must(t, shut(t, f))
			f.wantRefused(t, name, d)
		}
		f := newWebhook(t, e)
		f.wantRefused(t, "retrying", f.waiting(t, noon))
		f.wantRefused(t, "delivered", f.stored(t, partner.Delivery{Status: partner.DeliveryDelivered, Attempts: 1, ResponseCode: 200, CreatedAt: noon}))

		// Only a failed delivery is queued, even if Check accepts another one.
		d := f.waiting(t, noon)
		again := f.again(d, noon.Add(time.Hour))
		again.Check = func(partner.Delivery, webhookstore.Standing) error { return nil }
		if _, err := e.Redeliver(t.Context(), again); err == nil || f.queuedAt(t, d.ID, again.Now) != 0 {
			t.Errorf("redelivery of a retrying delivery: %v", err)
		}
	}},
	// A new installation opens the gate again: it is the business that counts.
	{"A redelivery after connecting again", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		d := f.failed(t, noon)
		must(t, f.end(t, partner.InstallationRemoved))
		f.wantRefused(t, "uninstalled", d)
		f.code(t)
		get[[]partner.Delivery](t)(e.Redeliver(t.Context(), f.again(d, noon)))
	}},
}

// wantQueued compares a delivery with what an operation returned and with what is
// stored, and wants it due.
func (f *webhookFixture) wantQueued(t *testing.T, want, returned partner.Delivery) {
	t.Helper()
	stored, _, err := f.Delivery(t.Context(), f.app.ID, f.webhook.ID, want.ID)
	must(t, err)
	for _, got := range []partner.Delivery{returned, stored} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if n := f.queuedAt(t, want.ID, want.NextAttemptAt); n != 1 {
		t.Errorf("%d places in the queue", n)
	}
}

func (f *webhookFixture) wantRefused(t *testing.T, name string, d partner.Delivery) {
	t.Helper()
	later := noon.Add(time.Hour)
	if _, err := f.Redeliver(t.Context(), f.again(d, later)); !isRefused(err) {
		t.Errorf("%s: %v", name, err)
	}
	if f.queuedAt(t, d.ID, later) != 0 {
		t.Errorf("%s: the redelivery was refused, and is queued", name)
	}
	got, _, err := f.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID)
	switch {
	case errors.Is(err, partner.ErrNotFound) && name == "delete the webhook":
	case err != nil || got.Status != d.Status || got.Attempts != d.Attempts:
		t.Errorf("%s: the redelivery was refused and left %+v, %v", name, got, err)
	}
}
