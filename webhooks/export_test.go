package webhooks

import (
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
)

// UseClient replaces the HTTP client before Run, for tests.
func (s *Service) UseClient(client *outbound.Client) { s.http = client }

// Share is share, for tests.
var Share = share

// Next is next, for tests.
func (d Delivery) Next(succeeded bool, now time.Time) Delivery {
	return d.next(succeeded, now, defaultRetryDelays())
}

// Plan bounds, for tests.
const PlanDeliveries, PlanBytes = planDeliveries, planBytes

// PlanOf is the plan for what is unplanned, for tests.
func (s *Service) PlanOf(u Unplanned, now time.Time) Plan { return s.plan(u, now, now).plan }

// Usage is the count of recent deliveries by business.
type Usage struct{ usage }

func NewUsage() *Usage                             { return &Usage{newUsage()} }
func (u *Usage) Add(business string, at time.Time) { u.add(business, at) }
func (u *Usage) IsAboveShare(business string) bool { return u.isAboveShare(business) }
