package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/webhooks"
)

// senderFixture is a connected app with a webhook, and a dispatcher that holds
// every shard.
type senderFixture struct {
	*oauthFixture
	webhook webhooks.Webhook
	node    string
	epochs  map[int]int64
}

const subscribed = "invoice.created"

func newSender(t *testing.T, e partnerkit.Store) *senderFixture {
	t.Helper()
	f := &senderFixture{oauthFixture: newOAuth(t, e), node: "node_1", epochs: map[int]int64{}}
	f.code(t)
	// That it was installed is not what the cases are about.
	installed, _ := f.backlog(t)
	f.savePlan(t, webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: installed.From, To: webhooks.PlanCursor{Number: installed.Last}}}})
	f.webhook = addWebhook(t, e, f.app.ID)
	f.takeAll(t)
	return f
}

func addWebhook(t *testing.T, e partnerkit.Store, appID string) webhooks.Webhook {
	t.Helper()
	w := webhooks.Webhook{
		ID: id.New(id.Webhook, noon), AppID: appID, URL: "https://app.example/hook", Events: []string{subscribed}, Enabled: true,
		CreatedAt: noon, UpdatedAt: noon, Secrets: webhooks.Secrets{Secret: []byte("sealed")},
	}
	must(t, e.CreateWebhook(t.Context(), w, 100))
	return w
}

// takeAll takes every shard that is free.
func (f *senderFixture) takeAll(t *testing.T) {
	t.Helper()
	fleet := get[webhooks.Fleet](t)(f.Beat(t.Context(), f.node, time.Minute))
	for _, shard := range fleet.Shards {
		if get[bool](t)(f.TakeShard(t.Context(), f.node, shard, time.Minute)) {
			f.epochs[shard.ID] = shard.Epoch + 1
		}
	}
}

// recorded records events of the business, one a second.
func (f *senderFixture) recorded(t *testing.T, n int) []events.Event {
	t.Helper()
	all := make([]events.Event, n)
	for i := range all {
		at := noon.Add(time.Duration(i+1) * time.Second)
		all[i] = events.Event{ID: id.New(id.Event, at), Type: subscribed, BusinessID: f.business, Data: []byte(`{}`), CreatedAt: at}
	}
	must(t, f.RecordEvents(t.Context(), all...))
	return all
}

// number gives every event its number.
func (f *oauthFixture) number(t *testing.T) {
	t.Helper()
	for hasMore := true; hasMore; {
		hasMore = get[events.Numbered](t)(f.NumberEvents(t.Context(), events.Numbering{})).HasMore
	}
}

// backlog numbers all events and returns what is unplanned of the business's, and the
// subscribers by app.
func (f *oauthFixture) backlog(t *testing.T) (webhooks.Backlog, map[string][]webhooks.Subscriber) {
	t.Helper()
	f.number(t)
	for after := ""; ; {
		got := get[webhooks.Unplanned](t)(f.Unplanned(t.Context(), after))
		for _, b := range got.Backlogs {
			if b.BusinessID == f.business {
				return b, got.ByApp
			}
			after = b.BusinessID
		}
		if len(got.Backlogs) == 0 {
			return webhooks.Backlog{}, nil
		}
	}
}

func (f *senderFixture) savePlan(t *testing.T, p webhooks.Plan) bool {
	t.Helper()
	return get[bool](t)(f.SavePlan(t.Context(), p))
}

// delivery of an event that is due at a time.
func (f *senderFixture) delivery(eventID string, due time.Time) webhooks.Delivery {
	return webhooks.Delivery{
		ID: id.New(id.Delivery, due), WebhookID: f.webhook.ID, AppID: f.app.ID, EventID: eventID, EventType: subscribed, BusinessID: f.business,
		Body: []byte{'{', 0, 0xff}, Status: webhooks.Queued, NextAttemptAt: due, CreatedAt: noon,
	}
}

// queued plans new events, with one delivery each, a second apart.
func (f *senderFixture) queued(t *testing.T, n int) []webhooks.Delivery {
	t.Helper()
	all := f.recorded(t, n)
	got, _ := f.backlog(t)
	p := webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: webhooks.PlanCursor{Number: got.From.Number + int64(n)}}}}
	for i, e := range all {
		p.Deliveries = append(p.Deliveries, f.delivery(e.ID, noon.Add(time.Duration(i)*time.Second)))
	}
	if !f.savePlan(t, p) {
		t.Fatal("the plan is not saved")
	}
	return p.Deliveries
}

func notTaken(string) bool { return false }

// due claims deliveries of the webhook that are due until a time.
func (f *senderFixture) due(t *testing.T, until time.Time) []webhooks.Due {
	t.Helper()
	return get[[]webhooks.Due](t)(f.DueDeliveries(t.Context(), webhooks.Claim{
		Webhooks: []webhooks.WebhookClaim{{WebhookID: f.webhook.ID, Limit: 1000}}, Now: until, IsTaken: notTaken,
	}))
}

func (f *senderFixture) finish(outcomes ...webhooks.Outcome) webhooks.Finish {
	return webhooks.Finish{Node: f.node, Now: noon, Lease: time.Minute, Outcomes: outcomes}
}

// outcome of an attempt with that status.
func (f *senderFixture) outcome(due webhooks.Due, status webhooks.Status, code int) webhooks.Outcome {
	o := webhooks.Outcome{
		Due: due, Epoch: f.epochs[webhooks.ShardOf(due.WebhookID)], Status: status, Attempts: due.Attempts + 1, ResponseCode: code,
		Attempt: &webhooks.Attempt{ID: id.New(id.Attempt, noon), Number: due.Attempts + 1, Signature: "t=1,v1=00", StartedAt: noon, Duration: time.Second, ResponseCode: code, ResponseBody: []byte{0xff, 0}},
	}
	if status != webhooks.Delivered {
		o.LastError = fmt.Sprintf("answered with status %d", code)
		o.Attempt.Error = o.LastError
	}
	if status == webhooks.Retrying {
		o.NextAttemptAt = noon.Add(time.Minute)
	}
	return o
}

// stored returns a delivery and its attempts.
func (f *senderFixture) stored(t *testing.T, deliveryID string) (webhooks.Delivery, []webhooks.Attempt) {
	t.Helper()
	d, attempts, err := f.Delivery(t.Context(), f.app.ID, f.webhook.ID, deliveryID)
	must(t, err)
	return d, attempts
}
