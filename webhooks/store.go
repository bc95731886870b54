package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	// TopicQueued has news when deliveries were queued.
	TopicQueued = "deliveries"
	// TopicShards has news when a dispatcher gave up shards.
	TopicShards = "shards"
)

var (
	// ErrNotFound means that there is no such webhook or delivery of this app, or
	// no such app.
	ErrNotFound = errors.New("not found")
	// ErrTooMany means that the app has as many webhooks as it may have.
	ErrTooMany = errors.New("too many webhooks")
	// ErrTaken means that a webhook, deleted or not, has this id already.
	ErrTaken = errors.New("the id is taken")
)

// Store is all that webhooks keep. Every method that changes something is one operation in
// one transaction.
type Store interface {
	EndpointStore
	DeliveryStore
	PlanStore
	ShardStore
	QueueStore
	// Purge deletes a batch of records of the kind [storage.PurgeDeliveries] or
	// [storage.PurgeHealth], and returns how many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Watcher is an optional interface of a [Store] which wakes the planner and the dispatcher
// as soon as there is work. Without it the planner polls about once a second and the
// dispatcher every two seconds.
type Watcher interface {
	// Watch returns a channel that receives a hint after something was committed
	// on a topic, [TopicQueued], [TopicShards] or [events.TopicRecorded], and a function
	// that ends the watching. Hints may be merged or lost.
	Watch(topic string) (news <-chan struct{}, stop func())
}

// EndpointStore keeps webhooks. Deleted ones are not found.
type EndpointStore interface {
	// CreateWebhook adds a webhook, unless the app has limit of them. Concurrent
	// calls do not exceed the limit. The error is [ErrNotFound] if there is no
	// such app, [ErrTooMany] or [ErrTaken].
	CreateWebhook(ctx context.Context, w Webhook, limit int) error
	// Webhooks lists those that a query asks for.
	Webhooks(ctx context.Context, q WebhookQuery) ([]Webhook, error)
	// UpdateWebhook changes one in one transaction: change gets it as it stands,
	// locked, and returns it as it should be; its error is returned and nothing
	// is changed. ID, AppID, CreatedAt and Health stay, but a webhook that is switched on
	// begins with the zero Health. [ErrNotFound].
	UpdateWebhook(ctx context.Context, appID, webhookID string, change func(Webhook) (Webhook, error)) (Webhook, error)
	// DeleteWebhook deletes one; [ErrNotFound].
	DeleteWebhook(ctx context.Context, appID, webhookID string, now time.Time) error
}

// WebhookQuery asks for webhooks: for one of an app, for all of an app, oldest first, or
// for those of every app, by id.
type WebhookQuery struct {
	AppID     string // empty: every app
	WebhookID string // of the app; empty: all
	After     string // of every app: only greater ids
	Limit     int    // of every app
	// HealthAt asks for all of Health, as it is at that time; zero: IsDegraded, Attempts and
	// Failures are left out.
	HealthAt time.Time
}

// DeliveryStore has the operations of the console on deliveries.
type DeliveryStore interface {
	// Deliveries lists the deliveries of a webhook that match a query. It returns
	// [ErrNotFound] if the app has no such webhook. The number of rows read is bounded.
	Deliveries(ctx context.Context, q DeliveryQuery) (DeliveryPage, error)
	// Delivery returns one and its attempts, oldest first; [ErrNotFound].
	Delivery(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, []Attempt, error)
	// QueueTest adds a test delivery that is due at once. fire looks at the
	// webhook under the locks and returns the delivery; its error is returned
	// and nothing is added. It may be called more than once. [ErrNotFound].
	QueueTest(ctx context.Context, appID, webhookID string, fire func(Target) (Delivery, error)) (Delivery, error)
	// Redeliver queues deliveries again, all of them in one transaction, and returns those
	// that it queued. Check sees each and its standing under the locks, even if it cannot be
	// queued. When Check returns [ErrSkip] the delivery is left out; with any other error
	// nothing is changed and the error is returned. Check may be called more than once for
	// a delivery. Exactly one of several concurrent calls queues a delivery; the others see it
	// queued. Deliveries that do not exist are left out; [ErrNotFound] when none exists.
	Redeliver(ctx context.Context, r Redelivery) ([]Delivery, error)
}

// Target is a webhook that a test is fired at.
type Target struct {
	Webhook       Webhook
	PinnedVersion string // of its app
	Standing      Standing
}

// ErrSkip is returned by Redelivery.Check to leave out a delivery.
var ErrSkip = errors.New("delivery left out")

// Redelivery asks for deliveries to be sent again, or sooner.
type Redelivery struct {
	AppID, WebhookID string
	DeliveryIDs      []string
	// From is the status of deliveries that can be queued. Failed ones begin another round:
	// they are due at once, with no attempts, no response code and no last error. The next
	// attempt of Retrying ones is moved to Now, unless it is due within a second.
	From  Status
	Now   time.Time
	Check func(Delivery, Standing) error
}

// DeliveryQuery asks for deliveries of a webhook, newest first. An empty filter matches every
// delivery.
type DeliveryQuery struct {
	AppID, WebhookID string
	Statuses         []Status // any of these
	EventType        string
	BusinessID       string
	EventID          string
	Since, Until     time.Time // created at Since or later, and before Until
	After            string    // only deliveries with a smaller id; empty: from the newest on
	Limit            int
	Now              time.Time // queued deliveries are due by now
	// CountUpTo asks for DeliveryPage.Counts, each of which ends there; 0: they are left out.
	CountUpTo int
	// WithBodies asks for Delivery.Body, which is left out otherwise.
	WithBodies bool
}

// DeliveryPage is a part of a list of deliveries.
type DeliveryPage struct {
	Deliveries []Delivery
	// Next is the After of the next page; empty: the list ends here. A page of several
	// filters may have fewer deliveries than Limit, or none, although there is a next one:
	// [ScannedDeliveries] were read for it.
	Next   string
	Counts DeliveryCounts
}

// ScannedDeliveries is how many deliveries are read for one page of several filters, and
// for counting with a filter by event or business.
const ScannedDeliveries = 1000

// DeliveryCounts is the number of deliveries by status that match a query, ignoring its
// Statuses, After and Limit. With a filter by event or business, a delivery may be missing
// if [ScannedDeliveries] newer ones have its status, and as many its event or business.
type DeliveryCounts struct{ Queued, Retrying, Delivered, Failed int }

// PlanStore turns events into deliveries, for one planner at a time.
//
// The events of a business are planned in the order of their numbers. How far planning
// has come is stored for each business, as a [PlanCursor].
type PlanStore interface {
	// NumberEvents gives numbers to committed events that have none.
	NumberEvents(ctx context.Context, n events.Numbering) (events.Numbered, error)
	// Unplanned returns businesses that have numbered events without deliveries, by id
	// from after on, each with its next events and the webhooks that may want them. What
	// it reads is bounded: there may be more businesses, events and webhooks.
	Unplanned(ctx context.Context, after string) (Unplanned, error)
	// SavePlan queues deliveries, which are due at once, and moves the cursors of their
	// businesses. It reports false and changes nothing when another planner has moved
	// one of them in between.
	SavePlan(ctx context.Context, p Plan) (bool, error)
}

// PlanCursor is how far the planning of a business has come: events up to Number have
// their deliveries, and the next event has those of the webhooks up to WebhookID.
type PlanCursor struct {
	Number    int64
	WebhookID string
}

// Unplanned is the input of one plan.
type Unplanned struct {
	Backlogs []Backlog
	// ByApp are the webhooks of each app that an event is for, sorted by id as Go sorts.
	ByApp map[string][]Subscriber
}

// Backlog is the next events of a business, in the order of their numbers.
type Backlog struct {
	BusinessID string
	From       PlanCursor
	Events     []events.Event
	Last       int64 // the greatest number that Events could have
	// Subscribers are webhooks of apps that are installed there now, after From.WebhookID,
	// in the order of their ids as the store sorts them.
	Subscribers []Subscriber
	HasMore     bool // Subscribers are not all; there is at least one
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

// Plan is some deliveries, and how far they bring the planning of their businesses.
type Plan struct {
	Steps      []PlanStep
	Deliveries []Delivery
}

// PlanStep is how far a plan brings the planning of a business.
type PlanStep struct {
	BusinessID string
	From, To   PlanCursor
}

// ShardStore records which dispatcher works on which shard. Each shard has one holder at
// a time, under a lease, and an epoch that grows each time the holder changes. Leases are
// kept by the clock of the database, so that the clocks of the nodes do not matter.
type ShardStore interface {
	// Beat registers a dispatcher for the length of a lease, renews its shards and
	// returns all dispatchers that are alive and the holders of all shards.
	Beat(ctx context.Context, node string, lease time.Duration) (Fleet, error)
	// TakeShard takes a shard that has no holder, or whose lease has ended, if it
	// still has the epoch that it was seen with. It reports whether it did.
	TakeShard(ctx context.Context, node string, seen Shard, lease time.Duration) (bool, error)
	// ReleaseShards gives up shards; it is not an error when the node has lost one already.
	ReleaseShards(ctx context.Context, r ShardRelease) error
}

// ShardRelease is shards that a dispatcher gives up.
type ShardRelease struct {
	Node   string
	Shards []int // unless it is leaving
	// IsLeaving reports that the dispatcher has stopped: it gives up all its shards, and
	// is no longer among those that are alive.
	IsLeaving bool
}

// Fleet is the dispatchers on one database.
type Fleet struct {
	Nodes  int // that live
	Shards []Shard
}

// Shard is a part of the work.
type Shard struct {
	ID        int
	Holder    string // empty: free
	Epoch     int64
	LeaseLeft time.Duration // when it was read; not above 0: the lease has ended
}

// QueueStore is the queue of deliveries. Its order within a webhook is by due time.
type QueueStore interface {
	// DueWebhooks returns the webhooks that have deliveries as a query asks for.
	DueWebhooks(ctx context.Context, q DueQuery) ([]DueWebhook, error)
	// DueDeliveries returns deliveries that are due, those of a webhook in their
	// order, with all that is needed to send them and nothing of their last attempt.
	// It changes nothing: only the holder of a webhook's shard sends its deliveries.
	DueDeliveries(ctx context.Context, c Claim) ([]Due, error)
	// FinishAttempts records outcomes of shards that the node still holds, and
	// renews its leases. An outcome that was recorded before changes nothing, so
	// FinishAttempts may be called again after an error.
	FinishAttempts(ctx context.Context, f Finish) (Finished, error)
}

// DueQuery asks for webhooks of some shards that have deliveries due in a window, or for
// every webhook that has deliveries queued, which costs a few index probes a webhook.
type DueQuery struct {
	All          bool // every webhook; the fields below do not count
	Shards       []int
	After, Until time.Time // due later than After, and not later than Until
}

// DueWebhook is a webhook that has work.
type DueWebhook struct {
	WebhookID string
	Due       time.Time // of its first delivery that was asked for
	Latest    time.Time // of its last one; zero when all webhooks were asked for
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
	Limit     int       // how many
	Taken     int       // how many of them IsTaken at most, and come on top
}

// Due is a delivery to be sent.
type Due struct {
	Delivery
	DueAt    time.Time // its key in the queue
	URL      string
	Secrets  Secrets
	Standing Standing
	// HealthEpoch grows when the webhook is switched on again. Attempts count in the
	// health of the epoch that they were claimed in.
	HealthEpoch int64
}

// Finish is the outcomes of attempts, and of deliveries that were dropped.
type Finish struct {
	Node     string
	Now      time.Time     // of the platform
	Lease    time.Duration // for which the leases are renewed
	Outcomes []Outcome
	// DisableAfter switches off webhooks that have been failing for so long and of which two
	// deliveries or more have used up their attempts meanwhile; 0 switches off none.
	DisableAfter time.Duration
}

// Outcome is the result of a due delivery.
type Outcome struct {
	Due   Due
	Epoch int64 // of its shard when it was claimed

	Status        Status
	Attempts      int
	ResponseCode  int
	LastError     string
	NextAttemptAt time.Time // for Retrying
	Attempt       *Attempt  // nil: it was not sent
	// IsExhausted reports that the delivery has failed after all its attempts.
	IsExhausted bool
}

// Finished is the result of FinishAttempts.
type Finished struct {
	Held []Shard // the shards that the node holds
	// Failing are webhooks that were not failing before and are now, and Recovered are those
	// that were failing and are not any more. Each change is returned once.
	Failing, Recovered []string
	// Disabled are webhooks that were switched off: see Finish.DisableAfter. The audit log
	// of their apps records it.
	Disabled []string
}
