package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// deliveryPurgeCases test the promises of every store about [storage.PurgeDeliveries]. DLV-08.
var deliveryPurgeCases = []testCase[partnerkit.Store]{
	{"DLV-08 old deliveries are purged, oldest first and in any state", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		var made []partner.Delivery
		for i := range 6 {
			at := noon.Add(time.Duration(i) * time.Second)
			attempt := partner.Attempt{Number: 1, StartedAt: at}
			if i%2 == 0 {
				made = append(made, f.failed(t, at, attempt))
			} else {
				made = append(made, f.waiting(t, at, attempt))
			}
		}
		before := noon.Add(time.Hour)
		kept := []partner.Delivery{f.failed(t, before), f.waiting(t, before.Add(time.Second), partner.Attempt{Number: 1, StartedAt: noon})}
		made = append(made, kept...)
		newWebhook(t, e).waiting(t, before)
		for i, want := range []int{4, 2, 0} {
			if n := get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), before, 4)); n != want {
				t.Errorf("batch %d: %d were purged, want %d", i+1, n, want)
			}
			f.wantPurged(t, made, min(4*(i+1), 6))
		}
		page := get[partner.DeliveryPage](t)(e.Deliveries(t.Context(), f.listed(10)))
		if got := deliveryIDs(page.Deliveries); !slices.Equal(got, []string{kept[1].ID, kept[0].ID}) {
			t.Errorf("%v are listed", got)
		}
		for _, due := range f.inQueue(t) {
			if due.ID != kept[1].ID {
				t.Errorf("%s is still in the queue", due.ID)
			}
		}
		if _, attempts, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, kept[1].ID); err != nil || len(attempts) != 1 {
			t.Errorf("a delivery that is kept has %d attempts, %v", len(attempts), err)
		}
	}},
	{"DLV-08 a deleted webhook is purged after its deliveries", func(t *testing.T, e partnerkit.Store) {
		f := newWebhook(t, e)
		empty := f.another(noon)
		must(t, e.CreateWebhook(t.Context(), empty, maxWebhooks))
		f.failed(t, noon)
		f.failed(t, noon.Add(2*time.Hour))
		for _, webhookID := range []string{f.webhook.ID, empty.ID} {
			must(t, e.DeleteWebhook(t.Context(), f.app.ID, webhookID, noon))
		}
		stays := newWebhook(t, e).webhook
		for i, step := range []struct {
			before      time.Time
			limit, want int
		}{
			{noon, 10, 0},                   // deleted just then
			{noon.Add(time.Hour), 1, 1},     // the old delivery fills the batch
			{noon.Add(time.Hour), 1, 1},     // the webhook without deliveries
			{noon.Add(time.Hour), 1, 0},     // the other one still has a delivery
			{noon.Add(3 * time.Hour), 2, 2}, // the delivery and its webhook
			{noon.Add(3 * time.Hour), 2, 0},
		} {
			if n := get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), step.before, step.limit)); n != step.want {
				t.Errorf("step %d: %d were purged, want %d", i, n, step.want)
			}
			if err := e.CreateWebhook(t.Context(), f.webhook, maxWebhooks); i < 4 && !errors.Is(err, webhookstore.ErrTaken) {
				t.Errorf("step %d: the id of a deleted webhook that is not purged: %v", i, err)
			}
		}
		if _, err := e.Webhook(t.Context(), f.app.ID, f.webhook.ID, time.Time{}); err != nil {
			t.Errorf("the id of a purged webhook is still taken: %v", err)
		}
		must(t, e.CreateWebhook(t.Context(), empty, maxWebhooks))
		if _, err := e.Webhook(t.Context(), stays.AppID, stays.ID, time.Time{}); err != nil {
			t.Errorf("a webhook that was not deleted: %v", err)
		}
	}},
}

// wantPurged wants the first n of the deliveries to be gone, and the others not.
func (f *webhookFixture) wantPurged(t *testing.T, all []partner.Delivery, n int) {
	t.Helper()
	for i, d := range all {
		_, _, err := f.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID)
		if gone := errors.Is(err, partner.ErrNotFound); gone != (i < n) || err != nil && !gone {
			t.Errorf("delivery %d of %d, of which %d are purged: %v", i, len(all), n, err)
		}
	}
}
