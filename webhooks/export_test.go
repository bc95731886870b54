package webhooks

import "time"

// Share is share, for tests.
var Share = share

// Next is next, for tests.
func (d Delivery) Next(succeeded bool, now time.Time) Delivery { return d.next(succeeded, now) }

// Plan bounds, for tests.
const PlanDeliveries, PlanBytes = planDeliveries, planBytes

// PlanOf is the plan for what is unplanned, for tests.
func (s *Service) PlanOf(u Unplanned, now time.Time) Plan { return s.plan(u, now, now).plan }
