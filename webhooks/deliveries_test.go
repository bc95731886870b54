package webhooks_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/fixture"
	harnesses "github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-09: the 100 most recent, newest first, with what the console shows; each
// attempt is to be seen.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	k.failed(k.hook(sampled), sampled) // another webhook's
	var want []string
	for i := range webhooks.MaxListed + 5 {
		k.Clock.Advance(time.Second)
		d := k.queued(w, sampled)
		if i == webhooks.MaxListed {
			d = k.end(d, partner.DeliveryFailed)
		}
		want = append([]string{d.ID}, want...)
	}
	page, err := k.service.Deliveries(t.Context(), partner.DeliveryQuery{AppID: k.app.ID, WebhookID: w.ID})
	k.Must(err)
	var got []string
	for _, d := range page.Deliveries {
		got = append(got, d.ID)
	}
	if diff := cmp.Diff(want[:100], got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	failed := page.Deliveries[4]
	if failed.EventType != sampled || failed.Status != partner.DeliveryFailed || failed.Attempts != 6 || failed.ResponseCode != 500 || failed.LastError != "answered with status 500" || failed.Body != nil {
		t.Errorf("listed as %+v", failed)
	}
	one, attempts, err := k.service.Delivery(t.Context(), k.app.ID, w.ID, failed.ID)
	k.Must(err)
	if len(attempts) != 1 || attempts[0].Number != 6 || attempts[0].ResponseCode != 500 || string(attempts[0].ResponseBody) != "oh" || attempts[0].StartedAt.IsZero() {
		t.Errorf("attempts %+v", attempts)
	}
	if !bytes.Equal(one.Body, []byte(`{"id":"dlv"}`)) {
		t.Errorf("body %s", one.Body)
	}
	_, _, err = k.service.Delivery(t.Context(), k.app.ID, w.ID, "dlv_absent")
	wantNotFound(t, "an absent delivery", err)
}

// DLV-08: deliveries older than 30 days are deleted, in every state and in any number;
// newer ones stay, and sending continues.
func TestTidy(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w, deleted := k.hook(sampled), k.hook(sampled)
	for range 401 { // more than two batches
		k.queued(w, sampled)
	}
	k.failed(deleted, sampled)
	k.Must(k.service.Delete(t.Context(), k.app.ID, deleted.ID))
	k.Clock.Advance(time.Hour)
	young := k.queued(w, sampled)

	k.Clock.Advance(webhooks.Retention - time.Hour)
	k.service.Tidy(t.Context(), k.Clock.Now())
	if n := len(k.due(w)); n != 402 {
		t.Errorf("%d are left at exactly 30 days", n)
	}
	k.Clock.Advance(time.Millisecond)
	k.Store.Tap.Reset()
	k.service.Tidy(t.Context(), k.Clock.Now())
	if _, commits := k.Store.Tap.Counts(); commits != 4 { // 200, 200, the rest with the deleted webhook, and counts of attempts
		t.Errorf("%d acts", commits)
	}
	k.wantDue(w, young.ID)
	if _, err := k.service.Get(t.Context(), k.app.ID, w.ID); err != nil {
		t.Errorf("a webhook that is not deleted: %v", err)
	}
	again := webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, ID: deleted.ID}
	if _, _, err := k.service.Create(t.Context(), again); err != nil {
		t.Errorf("the deleted webhook is still there: %v", err)
	}
	if k.log.String() != "" {
		t.Errorf("it logged %s", k.log)
	}
}

// A host that drops partitions gets time for it; less than 30 days is refused.
func TestPurgeAfter(t *testing.T) {
	t.Parallel()
	k := newConsole(t, func(c *webhooks.Config) { c.PurgeAfter = webhooks.Retention + 48*time.Hour })
	w := k.hook(sampled)
	k.queued(w, sampled)
	for _, left := range []int{1, 0} {
		k.Clock.Advance(webhooks.Retention/2 + 24*time.Hour + time.Millisecond*time.Duration(1-left))
		k.service.Tidy(t.Context(), k.Clock.Now())
		if n := len(k.due(w)); n != left {
			t.Errorf("%d are left after %v, want %d", n, k.Clock.Now().Sub(harnesses.Start), left)
		}
	}
	if _, err := webhooks.New(webhooks.Config{Store: k.Store, Keyring: fixture.Keyring(1), Options: webhooks.Options{PurgeAfter: webhooks.Retention - 1}}); err == nil {
		t.Error("took less than what deliveries are kept for")
	}
}

// DLV-08: an error is logged and ends the round; the next round does the work.
func TestTidyFault(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook(sampled)
	k.queued(w, sampled)
	k.Clock.Advance(webhooks.Retention + time.Second)
	k.Store.Tap.Arm(testdb.FaultError, 1)
	k.service.Tidy(t.Context(), k.Clock.Now())
	if !strings.Contains(k.log.String(), "purge failed") || len(k.due(w)) != 1 {
		t.Errorf("%d are left, and it logged %q", len(k.due(w)), k.log)
	}
	k.Store.Tap.Reset()
	k.service.Tidy(t.Context(), k.Clock.Now())
	k.wantDue(w)
}
