package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

const (
	ofWebhooks = "webhooks"
	// lost is the answer of a node that does not hold the shard any more.
	lost Answer = "lost"
	// leftOut is the answer where nothing could be sent again.
	leftOut Answer = "left out"
	// soon is when the operations on deliveries happen.
	soon = 5 * time.Second
)

// sending returns the sender of the scene, which holds every shard. Its business has two
// events that are not planned, and its webhook three deliveries: queued, retrying and failed.
func (s *Scene) sending(t testing.TB) *senderFixture {
	t.Helper()
	if s.sender != nil {
		return s.sender
	}
	f := &senderFixture{oauthFixture: s.oauthFixture, node: "node"}
	for n := range 3 { // those of an earlier scene
		must(t, s.LeaveShards(t.Context(), otherNode(n)))
	}
	purgeOld(t, s)
	f.code(t)
	f.takeAll(t)
	f.planNext(t, 1)
	f.webhook = addWebhook(t, s, s.app.ID)
	for _, status := range []partner.DeliveryStatus{partner.DeliveryFailed, partner.DeliveryRetrying, partner.DeliveryQueued} {
		d := f.delivery(f.recorded(t, 1)[0].ID, noon)
		d.ID = s.delivery(status)
		f.planNext(t, 1, d)
		if status != partner.DeliveryQueued {
			get[webhookstore.Finished](t)(s.FinishAttempts(t.Context(), f.finish(f.outcome(f.due(t, noon)[0], status, 500))))
		}
	}
	s.sender, s.happened = f, f.recorded(t, 2)
	return f
}

// purgeOld purges the deliveries of scenes: their ids are of long ago.
func purgeOld(t testing.TB, e partnerkit.Store) {
	t.Helper()
	for n := 1; n > 0; {
		n = get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), noon.AddDate(-1, 0, 0), 1000))
	}
}

func otherNode(n int) string { return fmt.Sprintf("other_%d", n) }

// delivery returns the id of the delivery that had a status at the beginning. It is that of a
// delivery of long ago.
func (s *Scene) delivery(status partner.DeliveryStatus) string {
	return s.shared("dlv_00" + string(status))
}

// status returns the status of a delivery; empty if it is gone.
func (s *Scene) status(t testing.TB, deliveryID string) partner.DeliveryStatus {
	t.Helper()
	d, _, err := s.Delivery(t.Context(), s.app.ID, s.sender.webhook.ID, deliveryID)
	if errors.Is(err, partner.ErrNotFound) {
		return ""
	}
	must(t, err)
	return d.Status
}

// planAll plans the next events of the business, as the planner does. When they get their
// numbers meanwhile it tries again; when that goes on, the shard is lost.
func (f *senderFixture) planAll(ctx context.Context, on partnerkit.Store, tries int) (Answer, error) {
	for range tries {
		read, err := on.Unplanned(ctx, []webhookstore.Backlog{{BusinessID: f.business}})
		if err != nil || len(read.Businesses) == 0 {
			return answered(err)
		}
		of := read.Businesses[0]
		p := f.plan(of, len(of.Events))
		for _, e := range of.Events {
			p.Deliveries = append(p.Deliveries, f.delivery(e.ID, noon))
		}
		if saved, err := on.SavePlan(ctx, p); saved || err != nil {
			return answered(err)
		}
	}
	return lost, nil
}

// send is an operation that claims the deliveries that are due and records the same outcome of
// all of them.
func send(name string, status partner.DeliveryStatus, code int) Operation {
	return Operation{Name: name, Of: ofWebhooks, Answers: []Answer{Done, lost}, Prepare: func(t testing.TB, s *Scene) Act {
		f, id := s.sending(t), s.delivery(partner.DeliveryQueued)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				due, err := on.DueDeliveries(ctx, webhookstore.Claim{
					Webhooks: []webhookstore.WebhookClaim{{WebhookID: f.webhook.ID, Limit: 1000}}, Now: noon.Add(soon), IsTaken: notTaken,
				})
				if err != nil || len(due) == 0 {
					return answered(err)
				}
				var outcomes []webhookstore.Outcome
				for _, one := range due {
					outcomes = append(outcomes, f.outcome(one, status, code))
				}
				finished, err := on.FinishAttempts(ctx, f.finish(outcomes...))
				shard := sendShard(f.webhook.ID, f.shards)
				if epoch, ok := finished.Held[shard.Number]; err == nil && (!ok || epoch != f.epochs[shard]) {
					return lost, nil
				}
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				if got := s.status(t, id); (got == status) != happened {
					t.Errorf("happened %v: the delivery is %s", happened, got)
				}
			},
		}
	}}
}

// again is an operation that sends a delivery again, or sooner.
func again(name string, from partner.DeliveryStatus, check func(d partner.Delivery) bool) Operation {
	return Operation{Name: name, Of: ofWebhooks, Answers: []Answer{Done, leftOut, Answer(partner.ErrNotFound.Error())}, Prepare: func(t testing.TB, s *Scene) Act {
		f, id := s.sending(t), s.delivery(from)
		r := webhookstore.Redelivery{AppID: s.app.ID, WebhookID: f.webhook.ID, DeliveryIDs: []string{id}, From: from, Now: noon.Add(soon)}
		r.Check = func(d partner.Delivery, _ webhookstore.Standing) error {
			if d.Status != from {
				return webhookstore.ErrSkip
			}
			return nil
		}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				queued, err := on.Redeliver(ctx, r)
				if err == nil && len(queued) == 0 {
					return leftOut, nil
				}
				return answered(err, partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				if d, _ := f.stored(t, id); check(d) != happened {
					t.Errorf("happened %v: %+v", happened, d)
				}
			},
		}
	}}
}

// takeOver is an operation that takes a shard for another node: the lease of its holder, who
// does not know it, has ended. On a database of one process it has been given up.
func takeOver(name string, shardOf func(s *Scene) webhookstore.ShardID) Operation {
	return Operation{Name: name, Of: ofWebhooks, Answers: []Answer{Done, lost}, Skips: lost, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.sending(t)
		node, id := otherNode(s.prepared), shardOf(s)
		get[webhookstore.Fleet](t)(s.Beat(t.Context(), f.node, 0))
		look := func(t testing.TB) webhookstore.Shard {
			return shardIn(get[webhookstore.Fleet](t)(s.Beat(t.Context(), node, time.Minute)).Shards, id)
		}
		if look(t).LeaseLeft > 0 {
			must(t, s.ReleaseShards(t.Context(), f.node, []webhookstore.ShardID{id}))
		}
		seen := look(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				taken, err := on.TakeShard(ctx, node, seen, time.Minute)
				if err == nil && !taken {
					return lost, nil
				}
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				if got := look(t); (got.Holder == node) != happened {
					t.Errorf("happened %v: %+v", happened, got)
				}
			},
		}
	}}
}

func shardIn(all []webhookstore.Shard, id webhookstore.ShardID) webhookstore.Shard {
	for _, one := range all {
		if one.ShardID == id {
			return one
		}
	}
	return webhookstore.Shard{}
}

func (s *Scene) planShard() webhookstore.ShardID {
	return webhookstore.ShardID{Kind: webhookstore.PlanShard, Number: webhookstore.ShardOf(s.business, len(s.sender.shards)/2)}
}

func (s *Scene) sendShard() webhookstore.ShardID {
	return sendShard(s.sender.webhook.ID, s.sender.shards)
}

// webhookOperations are the operations on events and webhooks, of one business and one webhook.
var webhookOperations = []Operation{
	{Name: "Record an event in a transaction", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		s.sending(t)
		at := noon.Add(time.Minute + time.Duration(s.prepared)*time.Second)
		e := partner.Event{ID: id.New(id.Event, at), Type: subscribed, BusinessID: s.business, Data: []byte(`{}`), CreatedAt: at}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.InTx(ctx, func(tx storage.Tx) error { return on.RecordEventsIn(ctx, tx, e) }))
			},
			Check: func(t testing.TB, happened bool) {
				if found := get[[]partner.Event](t)(s.Events(t.Context(), eventstore.Query{BusinessID: s.business, EventID: e.ID})); (len(found) == 1) != happened {
					t.Errorf("happened %v: %v", happened, found)
				}
			},
		}
	}},
	{Name: "Record an event", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		s.sending(t)
		at := noon.Add(time.Minute + time.Duration(s.prepared)*time.Second)
		e := partner.Event{ID: id.New(id.Event, at), Type: subscribed, BusinessID: s.business, Data: []byte(`{}`), CreatedAt: at}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.RecordEvents(ctx, e))
			},
			Check: func(t testing.TB, happened bool) {
				if found := get[[]partner.Event](t)(s.Events(t.Context(), eventstore.Query{BusinessID: s.business, EventID: e.ID})); (len(found) == 1) != happened {
					t.Errorf("happened %v: %v", happened, found)
				}
			},
		}
	}},
	{Name: "Number events", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		s.sending(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.NumberEvents(ctx, s.business)
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				for _, e := range s.happened {
					if got := event(t, s, s.business, e.ID); (got.Number > 0) != happened {
						t.Errorf("happened %v: %+v", happened, got)
					}
				}
			},
		}
	}},
	{Name: "Ask for a challenge", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.sending(t)
		hook := addWebhook(t, s, s.app.ID)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.RequestChallenge(ctx, webhookstore.ChallengeRequest{
					AppID: f.app.ID, WebhookID: hook.ID, Now: noon, Limit: 1, Window: time.Hour, Check: func(webhookstore.Standing) error { return nil },
				})
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				wait := get[time.Duration](t)(s.RequestChallenge(t.Context(), webhookstore.ChallengeRequest{
					AppID: f.app.ID, WebhookID: hook.ID, Now: noon, Limit: 1, Window: time.Hour, Check: func(webhookstore.Standing) error { return nil },
				}))
				if (wait > 0) != happened {
					t.Errorf("happened %v: another one waits %v", happened, wait)
				}
			},
		}
	}},
	{Name: "Verify a webhook", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.sending(t)
		hook := f.webhook
		hook.ID, hook.UnverifiedSince = id.New(id.Webhook, noon), noon
		must(t, s.CreateWebhook(t.Context(), hook, 100))
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.EndChallenge(ctx, hook.ID, noon, ""))
			},
			Check: func(t testing.TB, happened bool) {
				found := get[partner.Webhook](t)(s.Webhook(t.Context(), f.app.ID, hook.ID, time.Time{}))
				if found.UnverifiedSince.IsZero() != happened {
					t.Errorf("happened %v: %+v", happened, found)
				}
			},
		}
	}},
	{Name: "Plan", Of: ofWebhooks, Answers: []Answer{Done, lost}, Prepare: func(t testing.TB, s *Scene) Act {
		f, tries := *s.sending(t), 3
		if s.planned { // a node has one planner, so this one is another's, which lost the shard
			f.epochs, tries = map[webhookstore.ShardID]int64{}, 1
		}
		s.planned = true
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) { return f.planAll(ctx, on, tries) },
			Check: func(t testing.TB, happened bool) {
				if left, _ := f.unplanned(t); (len(left.Events) == 0) != happened {
					t.Errorf("happened %v: %v", happened, left)
				}
			},
		}
	}},
	send("Deliver", partner.DeliveryDelivered, 200),
	send("Fail for now", partner.DeliveryRetrying, 500),
	send("Fail for good", partner.DeliveryFailed, 410),
	again("Redeliver", partner.DeliveryFailed, func(d partner.Delivery) bool { return d.Status == partner.DeliveryQueued && d.Round == 1 }),
	again("Attempt now", partner.DeliveryRetrying, func(d partner.Delivery) bool { return d.NextAttemptAt.Equal(noon.Add(soon)) }),
	{Name: "Purge deliveries", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		s.sending(t)
		id := s.delivery(partner.DeliveryQueued)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := purge(on, storage.PurgeDeliveries)(ctx, noon.AddDate(-1, 0, 0), 1000)
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				if got := s.status(t, id); (got == "") != happened {
					t.Errorf("happened %v: the delivery is %s", happened, got)
				}
			},
		}
	}},
	{Name: "Release shards", Of: ofWebhooks, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.sending(t)
		ids := []webhookstore.ShardID{s.planShard(), s.sendShard()}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.ReleaseShards(ctx, f.node, ids))
			},
			Check: func(t testing.TB, happened bool) {
				fleet := get[webhookstore.Fleet](t)(s.Beat(t.Context(), f.node, time.Minute))
				for _, id := range ids {
					if got := shardIn(fleet.Shards, id); (got.Holder == "") != happened {
						t.Errorf("happened %v: %+v", happened, got)
					}
				}
			},
		}
	}},
	takeOver("Take a shard of planning", (*Scene).planShard),
	takeOver("Take a shard of sending", (*Scene).sendShard),
}
