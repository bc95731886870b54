package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

var planCases = []testCase[partnerkit.Store]{
	// DLV-04: a plan's input is the next events of a business and its webhooks.
	{"Unplanned events come in order with their subscribers", func(t *testing.T, e partnerkit.Store) {
		f, other := newSender(t, e), newSender(t, e)
		all := f.recorded(t, 3)
		own := partner.Event{ID: id.New(id.Event, noon.Add(time.Hour)), Type: events.AppInstalled, BusinessID: f.business, AppID: other.app.ID, Data: []byte(`{}`), CreatedAt: noon}
		must(t, e.RecordEvents(t.Context(), own))
		off := addWebhook(t, e, f.app.ID)
		_, err := e.UpdateWebhook(t.Context(), f.app.ID, off.ID, func(w partner.Webhook) (partner.Webhook, error) {
			w.Enabled = false
			return w, nil
		})
		must(t, err)
		gone := addWebhook(t, e, f.app.ID)
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, gone.ID, noon))

		got, byApp := f.unplanned(t)
		if diff := cmp.Diff(append(all, own), eventsOf(got)); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
		if got.HasMore || got.HasMoreSubscribers {
			t.Errorf("there is more: %+v", got)
		}
		want := []webhookstore.Subscriber{{
			WebhookID: f.webhook.ID, Events: f.webhook.Events, CreatedAt: noon, AppID: f.app.ID, AppScopes: allScopes,
			InstalledAt: noon, InstallationScopes: allScopes,
		}}
		if diff := cmp.Diff(want, got.Subscribers); diff != "" {
			t.Errorf("subscribers (-want +got)\n%s", diff)
		}
		want = []webhookstore.Subscriber{{
			WebhookID: other.webhook.ID, Events: other.webhook.Events, CreatedAt: noon, AppID: other.app.ID, AppScopes: allScopes,
		}}
		if diff := cmp.Diff(want, byApp[other.app.ID]); diff != "" {
			t.Errorf("by app (-want +got)\n%s", diff)
		}
		f.planNext(t, 1)
		if rest, _ := f.unplanned(t); !slices.Equal(idsOf(eventsOf(rest)), idsOf(append(all[1:], own))) {
			t.Errorf("after the first: %v", rest)
		}
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppDeactivated))
		if got, _ := f.unplanned(t); len(got.Subscribers) != 0 {
			t.Errorf("a deactivated app subscribes: %v", got.Subscribers)
		}
	}},
	// DLV-08: events that were numbered before they are planned come first, by their numbers.
	{"A plan gives numbers to events that have none", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		first := f.recorded(t, 2)
		number(t, e, f.business)
		early := f.recorded(t, 2) // by their ids they would come before the others
		got, _ := f.unplanned(t)
		all := slices.Concat(first, early)
		if diff := cmp.Diff(idsOf(all), idsOf(eventsOf(got))); diff != "" {
			t.Fatalf("order (-want +got)\n%s", diff)
		}
		var deliveries []partner.Delivery
		for _, one := range all {
			deliveries = append(deliveries, f.delivery(one.ID, noon))
		}
		if !f.savePlan(t, f.plan(got, 4, deliveries...)) {
			t.Fatal("the plan is not saved")
		}
		last := got.Numbered + 2
		for i, d := range deliveries {
			stored, _ := f.stored(t, d.ID)
			if want := last - 3 + int64(i); stored.Sequence != want || event(t, e, f.business, all[i].ID).Number != want {
				t.Errorf("event %d has number %d, its delivery %d, want %d", i, event(t, e, f.business, all[i].ID).Number, stored.Sequence, want)
			}
		}
		if left, _ := f.unplanned(t); len(left.Events) != 0 {
			t.Errorf("planned, and still in the outbox: %v", left.Events)
		}
	}},
	// DLV-04: numbers that came in between would give two events the same place.
	{"A plan that was overtaken by numbers is not saved", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.recorded(t, 2)
		got, _ := f.unplanned(t)
		number(t, e, f.business)
		if f.savePlan(t, f.plan(got, 2)) {
			t.Error("saved")
		}
		f.planNext(t, 2)
	}},
	// DLV-06: what a plan reads is bounded, and goes on where the plan before it ended.
	{"The input of a plan is bounded", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.recorded(t, 600)
		read := 0
		for more := true; more; {
			got, _ := f.unplanned(t)
			if more = got.HasMore; len(got.Events) == 0 || len(got.Events) > 400 {
				t.Fatalf("%d events at once", len(got.Events))
			}
			read += len(got.Events)
			f.savePlan(t, f.plan(got, len(got.Events)))
		}
		if read != 600 {
			t.Fatalf("read %d events", read)
		}
		f.recorded(t, 1)
		second := addWebhook(t, e, f.app.ID)
		got, _ := f.unplanned(t)
		ids := []string{f.webhook.ID, second.ID}
		slices.Sort(ids)
		part := f.plan(got, 1)
		part.Steps[0].Webhook = ids[0]
		f.savePlan(t, part)
		if got, _ = f.unplanned(t); len(got.Subscribers) != 1 || got.Subscribers[0].WebhookID != ids[1] || len(got.Events) != 1 || got.Events[0].Number == 0 || got.Events[0].Planned != ids[0] {
			t.Errorf("the rest of the event: %v", got)
		}
		f.planNext(t, 1)
		if got, _ = f.unplanned(t); len(got.Events) != 0 {
			t.Errorf("planned twice: %v", got.Events)
		}
	}},
	// DLV-06: what a plan reads may end between two businesses. A business that has more
	// webhooks has at least one.
	{"The input of a plan ends between two businesses", func(t *testing.T, e partnerkit.Store) {
		const businesses, hooks = 51, 40 // 50 of them have the 2,000 webhooks of one read
		f := newOAuth(t, e)
		for range hooks {
			addWebhook(t, e, f.app.ID)
		}
		for range businesses {
			f.business = fmt.Sprintf("biz_%d", serial.Add(1))
			f.code(t) // the installation is an event
		}
		left := backlogs(t, e)
		seen := map[string]int{}
		for len(left) > 0 {
			got := get[webhookstore.Unplanned](t)(e.Unplanned(t.Context(), left))
			if len(got.Businesses) == 0 {
				break
			}
			for _, b := range got.Businesses {
				if seen[b.BusinessID] += len(b.Subscribers); b.HasMoreSubscribers && len(b.Subscribers) == 0 {
					t.Fatalf("%s has more webhooks, and none was read", b.BusinessID)
				}
				left = slices.DeleteFunc(left, func(one webhookstore.Backlog) bool { return one.BusinessID == b.BusinessID })
			}
			if got.HasMore != (len(left) > 0) {
				t.Errorf("HasMore is %v, and %d are left", got.HasMore, len(left))
			}
		}
		for business, n := range seen {
			if n != hooks {
				t.Errorf("%s has %d webhooks, want %d", business, n, hooks)
			}
		}
		if len(seen) != businesses {
			t.Errorf("%d businesses, want %d", len(seen), businesses)
		}
	}},
	// DLV-06: one business with many events does not hide the others.
	{"Backlogs have every business once", func(t *testing.T, e partnerkit.Store) {
		first, second := newBusiness(), newBusiness()
		many := happened(first, "a.b", 1500)
		must(t, e.RecordEvents(t.Context(), many...))
		one := happened(second, "a.b", 1)
		must(t, e.RecordEvents(t.Context(), one...))
		want := map[string]string{first: many[0].ID, second: one[0].ID}
		got := map[string]string{}
		for _, b := range backlogs(t, e) {
			if _, ok := got[b.BusinessID]; ok {
				t.Errorf("%s comes twice", b.BusinessID)
			}
			got[b.BusinessID] = b.EventID
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	// DLV-04: no delivery is planned twice, even by different nodes.
	{"Of several planners one queues", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newSender(t, e)
			all := f.recorded(t, 5)
			got, _ := f.unplanned(t)
			var saved atomic.Int64
			testdb.Race(8, func(int) {
				mine := f.plan(got, 5)
				for _, event := range all {
					mine.Deliveries = append(mine.Deliveries, f.delivery(event.ID, noon))
				}
				if f.savePlan(t, mine) {
					saved.Add(1)
				}
			})
			if got := len(f.due(t, noon)); saved.Load() != 1 || got != 5 {
				t.Fatalf("%d plans saved, %d due, want 1 and 5", saved.Load(), got)
			}
		}
	}},
}

// eventsOf returns the events of a backlog, without their numbers.
func eventsOf(b webhookstore.Unsent) []partner.Event {
	var all []partner.Event
	for _, one := range b.Events {
		one.Number = 0
		all = append(all, one.Event)
	}
	return all
}

// backlogs returns every business with events in the outbox.
func backlogs(t *testing.T, e partnerkit.Store) (all []webhookstore.Backlog) {
	t.Helper()
	var behind *webhookstore.Backlog
	for {
		page := get[[]webhookstore.Backlog](t)(e.Backlogs(t.Context(), behind))
		if len(page) == 0 {
			return all
		}
		all, behind = append(all, page...), &page[len(page)-1]
	}
}
