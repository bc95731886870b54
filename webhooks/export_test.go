package webhooks

import (
	"time"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// UseClient replaces the HTTP client before Run, for tests.
func (s *Service) UseClient(client *outbound.Client) { s.http = client }

// Bounds and defaults, for tests.
const (
	MaxAttempts   = 6 // with the default delays
	Retention     = defaultRetention
	VerifyWithin  = verifyWithin
	MaxChallenges = maxChallenges
)

// Share is share, for tests.
var Share = share

// Next is next with the default delays, for tests.
func Next(d partner.Delivery, succeeded bool, now time.Time) partner.Delivery { //nolint:revive // the outcome, not a switch
	return next(d, succeeded, now, defaultRetryDelays())
}

// Plan bounds, for tests.
const PlanDeliveries, PlanBytes = planDeliveries, planBytes

// PlanOf is the plan for what is unplanned, for tests.
func (s *Service) PlanOf(u webhookstore.Unplanned, now time.Time) webhookstore.Plan {
	return s.plan(u, now, now).plan
}

// Usage is the count of recent deliveries by business.
type Usage struct{ usage }

func NewUsage() *Usage                             { return &Usage{newUsage()} }
func (u *Usage) Add(business string, at time.Time) { u.add(business, at) }
func (u *Usage) IsAboveShare(business string) bool { return u.isAboveShare(business) }
