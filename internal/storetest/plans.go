package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

var planCases = []testCase[partnerkit.Store]{
	// DLV-04: a plan's input is the next events of a business and its webhooks.
	{"Unplanned events come in order with their subscribers", func(t *testing.T, e partnerkit.Store) {
		f, other := newSender(t, e), newSender(t, e)
		all := f.recorded(t, 3)
		own := events.Event{ID: id.New(id.Event, noon.Add(time.Hour)), Type: events.AppInstalled, BusinessID: f.business, AppID: other.app.ID, Data: []byte(`{}`), CreatedAt: noon}
		must(t, e.RecordEvents(t.Context(), own))
		off := addWebhook(t, e, f.app.ID)
		_, err := e.UpdateWebhook(t.Context(), f.app.ID, off.ID, func(w webhooks.Webhook) (webhooks.Webhook, error) {
			w.Enabled = false
			return w, nil
		})
		must(t, err)
		gone := addWebhook(t, e, f.app.ID)
		must(t, e.DeleteWebhook(t.Context(), f.app.ID, gone.ID, noon))

		got, byApp := f.backlog(t)
		if diff := cmp.Diff(append(all, own), got.Events, cmpopts.IgnoreFields(events.Event{}, "Number")); diff != "" {
			t.Errorf("events (-want +got)\n%s", diff)
		}
		if last := got.Events[len(got.Events)-1].Number; got.Last != last || got.HasMore {
			t.Errorf("the last number is %d, want %d; more webhooks: %v", got.Last, last, got.HasMore)
		}
		want := []webhooks.Subscriber{{
			WebhookID: f.webhook.ID, Events: f.webhook.Events, CreatedAt: noon, AppID: f.app.ID, AppScopes: allScopes,
			InstalledAt: noon, InstallationScopes: allScopes,
		}}
		if diff := cmp.Diff(want, got.Subscribers); diff != "" {
			t.Errorf("subscribers (-want +got)\n%s", diff)
		}
		want = []webhooks.Subscriber{{
			WebhookID: other.webhook.ID, Events: other.webhook.Events, CreatedAt: noon, AppID: other.app.ID, AppScopes: allScopes,
		}}
		if diff := cmp.Diff(want, byApp[other.app.ID]); diff != "" {
			t.Errorf("by app (-want +got)\n%s", diff)
		}

		after := webhooks.PlanCursor{Number: got.Events[0].Number}
		if !f.savePlan(t, webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: after}}}) {
			t.Fatal("the cursor does not move")
		}
		if rest, _ := f.backlog(t); len(rest.Events) != 3 || rest.Events[0].ID != all[1].ID || rest.From != after {
			t.Errorf("after the first: %v", rest)
		}
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, oauthserver.AppDeactivated))
		if got, _ := f.backlog(t); len(got.Subscribers) != 0 {
			t.Errorf("a deactivated app subscribes: %v", got.Subscribers)
		}
	}},
	// EVT-05: numbers follow the ids within a round, have no gaps, and never change.
	{"Numbering has no gaps", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		first := f.recorded(t, 2)
		get[events.Numbered](t)(e.NumberEvents(t.Context(), events.Numbering{BusinessID: f.business}))
		all := slices.Concat(first, f.recorded(t, 2), f.recorded(t, 700))
		f.number(t)
		var numbers []int64
		for _, want := range all {
			numbers = append(numbers, event(t, e, f.business, want.ID).Number)
		}
		slices.Sort(numbers) // those of the same second are recorded again and again
		for i, n := range numbers {
			if n != numbers[0]+int64(i) {
				t.Fatalf("number %d follows %d", n, numbers[i-1])
			}
		}
		for i, want := range first {
			if got := event(t, e, f.business, want.ID); got.Number != numbers[i] {
				t.Errorf("%s has number %d, want %d", want.ID, got.Number, numbers[i])
			}
		}
	}},
	// EVT-05: concurrent numbering leaves no event out and gives no number twice.
	{"Of several who number events each gets one number", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newSender(t, e)
			all := f.recorded(t, 20)
			Race(8, func(i int) {
				if i%2 == 0 {
					get[events.Numbered](t)(e.NumberEvents(t.Context(), events.Numbering{BusinessID: f.business}))
				} else {
					f.number(t)
				}
			})
			seen := map[int64]bool{}
			for _, want := range all {
				seen[event(t, e, f.business, want.ID).Number] = true
			}
			if len(seen) != 20 || seen[0] {
				t.Fatalf("numbers %v", seen)
			}
		}
	}},
	// DLV-06: what a plan reads is bounded, and goes on where the plan before it ended.
	{"The input of a plan is bounded", func(t *testing.T, e partnerkit.Store) {
		f := newSender(t, e)
		f.recorded(t, 250)
		for i := range 3 {
			got, _ := f.backlog(t)
			if want := []int{100, 100, 50}[i]; len(got.Events) != want || got.Last != got.Events[want-1].Number {
				t.Fatalf("%d events up to %d, want %d", len(got.Events), got.Last, want)
			}
			f.savePlan(t, webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: webhooks.PlanCursor{Number: got.Last}}}})
		}
		f.recorded(t, 1)
		second := addWebhook(t, e, f.app.ID)
		got, _ := f.backlog(t)
		ids := []string{f.webhook.ID, second.ID}
		slices.Sort(ids)
		f.savePlan(t, webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: webhooks.PlanCursor{Number: got.From.Number, WebhookID: ids[0]}}}})
		if got, _ = f.backlog(t); len(got.Subscribers) != 1 || got.Subscribers[0].WebhookID != ids[1] || len(got.Events) != 1 {
			t.Errorf("the rest of the event: %v", got)
		}
	}},
	// DLV-06: what a plan reads may end between two businesses. The next read begins with the
	// second of them; a business with HasMore has at least one webhook.
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
		f.number(t)
		seen := map[string]int{}
		for after := ""; ; {
			got := get[webhooks.Unplanned](t)(e.Unplanned(t.Context(), after))
			if len(got.Backlogs) == 0 {
				break
			}
			for _, b := range got.Backlogs {
				if seen[b.BusinessID] += len(b.Subscribers); b.HasMore && len(b.Subscribers) == 0 {
					t.Fatalf("%s has HasMore and no webhooks", b.BusinessID)
				}
				after = b.BusinessID
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
	// DLV-04: no delivery is planned twice, even by different nodes.
	{"Of several planners one queues", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newSender(t, e)
			all := f.recorded(t, 5)
			got, _ := f.backlog(t)
			var saved atomic.Int64
			Race(8, func(int) {
				mine := webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: webhooks.PlanCursor{Number: got.Last}}}}
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
