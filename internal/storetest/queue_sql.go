package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// sqlQueueCases need what only sqlstore has.
var sqlQueueCases = []testCase[*Env]{
	{"Recording costs a few statements for many", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		second := newSender(t, e)
		f.queued(t, 32)
		second.queued(t, 32)
		claim := webhookstore.Claim{Now: noon.Add(time.Hour), IsTaken: func(string) bool { return false }}
		for _, w := range []partner.Webhook{f.webhook, second.webhook} {
			claim.Webhooks = append(claim.Webhooks, webhookstore.WebhookClaim{WebhookID: w.ID, Limit: 100})
		}
		e.Tap.Reset()
		due := get[[]webhookstore.Due](t)(e.DueDeliveries(t.Context(), claim))
		if statements, commits := e.Tap.Counts(); len(due) != 64 || statements != 4 || commits != 0 {
			t.Errorf("%d statements and %d commits to claim %d of two webhooks", statements, commits, len(due))
		}
		var outcomes []webhookstore.Outcome
		for _, one := range due {
			outcomes = append(outcomes, f.outcome(one, partner.DeliveryDelivered, 204))
		}
		e.Tap.Reset()
		get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(outcomes...)))
		if statements, commits := e.Tap.Counts(); statements != 5 || commits != 1 {
			t.Errorf("%d statements and %d commits for 64 outcomes of two webhooks", statements, commits)
		}
	}},
	// DLV-14: an outcome that failed costs at most one and a half times as many statements.
	{"DLV-14 failed outcomes cost little more than others", func(t *testing.T, e *Env) {
		f := newSender(t, e)
		cost := func(change func(o *webhookstore.Outcome, i int)) int {
			f.queued(t, 250)
			f.queued(t, 250)
			var outcomes []webhookstore.Outcome
			for i, one := range f.due(t, noon.Add(time.Hour)) {
				o := f.outcome(one, partner.DeliveryDelivered, 204)
				change(&o, i)
				outcomes = append(outcomes, o)
			}
			if len(outcomes) != 500 {
				t.Fatalf("%d outcomes", len(outcomes))
			}
			e.Tap.Reset()
			get[webhookstore.Finished](t)(e.FinishAttempts(t.Context(), f.finish(outcomes...)))
			statements, _ := e.Tap.Counts()
			return statements
		}
		delivered := cost(func(*webhookstore.Outcome, int) {})
		retrying := cost(func(o *webhookstore.Outcome, i int) {
			o.Status, o.ResponseCode, o.LastError, o.Attempt.Error = partner.DeliveryRetrying, 500, "answered with status 500", "answered with status 500"
			o.Attempt.ResponseCode, o.NextAttemptAt = 500, noon.Add(2*time.Hour+time.Duration(i)*time.Microsecond)
		})
		failed := cost(func(o *webhookstore.Outcome, i int) {
			o.Status, o.ResponseCode, o.LastError, o.Attempts = partner.DeliveryFailed, 500, fmt.Sprint("answered with status ", 500+i), 6
			o.Attempt.ResponseCode, o.Attempt.Error = 500, o.LastError
		})
		t.Logf("%d statements for 500 that arrived, %d for those to be repeated, %d for those that failed", delivered, retrying, failed)
		if 2*retrying > 3*delivered || 2*failed > 3*delivered {
			t.Errorf("500 outcomes cost %d statements if they arrived, %d if they are repeated, %d if they failed", delivered, retrying, failed)
		}
	}},
	{"Outcomes are recorded wholly or not at all", func(t *testing.T, e *Env) {
		var f *senderFixture
		var outcomes []webhookstore.Outcome
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				if f != nil {
					must(t, e.LeaveShards(t.Context(), f.node))
				}
				f = newSender(t, e)
				f.queued(t, 3)
				due := f.due(t, noon.Add(time.Hour))
				exhausted := f.outcome(due[2], partner.DeliveryFailed, 500)
				exhausted.Attempts, exhausted.IsExhausted = 6, true
				outcomes = []webhookstore.Outcome{f.outcome(due[0], partner.DeliveryDelivered, 200), f.outcome(due[1], partner.DeliveryRetrying, 500), exhausted}
			},
			Act: func(ctx context.Context) error {
				_, err := e.FinishAttempts(ctx, f.finish(outcomes...))
				return err
			},
			Check: func(t *testing.T, happened bool) {
				due := f.due(t, noon.Add(time.Hour))
				_, attempts := f.stored(t, outcomes[2].Due.ID)
				if happened != (len(due) == 1) || happened != (len(attempts) == 1) {
					t.Errorf("happened %v: %d due, %d attempts", happened, len(due), len(attempts))
				}
			},
		})
	}},
}
