package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// planned is an outbox in memory: events of businesses, all with the same webhooks.
type planned struct {
	outbox      map[string][]webhookstore.Pending
	subscribers []webhookstore.Subscriber
	page        int // how many webhooks a plan sees
}

var planTime = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func newPlanned(businesses, perBusiness, hooks, bodySize int) *planned {
	p := &planned{outbox: map[string][]webhookstore.Pending{}, page: 2000}
	read := identity.MustScopes("invoices:read")
	for i := range hooks {
		p.subscribers = append(p.subscribers, webhookstore.Subscriber{
			WebhookID: fmt.Sprintf("whk_%05d", i), Events: []string{"invoice.created"}, CreatedAt: planTime, AppID: "app_1",
			AppScopes: read, InstalledAt: planTime, InstallationScopes: read,
		})
	}
	data := []byte(`{"text":"` + strings.Repeat("x", bodySize) + `"}`)
	for i := range businesses {
		business := fmt.Sprintf("biz_%d", i)
		for n := range perBusiness {
			p.outbox[business] = append(p.outbox[business], webhookstore.Pending{Event: partner.Event{
				ID: id.New(id.Event, planTime.Add(time.Duration(n)*time.Second)), Type: "invoice.created", BusinessID: business, Data: data, CreatedAt: planTime,
			}})
		}
	}
	return p
}

// unplanned is what a store would return.
func (p *planned) unplanned() (u webhookstore.Unplanned) {
	for business, left := range p.outbox {
		if len(left) == 0 {
			continue
		}
		b := webhookstore.Unsent{BusinessID: business, Events: left}
		at := slices.IndexFunc(p.subscribers, func(s webhookstore.Subscriber) bool { return s.WebhookID == left[0].Planned })
		b.Subscribers = p.subscribers[at+1:]
		if len(b.Subscribers) > p.page {
			b.Subscribers, b.HasMoreSubscribers = b.Subscribers[:p.page], true
		}
		u.Businesses = append(u.Businesses, b)
	}
	return u
}

// save takes what is planned out of the outbox.
func (p *planned) save(t *testing.T, plan webhookstore.Plan) {
	t.Helper()
	for _, step := range plan.Steps {
		left := p.outbox[step.BusinessID]
		if len(step.Events) == 0 || len(step.Events) > len(left) || step.Webhook != "" && step.Webhook == step.Events[len(step.Events)-1].Planned {
			t.Fatalf("a step of %d events up to webhook %q, of %d", len(step.Events), step.Webhook, len(left))
		}
		n := len(step.Events)
		if step.Webhook != "" {
			n--
			left[n].Planned = step.Webhook
		}
		p.outbox[step.BusinessID] = left[n:]
	}
}

// DLV-06: a plan has a bounded number of deliveries, of which each business gets its
// share; the plans together have every delivery once.
func TestPlansAreBounded_DLV06(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		planned *planned
		plans   int // how many there are
	}{
		"an event for many webhooks":      {newPlanned(1, 1, 3*webhooks.PlanDeliveries, 0), 3},
		"more webhooks than a plan sees":  {withPage(newPlanned(1, 2, 100, 0), 30), 8},
		"many events":                     {newPlanned(1, 4*webhooks.PlanDeliveries, 1, 0), 4},
		"several businesses share a plan": {newPlanned(10, 4, webhooks.PlanDeliveries/10, 0), 4},
		"more businesses than deliveries": {newPlanned(2*webhooks.PlanDeliveries, 1, 1, 0), 1},
		"large bodies":                    {newPlanned(1, 2, 5, webhooks.PlanBytes), 10},
		"no webhooks":                     {newPlanned(3, 5, 0, 0), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHarness(t, webhooks.Config{})
			p, plans := test.planned, 0
			want := 0
			for _, all := range p.outbox {
				want += len(all) * len(p.subscribers)
			}
			seen := map[string]int{}
			last := map[string]string{} // the delivery before, by business and webhook
			for ; ; plans++ {
				u := p.unplanned()
				if len(u.Businesses) == 0 {
					break
				}
				plan := r.svc.PlanOf(u, planTime.Add(time.Duration(plans)*time.Second))
				if n := len(plan.Deliveries); n > max(webhooks.PlanDeliveries, len(u.Businesses)) {
					t.Fatalf("a plan has %d deliveries", n)
				}
				by := map[string]int{}
				for _, d := range plan.Deliveries {
					seen[d.EventID+d.WebhookID]++
					by[d.BusinessID]++
					if key := d.BusinessID + d.WebhookID; d.ID <= last[key] {
						t.Fatalf("%s comes after %s", d.ID, last[key])
					} else {
						last[key] = d.ID
					}
				}
				for _, n := range by {
					if n > max(webhooks.PlanDeliveries/len(u.Businesses), 1) {
						t.Fatalf("a business has %d deliveries, of %d businesses", n, len(u.Businesses))
					}
				}
				p.save(t, plan)
			}
			if len(seen) != want || slices.Max(append([]int{0}, mapValues(seen)...)) > 1 {
				t.Errorf("%d deliveries, want %d, each once", len(seen), want)
			}
			if plans != test.plans {
				t.Errorf("%d plans, want %d", plans, test.plans)
			}
		})
	}
}

func withPage(p *planned, n int) *planned {
	p.page = n
	return p
}

func mapValues(m map[string]int) (all []int) {
	for _, n := range m {
		all = append(all, n)
	}
	return all
}

// DLV-04: the webhooks of a business come in the order of the database, whose collation may
// sort the ids of a host in another way than Go does. Each of them gets the event.
func TestPlanInTheOrderOfTheDatabase_DLV04(t *testing.T) {
	t.Parallel()
	r := newHarness(t, webhooks.Config{})
	p := newPlanned(1, 2, webhooks.PlanDeliveries+3, 0)
	for i := range p.subscribers { // B after a, _ before 2
		p.subscribers[i].WebhookID = fmt.Sprintf("%s%05d", []string{"whk_alpha_", "whk_Beta", "whk_b_", "whk_b2"}[i%4], i)
	}
	seen := map[string]int{}
	for range 10 {
		u := p.unplanned()
		if len(u.Businesses) == 0 {
			break
		}
		plan := r.svc.PlanOf(u, planTime)
		for _, d := range plan.Deliveries {
			seen[d.WebhookID+" "+d.EventID]++
		}
		p.save(t, plan)
	}
	if want := 2 * len(p.subscribers); len(seen) != want || slices.Max(append([]int{0}, mapValues(seen)...)) > 1 {
		t.Errorf("%d deliveries, want %d, each once", len(seen), want)
	}
}

// DLV-04: an event that is purged while it is planned does not take webhooks from the next.
func TestPurgedWhilePlanned_DLV04(t *testing.T) {
	t.Parallel()
	r := newHarness(t, webhooks.Config{})
	p := newPlanned(1, 2, 2*webhooks.PlanDeliveries, 0)
	second := p.outbox["biz_0"][1].ID
	got := 0
	for range 10 {
		u := p.unplanned()
		if len(u.Businesses) == 0 {
			break
		}
		plan := r.svc.PlanOf(u, planTime)
		for _, d := range plan.Deliveries {
			if d.EventID == second {
				got++
			}
		}
		p.save(t, plan)
		if left := p.outbox["biz_0"]; len(left) == 2 { // the first is purged, with its place in the outbox or without
			left[0].Event = partner.Event{ID: left[0].ID}
		}
	}
	if got != len(p.subscribers) {
		t.Errorf("the second event has %d deliveries, want %d", got, len(p.subscribers))
	}
}

// DLV-06: a webhook that has one delivery now and then does not wait for those that have
// many.
func TestFewDeliveriesBesideMany_DLV06(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const busy, each = 40, 20
		r := newHarness(t, webhooks.Config{Options: webhooks.Options{MaxInFlight: 4, PerEndpoint: 2}})
		var apps []app
		for i := range busy {
			address := fmt.Sprintf("127.0.1.%d", i)
			r.net.handle(address, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(400 * time.Millisecond)
				w.WriteHeader(http.StatusNoContent)
			})
			a := r.app(address, "invoice.created")
			r.connect(a, "biz_busy", scopes)
			apps = append(apps, a)
		}
		quiet := r.app("127.0.2.1", "invoice.created")
		for range each {
			r.record("biz_busy", "invoice.created")
		}
		r.start()
		time.Sleep(30 * time.Second) // all of the busy ones have had their first turns, and have more work
		for n := 1; n <= 5; n++ {
			r.record(quiet.business, "invoice.created")
			time.Sleep(time.Second)
			if got := len(r.net.posts("127.0.2.1")); got != n {
				t.Errorf("after %d events %d posts", n, got)
			}
		}
		least, most := each, 0
		for _, a := range apps {
			got := len(r.net.posts(strings.TrimPrefix(a.business, "biz_")))
			least, most = min(least, got), max(most, got)
		}
		if least == 0 || most > 10*least {
			t.Errorf("the busy ones have had %d to %d turns", least, most)
		}
		r.halt()
	})
}
