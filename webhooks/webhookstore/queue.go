package webhookstore

import (
	"time"

	"github.com/partnerkit/partnerkit/partner"
)

// NewsPlace is how far the news were read: the number of the last entry of each feed.
type NewsPlace map[int]int64

// News is what was queued since a place.
type News struct {
	Place    NewsPlace // from which to go on
	Webhooks []DueWebhook
	HasMore  bool // there may be more behind Place
	// IsIncomplete reports that entries from before Place were no longer there.
	IsIncomplete bool
}

// DueWebhook is a webhook that has work.
type DueWebhook struct {
	WebhookID string
	// First and Last are due times, by the clock of the node that queued the deliveries: none
	// of them is due before First, and those that are due at once not after Last.
	First, Last time.Time
}

// Claim asks for due deliveries.
type Claim struct {
	Webhooks []WebhookClaim
	Now      time.Time
	// IsTaken reports a delivery that is being sent, or was and is not recorded.
	IsTaken func(deliveryID string) bool
}

// WebhookClaim asks for due deliveries of one webhook.
type WebhookClaim struct {
	WebhookID string
	From      time.Time // due then or later
	After     string    // and of those that are due then, with a greater id
	// Until is when a first attempt may be due, if that is later than Now: the clock of the
	// node that queued it may be ahead.
	Until time.Time
	Limit int // how many
	Taken int // how many of them IsTaken at most, and come on top
}

// Due is a delivery to be sent.
type Due struct {
	partner.Delivery
	DueAt    time.Time // its key in the queue
	URL      string
	Secrets  partner.Secrets
	Standing Standing
	// HealthEpoch grows when the webhook is switched on again. Attempts count in the
	// health of the epoch that they were claimed in.
	HealthEpoch int64
}

// Finish is the outcomes of attempts, and of deliveries that were dropped.
type Finish struct {
	Node     string
	Now      time.Time // of the platform
	Outcomes []Outcome
	// DisableAfter switches off webhooks that have been failing for so long and of which two
	// deliveries or more have used up their attempts meanwhile; 0 switches off none.
	DisableAfter time.Duration
}

// Outcome is the result of a due delivery.
type Outcome struct {
	Due   Due
	Epoch int64 // of its shard when it was claimed

	Status        partner.DeliveryStatus
	Attempts      int
	ResponseCode  int
	LastError     string
	NextAttemptAt time.Time        // for Retrying
	Attempt       *partner.Attempt // nil: it was not sent
	// IsExhausted reports that the delivery has failed after all its attempts.
	IsExhausted bool
	// SwitchOff is why the webhook is switched off with the outcome; empty: it is not.
	SwitchOff string
}

// Finished is the result of FinishAttempts.
type Finished struct {
	Held map[int]int64 // the send shards that the node holds, with their epochs
	// Failing are webhooks that were not failing before and are now, and Recovered are those
	// that were failing and are not any more. Each change is returned once.
	Failing, Recovered []string
	// Disabled are webhooks that were switched off: see Finish.DisableAfter and
	// Outcome.SwitchOff. The audit log
	// of their apps records it.
	Disabled []string
}
