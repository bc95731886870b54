package webhookstore

import (
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// Backlog is a business with events in the outbox.
type Backlog struct {
	BusinessID string
	// EventID is not greater than the ids of the events without a number that are asked for,
	// and Number less than those of the others. Both save the store from looking at
	// what was planned before.
	EventID string
	Number  int64
}

// Unplanned is the input of one plan.
type Unplanned struct {
	Businesses []Unsent
	HasMore    bool // businesses at the end were left out
	// ByApp are the webhooks of each app that an event is for, sorted by id as Go sorts.
	ByApp map[string][]Subscriber
}

// Unsent is the next events of a business.
type Unsent struct {
	BusinessID string
	Numbered   int64     // the greatest number of the business
	Events     []Pending // at least one
	HasMore    bool      // Events may not be all
	// Subscribers are webhooks of apps that are installed there now, after Planned of the
	// first event, in the order of their ids as the store sorts them.
	Subscribers []Subscriber
	// HasMoreSubscribers reports that Subscribers are not all; there is at least one.
	HasMoreSubscribers bool
}

// Pending is an event in the outbox.
type Pending struct {
	partner.Event        // with an ID only if it was purged
	Planned       string // it has the deliveries of the webhooks up to this one
}

// Subscriber is an enabled webhook, its app and, by business, the installation.
type Subscriber struct {
	WebhookID          string
	Events             []string
	CreatedAt          time.Time
	AppID              string
	AppScopes          identity.Scopes
	PinnedVersion      string
	InstalledAt        time.Time // zero by app
	InstallationScopes identity.Scopes
}

// Plan is some deliveries, and the events that are planned with them.
type Plan struct {
	Node       string
	Shards     map[int]int64 // the plan shards that the node holds, with their epochs
	Steps      []PlanStep
	Deliveries []partner.Delivery
}

// PlanStep is how far a plan brings the planning of a business.
type PlanStep struct {
	BusinessID string
	Numbered   int64     // as it was read
	Events     []Pending // the next ones, in their order
	// Webhook is empty if all Events are planned. Otherwise the last one has the deliveries of
	// the webhooks up to this one.
	Webhook string
}
