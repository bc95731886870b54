package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// senderFixture is a connected app with a webhook, and a node that holds every shard.
type senderFixture struct {
	*oauthFixture
	webhook partner.Webhook
	node    string
	shards  []webhookstore.Shard
	epochs  map[webhookstore.ShardID]int64
}

const subscribed = "invoice.created"

func newSender(t testing.TB, e partnerkit.Store) *senderFixture {
	t.Helper()
	f := &senderFixture{oauthFixture: newOAuth(t, e), node: "node_1"}
	f.code(t)
	f.takeAll(t)
	f.planNext(t, 1) // that it was installed, which is not what the cases are about
	f.webhook = addWebhook(t, e, f.app.ID)
	return f
}

func addWebhook(t testing.TB, e partnerkit.Store, appID string) partner.Webhook {
	t.Helper()
	w := partner.Webhook{
		ID: id.New(id.Webhook, noon), AppID: appID, URL: "https://app.example/hook", Events: []string{subscribed}, Enabled: true,
		CreatedAt: noon, UpdatedAt: noon, Secrets: partner.Secrets{Secret: []byte("sealed")},
	}
	must(t, e.CreateWebhook(t.Context(), w, 100))
	return w
}

// takeAll takes every shard that is free.
func (f *senderFixture) takeAll(t testing.TB) {
	t.Helper()
	f.epochs = map[webhookstore.ShardID]int64{}
	f.shards = get[webhookstore.Fleet](t)(f.Beat(t.Context(), f.node, time.Minute)).Shards
	for _, shard := range f.shards {
		if shard.Holder == f.node {
			f.epochs[shard.ShardID] = shard.Epoch
		} else if get[bool](t)(f.TakeShard(t.Context(), f.node, shard, time.Minute)) {
			f.epochs[shard.ShardID] = shard.Epoch + 1
		}
	}
}

// sendShard returns the shard of a webhook, of those that there are.
func sendShard(webhookID string, all []webhookstore.Shard) webhookstore.ShardID {
	return webhookstore.ShardID{Kind: webhookstore.SendShard, Number: webhookstore.ShardOf(webhookID, len(all)/2)}
}

// recorded records events of the business, one a second.
func (f *senderFixture) recorded(t testing.TB, n int) []partner.Event {
	t.Helper()
	all := make([]partner.Event, n)
	for i := range all {
		at := noon.Add(time.Duration(i+1) * time.Second)
		all[i] = partner.Event{ID: id.New(id.Event, at), Type: subscribed, BusinessID: f.business, Data: []byte(`{}`), CreatedAt: at}
	}
	must(t, f.RecordEvents(t.Context(), all...))
	return all
}

// number gives all events of a business their numbers.
func number(t testing.TB, e partnerkit.Store, business string) {
	t.Helper()
	for hasMore := true; hasMore; {
		hasMore = get[bool](t)(e.NumberEvents(t.Context(), business))
	}
}

// unplanned returns the next events of the business, and the subscribers by app.
func (f *oauthFixture) unplanned(t testing.TB) (webhookstore.Unsent, map[string][]webhookstore.Subscriber) {
	t.Helper()
	got := get[webhookstore.Unplanned](t)(f.Unplanned(t.Context(), []webhookstore.Backlog{{BusinessID: f.business}}))
	if len(got.Businesses) == 0 {
		return webhookstore.Unsent{}, nil
	}
	return got.Businesses[0], got.ByApp
}

// plan returns a plan for the first events of the business, with deliveries.
func (f *senderFixture) plan(of webhookstore.Unsent, n int, deliveries ...partner.Delivery) webhookstore.Plan {
	p := webhookstore.Plan{
		Node: f.node, Shards: map[int]int64{}, Deliveries: deliveries,
		Steps: []webhookstore.PlanStep{{BusinessID: of.BusinessID, Numbered: of.Numbered, Events: of.Events[:n]}},
	}
	for shard, epoch := range f.epochs {
		if shard.Kind == webhookstore.PlanShard {
			p.Shards[shard.Number] = epoch
		}
	}
	return p
}

// planNext plans the next events of the business, with deliveries.
func (f *senderFixture) planNext(t testing.TB, n int, deliveries ...partner.Delivery) {
	t.Helper()
	of, _ := f.unplanned(t)
	if !f.savePlan(t, f.plan(of, n, deliveries...)) {
		t.Fatal("the plan is not saved")
	}
}

func (f *senderFixture) savePlan(t testing.TB, p webhookstore.Plan) bool {
	t.Helper()
	return get[bool](t)(f.SavePlan(t.Context(), p))
}

// delivery of an event that is due at a time.
func (f *senderFixture) delivery(eventID string, due time.Time) partner.Delivery {
	return partner.Delivery{
		ID: id.New(id.Delivery, due), WebhookID: f.webhook.ID, AppID: f.app.ID, EventID: eventID, EventType: subscribed, BusinessID: f.business,
		Body: []byte{'{', 0, 0xff}, Status: partner.DeliveryQueued, NextAttemptAt: due, CreatedAt: noon,
	}
}

// queued plans new events, with one delivery each, a second apart.
func (f *senderFixture) queued(t testing.TB, n int) []partner.Delivery {
	t.Helper()
	all := make([]partner.Delivery, n)
	for i, e := range f.recorded(t, n) {
		all[i] = f.delivery(e.ID, noon.Add(time.Duration(i)*time.Second))
	}
	f.planNext(t, n, all...)
	return all
}

func notTaken(string) bool { return false }

// due claims deliveries of the webhook that are due until a time.
func (f *senderFixture) due(t testing.TB, until time.Time) []webhookstore.Due {
	t.Helper()
	return get[[]webhookstore.Due](t)(f.DueDeliveries(t.Context(), webhookstore.Claim{
		Webhooks: []webhookstore.WebhookClaim{{WebhookID: f.webhook.ID, Limit: 1000}}, Now: until, IsTaken: notTaken,
	}))
}

func (f *senderFixture) finish(outcomes ...webhookstore.Outcome) webhookstore.Finish {
	return webhookstore.Finish{Node: f.node, Now: noon, Outcomes: outcomes}
}

// outcome of an attempt with that status.
func (f *senderFixture) outcome(due webhookstore.Due, status partner.DeliveryStatus, code int) webhookstore.Outcome {
	o := webhookstore.Outcome{
		Due: due, Epoch: f.epochs[sendShard(due.WebhookID, f.shards)], Status: status, Attempts: due.Attempts + 1, ResponseCode: code,
		Attempt: &partner.Attempt{ID: id.New(id.Attempt, noon), Number: due.Attempts + 1, Signature: "t=1,v1=00", StartedAt: noon, Duration: time.Second, ResponseCode: code, ResponseBody: []byte{0xff, 0}},
	}
	if status != partner.DeliveryDelivered {
		o.LastError = fmt.Sprintf("answered with status %d", code)
		o.Attempt.Error = o.LastError
	}
	if status == partner.DeliveryRetrying {
		o.NextAttemptAt = noon.Add(time.Minute)
	}
	return o
}

// stored returns a delivery and its attempts.
func (f *senderFixture) stored(t testing.TB, deliveryID string) (partner.Delivery, []partner.Attempt) {
	t.Helper()
	d, attempts, err := f.Delivery(t.Context(), f.app.ID, f.webhook.ID, deliveryID)
	must(t, err)
	return d, attempts
}
