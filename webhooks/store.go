package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
)

const (
	// TopicQueued has news when deliveries were queued.
	TopicQueued = "deliveries"
	// TopicShards has news when a dispatcher gave up shards.
	TopicShards = "shards"
)

var (
	// ErrNotFound says that there is no such webhook or delivery of this app, or
	// no such app.
	ErrNotFound = errors.New("not found")
	// ErrTooMany says that the app has as many webhooks as it may have.
	ErrTooMany = errors.New("too many webhooks")
	// ErrTaken says that a webhook, deleted or not, has this id already.
	ErrTaken = errors.New("the id is taken")
)

// Store is all that webhooks keep. Every method that changes something is one act.
type Store interface {
	EndpointStore
	DeliveryStore
	PlanStore
	ShardStore
	QueueStore
	// Watch returns a channel that receives a hint after something was committed
	// on a topic, [TopicQueued], [TopicShards] or [events.TopicRecorded]. Hints may
	// be lost.
	Watch(topic string) (news <-chan struct{}, stop func())
	// PurgeDeliveries deletes deliveries that were created before a time, oldest
	// first, with their attempts and whatever their state, then webhooks that
	// were deleted before it and have no deliveries left: at most limit of both
	// together. It returns how many.
	PurgeDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}

// EndpointStore keeps webhooks. Deleted ones are not found.
type EndpointStore interface {
	// CreateWebhook adds one, unless the app has limit of them. Of several at
	// once no more than fit are added. [ErrNotFound] when there is no such app,
	// [ErrTooMany], [ErrTaken].
	CreateWebhook(ctx context.Context, w Webhook, limit int) error
	// Webhook returns one of an app; [ErrNotFound].
	Webhook(ctx context.Context, appID, webhookID string) (Webhook, error)
	// Webhooks lists those of an app, oldest first.
	Webhooks(ctx context.Context, appID string) ([]Webhook, error)
	// AllWebhooks lists at most limit of all apps, by id, after that one.
	AllWebhooks(ctx context.Context, after string, limit int) ([]Webhook, error)
	// UpdateWebhook changes one in one transaction: change gets it as it stands,
	// locked, and returns it as it should be; its error is returned and nothing
	// is changed. ID, AppID and CreatedAt stay. [ErrNotFound].
	UpdateWebhook(ctx context.Context, appID, webhookID string, change func(Webhook) (Webhook, error)) (Webhook, error)
	// DeleteWebhook deletes one; [ErrNotFound].
	DeleteWebhook(ctx context.Context, appID, webhookID string, now time.Time) error
}

// DeliveryStore is what the console sees and does.
type DeliveryStore interface {
	// Deliveries lists those of a webhook, newest first, without their bodies;
	// [ErrNotFound] when the app has no such webhook.
	Deliveries(ctx context.Context, appID, webhookID string, limit int) ([]Delivery, error)
	// Delivery returns one and its attempts, oldest first; [ErrNotFound].
	Delivery(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, []Attempt, error)
	// QueueTest adds a test delivery that is due at once. fire looks at the
	// webhook under the locks and returns the delivery; its error is returned
	// and nothing is added. It may be called more than once. [ErrNotFound].
	QueueTest(ctx context.Context, appID, webhookID string, fire func(Target) (Delivery, error)) (Delivery, error)
	// Redeliver queues a failed delivery again, due at once, with no attempts, no
	// response code and no last error. Check looks at it and its standing under
	// the locks, also when it has not failed; its error is returned and nothing is
	// changed. It may be called more than once. Of several at once one wins; the
	// others see it queued. [ErrNotFound].
	Redeliver(ctx context.Context, r Redelivery) (Delivery, error)
}

// Target is a webhook that a test is fired at.
type Target struct {
	Webhook       Webhook
	PinnedVersion string // of its app
	Standing      Standing
}

// Redelivery is the wish to send a failed delivery again.
type Redelivery struct {
	AppID, WebhookID, DeliveryID string
	Now                          time.Time
	Check                        func(Delivery, Standing) error
}

// PlanStore turns events into deliveries, for one planner at a time.
//
// The events of a business are planned in the order of their numbers. How far planning
// has come is stored for each business, as a [PlanCursor].
type PlanStore interface {
	// NumberRecorded gives numbers to recorded events that have none, in the order of
	// their ids and from after on: to a bounded number of them.
	NumberRecorded(ctx context.Context, after string) (Numbered, error)
	// Unplanned returns businesses that have numbered events without deliveries, by id
	// from after on, each with its next events and the webhooks that may want them. What
	// it reads is bounded: there may be more businesses, events and webhooks.
	Unplanned(ctx context.Context, after string) (Unplanned, error)
	// SavePlan queues deliveries, which are due at once, and moves the cursors of their
	// businesses. It reports false and changes nothing when another planner has moved
	// one of them in between.
	SavePlan(ctx context.Context, p Plan) (bool, error)
	// HasBacklog reports whether there are events that are not planned.
	HasBacklog(ctx context.Context) (bool, error)
}

// Numbered is what NumberRecorded did.
type Numbered struct {
	LastID  string // of the last event that it numbered; empty: there was none
	HasMore bool   // after it there may be more
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
	// ByApp are the webhooks of each app that an event is for, by id.
	ByApp map[string][]Subscriber
}

// Backlog is the next events of a business, in the order of their numbers.
type Backlog struct {
	BusinessID string
	From       PlanCursor
	Events     []events.Event
	Last       int64 // the greatest number that Events could have
	// Subscribers are webhooks of apps that are installed there now, by id, from
	// From.WebhookID on.
	Subscribers []Subscriber
	HasMore     bool // Subscribers are not all
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
	// ReleaseShard gives one up; it is no error when it was lost already.
	ReleaseShard(ctx context.Context, node string, shard int) error
	// Leave gives up everything and says that the dispatcher has stopped.
	Leave(ctx context.Context, node string) error
}

// Fleet is the dispatchers on one database.
type Fleet struct {
	Nodes  int // that live
	Shards []Shard
}

// Shard is a part of the work.
type Shard struct {
	ID        int
	Holder    string // empty: nobody
	Epoch     int64
	LeaseLeft time.Duration // when it was read; not above 0: the lease has ended
}

// QueueStore is the queue of deliveries. Its order within a webhook is by due time.
type QueueStore interface {
	// DueWebhooks returns webhooks of some shards that have deliveries due after
	// one time and up to another, each with the earliest and the latest of these.
	DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]DueWebhook, error)
	// QueuedWebhooks returns every webhook that has deliveries queued, with the
	// earliest due time. It costs a few index probes a webhook.
	QueuedWebhooks(ctx context.Context) ([]DueWebhook, error)
	// DueDeliveries returns deliveries that are due, those of a webhook in their
	// order, with all that is needed to send them and nothing of their last attempt.
	// It changes nothing: who holds the shard of a webhook is the only
	// one to send.
	DueDeliveries(ctx context.Context, c Claim) ([]Due, error)
	// FinishAttempts records outcomes of shards that the node still holds, and
	// renews its leases. One that was recorded before changes nothing, so that
	// it may be called again after a fault.
	FinishAttempts(ctx context.Context, f Finish) (Finished, error)
}

// DueWebhook is a webhook that has work.
type DueWebhook struct {
	WebhookID string
	Due       time.Time // of its first delivery
	Latest    time.Time // of its last one, from DueWebhooks
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
}

// Finish is the outcomes of attempts, and of deliveries that were dropped.
type Finish struct {
	Node     string
	Now      time.Time     // of the platform
	Lease    time.Duration // for which the leases are renewed
	Outcomes []Outcome
}

// Outcome is what became of a due delivery.
type Outcome struct {
	Due   Due
	Epoch int64 // of its shard when it was claimed

	Status        Status
	Attempts      int
	ResponseCode  int
	LastError     string
	NextAttemptAt time.Time // for Retrying
	Attempt       *Attempt  // nil: it was not sent
}

// Finished is what FinishAttempts did.
type Finished struct {
	Held []Shard // the shards that the node holds
	// Warn are webhooks of which a delivery has failed for good after all its
	// attempts, for the first time in a while: see WarnEvery.
	Warn []string
}
