package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// purgeCases: what is old goes, in batches, and nothing else. DLV-08.
var purgeCases = []testCase[*Env]{
	{"Old deliveries are deleted with everything that depends on them", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		for i := range 3 {
			at := noon.Add(time.Duration(i) * time.Second)
			f.failed(t, at, partner.Attempt{Number: 1, StartedAt: at})
			f.waiting(t, at, partner.Attempt{Number: 1, StartedAt: at.Add(time.Hour)})
		}
		before := noon.Add(time.Hour)
		exactly, young := f.failed(t, before), f.waiting(t, before.Add(time.Second), partner.Attempt{Number: 1, StartedAt: noon})
		for i, want := range []int{4, 2, 0} {
			if n := get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), before, 4)); n != want {
				t.Errorf("batch %d: %d went, want %d", i+1, n, want)
			}
			deliveries := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery WHERE webhook_id = $1", f.webhook.ID)
			if attempts := e.rows(t, "partnerkit_attempt"); attempts != deliveries-1 { // exactly has none
				t.Errorf("batch %d: %d attempts of %d deliveries", i+1, attempts, deliveries)
			}
		}
		for _, d := range []partner.Delivery{exactly, young} {
			if _, _, err := e.Delivery(t.Context(), f.app.ID, f.webhook.ID, d.ID); err != nil {
				t.Errorf("a young one: %v", err)
			}
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery_queue WHERE webhook_id = $1", f.webhook.ID); n != 1 || f.queuedAt(t, young.ID, young.NextAttemptAt) != 1 {
			t.Errorf("%d in the queue", n)
		}
	}},
	{"Any number of attempts goes", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		d := f.failed(t, noon)
		e.exec(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms) SELECT $1, 'att_' || CAST(i AS TEXT), 0, i, '', 0, 0 FROM n`, d.ID)
		if n := get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), noon.Add(time.Hour), 10)); n != 1 || e.rows(t, "partnerkit_attempt") != 0 {
			t.Errorf("%d went, %d attempts are left", n, e.rows(t, "partnerkit_attempt"))
		}
	}},
	{"A deleted webhook goes after its deliveries", func(t *testing.T, e *Env) {
		f := newWebhook(t, e)
		second := f.another(noon)
		must(t, e.CreateWebhook(t.Context(), second, maxWebhooks))
		newWebhook(t, e) // stays
		f.failed(t, noon)
		late := f.failed(t, noon.Add(2*time.Hour))
		for _, w := range []string{f.webhook.ID, second.ID} {
			must(t, e.DeleteWebhook(t.Context(), f.app.ID, w, noon))
		}
		there := func() int { return e.count(t, "SELECT COUNT(*) FROM partnerkit_webhook WHERE app_id = $1", f.app.ID) }
		for _, step := range []struct {
			before           time.Time
			limit, went, are int
		}{
			{noon, 10, 0, 2},                   // deleted just then
			{noon.Add(time.Hour), 1, 1, 2},     // the old delivery fills the batch
			{noon.Add(time.Hour), 1, 1, 1},     // the second webhook
			{noon.Add(time.Hour), 1, 0, 1},     // the first still has a delivery
			{noon.Add(3 * time.Hour), 2, 2, 0}, // it and its webhook
		} {
			if n := get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), step.before, step.limit)); n != step.went || there() != step.are {
				t.Errorf("%+v: %d went, %d webhooks are left", step, n, there())
			}
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery WHERE id = $1", late.ID); n != 0 {
			t.Error("the last delivery is still there")
		}
		if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_webhook"); n != 1 {
			t.Errorf("%d webhooks, want the one that was not deleted", n)
		}
	}},
	{"Purge under faults", func(t *testing.T, e *Env) {
		var f *webhookFixture
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newWebhook(t, e)
				f.waiting(t, noon, partner.Attempt{Number: 1, StartedAt: noon})
				must(t, e.DeleteWebhook(t.Context(), f.app.ID, f.webhook.ID, noon))
			},
			Act: func(ctx context.Context) error {
				n, err := purge(e, storage.PurgeDeliveries)(ctx, noon.Add(time.Hour), 10)
				return outcome(err, n == 2)
			},
			Check: func(t *testing.T, happened bool) {
				want := 1
				if happened {
					want = 0
				}
				for _, table := range []string{"partnerkit_delivery", "partnerkit_delivery_queue"} {
					if n := e.count(t, "SELECT COUNT(*) FROM "+table+" WHERE webhook_id = $1", f.webhook.ID); n != want {
						t.Errorf("happened %v: %d rows in %s", happened, n, table)
					}
				}
				if webhook := e.count(t, "SELECT COUNT(*) FROM partnerkit_webhook WHERE id = $1", f.webhook.ID); webhook != want || e.rows(t, "partnerkit_attempt") != want {
					t.Errorf("happened %v: %d webhooks, %d attempts", happened, webhook, e.rows(t, "partnerkit_attempt"))
				}
			},
		})
	}},
	// Concurrent purges and redeliveries leave nothing in the queue.
	{"Purge against redeliveries", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newWebhook(t, e)
			d := f.failed(t, noon)
			testdb.Race(4, func(i int) {
				var err error
				if i < 2 {
					_, err = purge(e, storage.PurgeDeliveries)(t.Context(), noon.Add(time.Hour), 10)
				} else if _, err = e.Redeliver(t.Context(), f.again(d, noon.Add(2*time.Hour))); isRefused(err) {
					err = nil
				}
				if err != nil {
					t.Errorf("contender %d: %v", i, err)
				}
			})
			get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), noon.Add(time.Hour), 10))
			if left := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery_queue WHERE webhook_id = $1", f.webhook.ID); left != 0 {
				t.Fatalf("%d left in the queue", left)
			}
		}
	}},
	{"Purge against an attempt that ends", func(t *testing.T, e *Env) {
		for range rounds() {
			f := newWebhook(t, e)
			d := f.waiting(t, noon)
			ended := webhookstore.Finish{Node: fixtureNode, Now: noon, Outcomes: []webhookstore.Outcome{{
				Due: webhookstore.Due{Delivery: d, DueAt: d.NextAttemptAt}, Epoch: f.epoch(t), Status: partner.DeliveryRetrying, Attempts: 2, NextAttemptAt: noon.Add(time.Hour),
				Attempt: &partner.Attempt{ID: id.New(id.Attempt, noon), Number: 2, StartedAt: noon},
			}}}
			testdb.Race(3, func(i int) {
				var err error
				if i < 2 {
					_, err = purge(e, storage.PurgeDeliveries)(t.Context(), noon.Add(time.Hour), 10)
				} else {
					_, err = e.FinishAttempts(t.Context(), ended)
				}
				if err != nil {
					t.Errorf("contender %d: %v", i, err)
				}
			})
			get[int](t)(purge(e, storage.PurgeDeliveries)(t.Context(), noon.Add(time.Hour), 10))
			if left := e.count(t, "SELECT COUNT(*) FROM partnerkit_delivery_queue WHERE webhook_id = $1", f.webhook.ID); left != 0 || e.rows(t, "partnerkit_attempt") != 0 {
				t.Fatalf("%d left in the queue, %d attempts", left, e.rows(t, "partnerkit_attempt"))
			}
		}
	}},
}
