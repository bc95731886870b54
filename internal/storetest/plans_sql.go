package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/webhooks"
)

// sqlPlanCases need what only sqlstore has.
var sqlPlanCases = []testCase[*Env]{
	{"A plan is saved wholly or not at all", func(t *testing.T, e *Env) {
		var f *senderFixture
		var p webhooks.Plan
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newSender(t, e)
				all := f.recorded(t, 2)
				got, _ := f.backlog(t)
				p = webhooks.Plan{Steps: []webhooks.PlanStep{{BusinessID: f.business, From: got.From, To: webhooks.PlanCursor{Number: got.Last}}}}
				for _, event := range all {
					p.Deliveries = append(p.Deliveries, f.delivery(event.ID, noon))
				}
			},
			Act: func(ctx context.Context) error {
				_, err := e.SavePlan(ctx, p)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				got, _ := f.backlog(t)
				left := len(got.Events) > 0
				if due := len(f.due(t, noon)); left == happened || happened != (due == 2) {
					t.Errorf("happened %v: unplanned %v, %d due", happened, left, due)
				}
			},
		})
	}},
	{"Events are numbered wholly or not at all", func(t *testing.T, e *Env) {
		var f *senderFixture
		var all []events.Event
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newSender(t, e)
				all = f.recorded(t, 2)
			},
			Act: func(ctx context.Context) error {
				_, err := e.NumberEvents(ctx, events.Numbering{})
				return err
			},
			Check: func(t *testing.T, happened bool) {
				first, second := event(t, e, f.business, all[0].ID), event(t, e, f.business, all[1].ID)
				if (first.Number > 0) != happened || (second.Number > 0) != happened {
					t.Errorf("happened %v: numbers %d and %d", happened, first.Number, second.Number)
				}
			},
		})
	}},
}
