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
	// TopicChallenges has news when a challenge was asked for.
	TopicChallenges = "challenges"
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
	ChallengeStore
	DeliveryStore
	PlanStore
	ShardStore
	QueueStore
	// Purge deletes a batch of records of the kind [storage.PurgeDeliveries] or
	// [storage.PurgeHealth], and returns how many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Watcher is an optional interface of a [Store] which wakes the planner and the dispatcher
// as soon as there is work. Without it they poll about once a second.
type Watcher interface {
	// Watch returns the hints about what was committed on a topic: [TopicQueued],
	// [TopicShards] or [events.TopicRecorded], whose keys are the businesses of the events.
	Watch(topic string) *storage.Hints
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

// ChallengeStore keeps which webhooks are to be challenged, and the results.
type ChallengeStore interface {
	// RequestChallenge notes that a webhook is to be challenged, and counts it. If it was asked
	// for r.Limit times within r.Window, which begins with the first of them, it notes nothing and
	// returns how long that lasts. check gets the webhook's standing under the locks; its error is
	// returned and nothing is noted. [ErrNotFound].
	RequestChallenge(ctx context.Context, r ChallengeRequest) (wait time.Duration, err error)
	// TakeChallenges returns webhooks of active apps that are to be challenged, each to one
	// caller only.
	TakeChallenges(ctx context.Context, limit int) ([]Target, error)
	// EndChallenge records the result of a challenge to a webhook that was unverified since then
	// and still is: that its endpoint has answered or, with an error, that it has not. After an
	// answer, the dispatchers look for what waited.
	EndChallenge(ctx context.Context, webhookID string, unverifiedSince time.Time, failed string) error
}

// ChallengeRequest asks for a challenge.
type ChallengeRequest struct {
	AppID, WebhookID string
	Now              time.Time
	Limit            int
	Window           time.Duration
	Check            func(Standing) error
}

// DeliveryStore has the operations of the console on deliveries.
type DeliveryStore interface {
	// Deliveries lists the deliveries of a webhook that match a query. It returns
	// [ErrNotFound] if the app has no such webhook. The number of rows read is bounded.
	Deliveries(ctx context.Context, q DeliveryQuery) (DeliveryPage, error)
	// Delivery returns one and its attempts, oldest first; [ErrNotFound].
	Delivery(ctx context.Context, appID, webhookID, deliveryID string) (Delivery, []Attempt, error)
	// AttemptHours counts the attempts of a webhook by hour, from the hour that begins at since on,
	// oldest first. Hours without attempts are left out.
	AttemptHours(ctx context.Context, webhookID string, since time.Time) ([]AttemptHour, error)
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
	// filters, or of an event type, may have fewer deliveries than Limit, or none, although
	// there is a next one: [ScannedDeliveries] were read for it.
	Next   string
	Counts DeliveryCounts
}

// ScannedDeliveries is how many deliveries are read for one page that no index serves, and
// for counting with a filter by event or business.
const ScannedDeliveries = 1000

// DeliveryCounts is the number of deliveries by status that match a query, ignoring its
// Statuses, After and Limit. A delivered one is counted if it is among the newest
// [ScannedDeliveries] of the webhook or, with a filter by business, of the business. With a
// filter, another one may be missing if so many newer ones have its status, and as many are
// of the webhook or business.
type DeliveryCounts struct{ Queued, Retrying, Delivered, Failed int }

// PlanStore turns events into deliveries. Each event that has not all its deliveries is in
// the outbox. The events of a business are planned in the order in which they are numbered,
// by the holder of the plan shard of the business.
type PlanStore interface {
	// Backlogs returns businesses with events in the outbox, in an order of the store's, of
	// every shard. It begins behind the last one of an earlier page; nil: at the beginning. A
	// page may be empty only if there are no more.
	Backlogs(ctx context.Context, behind *Backlog) ([]Backlog, error)
	// Unplanned returns the next events of businesses and the webhooks that may want them.
	// Businesses without events are left out. What it reads is bounded: businesses at the end
	// may be left out too, and each may have more events and webhooks.
	Unplanned(ctx context.Context, of []Backlog) (Unplanned, error)
	// SavePlan queues deliveries, which are due at once, and takes planned events out of the
	// outbox. Events without a number get theirs, and so do their deliveries. It reports
	// false and changes nothing when the node does not hold one of the shards, or when
	// events of one of the businesses got numbers in between.
	SavePlan(ctx context.Context, p Plan) (bool, error)
}

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
	events.Event        // with an ID only if it was purged
	Planned      string // it has the deliveries of the webhooks up to this one
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
	Deliveries []Delivery
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

// ShardStore records which node works on which shard. Each shard has one holder at
// a time, under a lease, and an epoch that grows each time the holder changes. Leases are
// kept by the clock of the database, so that the clocks of the nodes do not matter.
type ShardStore interface {
	// Beat registers a node for the length of a lease, renews the leases of its shards and
	// returns all nodes that are alive and the holders of all shards.
	Beat(ctx context.Context, node string, lease time.Duration) (Fleet, error)
	// TakeShard takes a shard that has no holder, or whose lease has ended, if it
	// still has the epoch that it was seen with. It reports whether it did.
	TakeShard(ctx context.Context, node string, seen Shard, lease time.Duration) (bool, error)
	// ReleaseShards gives up shards; it is not an error when the node has lost one already.
	ReleaseShards(ctx context.Context, r ShardRelease) error
}

// ShardRelease is shards that a node gives up.
type ShardRelease struct {
	Node   string
	Shards []ShardID // unless it is leaving
	// IsLeaving reports that the node has stopped: it gives up all its shards, and
	// is no longer among those that are alive.
	IsLeaving bool
}

// Fleet is the nodes on one database.
type Fleet struct {
	Nodes  int // that live
	Shards []Shard
}

// ShardKind is what the holder of a shard does.
type ShardKind string

// The kinds of shards. A database has as many of one as of the other.
const (
	PlanShard ShardKind = "plan" // it turns the events of some businesses into deliveries
	SendShard ShardKind = "send" // it sends the deliveries of some webhooks
)

// ShardID names a shard. The shards of a kind are numbered from 0.
type ShardID struct {
	Kind   ShardKind
	Number int
}

// Shard is a part of the work.
type Shard struct {
	ShardID
	Holder    string // empty: free
	Epoch     int64
	LeaseLeft time.Duration // when it was read; not above 0: the lease has ended
}

// QueueStore is the queue of deliveries. Its order within a webhook is by due time.
type QueueStore interface {
	// News returns the webhooks that got deliveries, due at once, since a place. From nil it
	// returns the present place and no webhooks.
	News(ctx context.Context, since NewsPlace) (News, error)
	// DueWebhooks returns webhooks that have attempts to repeat, by when they are due.
	DueWebhooks(ctx context.Context, q DueQuery) ([]DueWebhook, error)
	// ForgetDue deletes what DueWebhooks would return for the shards, up to q.Until: the
	// webhooks were looked at, and those that still have deliveries queued are found by
	// QueuedWebhooks.
	ForgetDue(ctx context.Context, q DueQuery) error
	// QueuedWebhooks returns every webhook of some send shards that has deliveries queued, which
	// costs a few index probes each. Nil means all shards.
	QueuedWebhooks(ctx context.Context, shards []int) ([]DueWebhook, error)
	// DueDeliveries returns deliveries that are due, those of a webhook in their
	// order, with all that is needed to send them and nothing of their last attempt.
	// It changes nothing: only the holder of a webhook's shard sends its deliveries.
	DueDeliveries(ctx context.Context, c Claim) ([]Due, error)
	// FinishAttempts records outcomes of shards that the node still holds. An outcome that
	// was recorded before changes nothing, so FinishAttempts may be called again after an
	// error.
	FinishAttempts(ctx context.Context, f Finish) (Finished, error)
}

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

// DueQuery asks for webhooks of send shards that have attempts to repeat, due later than After
// and not later than Until.
type DueQuery struct {
	Shards       []int
	After, Until time.Time
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

	Status        Status
	Attempts      int
	ResponseCode  int
	LastError     string
	NextAttemptAt time.Time // for Retrying
	Attempt       *Attempt  // nil: it was not sent
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
