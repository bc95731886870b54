package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// sqlPlanCases need what only sqlstore has.
var sqlPlanCases = []testCase[*Env]{
	{"A plan is saved wholly or not at all", func(t *testing.T, e *Env) {
		var f *senderFixture
		var p webhookstore.Plan
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newSender(t, e)
				all := f.recorded(t, 2)
				got, _ := f.unplanned(t)
				p = f.plan(got, 2)
				for _, event := range all {
					p.Deliveries = append(p.Deliveries, f.delivery(event.ID, noon))
				}
			},
			Act: func(ctx context.Context) error {
				_, err := e.SavePlan(ctx, p)
				return err
			},
			Check: func(t *testing.T, happened bool) {
				got, _ := f.unplanned(t)
				left := len(got.Events) > 0
				if due := len(f.due(t, noon)); left == happened || happened != (due == 2) {
					t.Errorf("happened %v: unplanned %v, %d due", happened, left, due)
				}
			},
		})
	}},
	// DLV-04: the events and the counters are read by several statements, and the Events API may
	// give numbers between any two of them.
	{"Numbers given while a plan is read do not make it fail", func(t *testing.T, e *Env) {
		isStruck := true
		for n := 1; isStruck; n++ {
			f := newSender(t, e)
			f.recorded(t, 2)
			e.Tap.Overtake(n, func() { number(t, e, f.business) })
			got, _ := f.unplanned(t)
			isStruck = e.Tap.Struck()
			e.Tap.Reset()
			f.savePlan(t, f.plan(got, 2))
			if left, _ := f.unplanned(t); len(left.Events) > 0 {
				f.planNext(t, 2)
			}
			if left, _ := f.unplanned(t); len(left.Events) > 0 {
				t.Errorf("overtaken before statement %d: %v is left", n, left.Events)
			}
		}
	}},
}
