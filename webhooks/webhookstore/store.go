// Package webhookstore is what package webhooks asks of a store: the operations on webhooks
// and deliveries, and the records of planning, of shards and of the queue. Authors of stores
// implement [Store]; hosts do not need this package.
//
// It lies below package webhooks, whose Config names it. The records that a host sees too, such
// as [partner.Webhook] and [partner.Delivery], are in package partner, below both: in package
// webhooks they could not be named here, and here a host would have to look for them.
package webhookstore

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// The topics of hints.
const (
	// TopicQueued has news when deliveries were queued.
	TopicQueued = "deliveries"
	// TopicChallenges has news when a challenge was asked for.
	TopicChallenges = "challenges"
	// TopicShards has news when a dispatcher gave up shards.
	TopicShards = "shards"
)

// Errors of a Store that are not internal errors; match them with errors.Is. Beside them a Store
// returns [partner.ErrNotFound]: there is no such webhook or delivery of this app, or no such app.
var (
	// ErrTooMany means that the app has as many webhooks as it may have.
	ErrTooMany = errors.New("too many webhooks")
	// ErrTaken means that a webhook, deleted or not, has this id already.
	ErrTaken = errors.New("the id is taken")
	// ErrSkip is returned by Redelivery.Check to leave out a delivery.
	ErrSkip = errors.New("delivery left out")
)

// Store is all that webhooks keep. Every method that changes something is one operation in
// one transaction.
type Store interface {
	// Webhooks. Deleted ones are not found.

	// CreateWebhook adds a webhook, unless the app has limit of them. Concurrent
	// calls do not exceed the limit. The error is [partner.ErrNotFound] if there is no
	// such app, [ErrTooMany] or [ErrTaken].
	CreateWebhook(ctx context.Context, w partner.Webhook, limit int) error
	// Webhook returns one of an app, with all of Health as it is at a time. With the zero time
	// IsDegraded, Attempts and Failures are left out. [partner.ErrNotFound].
	Webhook(ctx context.Context, appID, webhookID string, healthAt time.Time) (partner.Webhook, error)
	// Webhooks lists those of an app in the same way, oldest first.
	Webhooks(ctx context.Context, appID string, healthAt time.Time) ([]partner.Webhook, error)
	// AllWebhooks lists some of every app, by id, after an id.
	AllWebhooks(ctx context.Context, after string, limit int) ([]partner.Webhook, error)
	// UpdateWebhook changes one in one transaction: change gets it as it stands,
	// locked, and returns it as it should be; its error is returned and nothing
	// is changed. ID, AppID, CreatedAt and Health stay, but a webhook that is switched on
	// begins with the zero Health. [partner.ErrNotFound].
	UpdateWebhook(ctx context.Context, appID, webhookID string, change func(partner.Webhook) (partner.Webhook, error)) (partner.Webhook, error)
	// DeleteWebhook deletes one; [partner.ErrNotFound].
	DeleteWebhook(ctx context.Context, appID, webhookID string, now time.Time) error

	// Challenges: which webhooks are to be challenged, and the results.

	// RequestChallenge notes that a webhook is to be challenged, and counts it. If it was asked
	// for r.Limit times within r.Window, which begins with the first of them, it notes nothing and
	// returns how long that lasts. check gets the webhook's standing under the locks; its error is
	// returned and nothing is noted. [partner.ErrNotFound].
	RequestChallenge(ctx context.Context, r ChallengeRequest) (wait time.Duration, err error)
	// TakeChallenges returns webhooks of active apps that are to be challenged, each to one
	// caller only.
	TakeChallenges(ctx context.Context, limit int) ([]Target, error)
	// EndChallenge records the result of a challenge to a webhook that was unverified since then
	// and still is: that its endpoint has answered or, with an error, that it has not. After an
	// answer, the dispatchers look for what waited.
	EndChallenge(ctx context.Context, webhookID string, unverifiedSince time.Time, failed string) error

	// Deliveries, as the console reads and repeats them.

	// Deliveries lists the deliveries of a webhook that match a query. It returns
	// [partner.ErrNotFound] if the app has no such webhook. The number of rows read is bounded.
	Deliveries(ctx context.Context, q partner.DeliveryQuery) (partner.DeliveryPage, error)
	// Delivery returns one and its attempts, oldest first; [partner.ErrNotFound].
	Delivery(ctx context.Context, appID, webhookID, deliveryID string) (partner.Delivery, []partner.Attempt, error)
	// AttemptHours counts the attempts of a webhook by hour, from the hour that begins at since on,
	// oldest first. Hours without attempts are left out.
	AttemptHours(ctx context.Context, webhookID string, since time.Time) ([]callstore.AttemptHour, error)
	// QueueTest adds a test delivery that is due at once. fire looks at the
	// webhook under the locks and returns the delivery; its error is returned
	// and nothing is added. It may be called more than once. [partner.ErrNotFound].
	QueueTest(ctx context.Context, appID, webhookID string, fire func(Target) (partner.Delivery, error)) (partner.Delivery, error)
	// Redeliver queues deliveries again, all of them in one transaction, and returns those
	// that it queued. Check sees each and its standing under the locks, even if it cannot be
	// queued. When Check returns [ErrSkip] the delivery is left out; with any other error
	// nothing is changed and the error is returned. Check may be called more than once for
	// a delivery. Exactly one of several concurrent calls queues a delivery; the others see it
	// queued. Deliveries that do not exist are left out; [partner.ErrNotFound] when none exists.
	Redeliver(ctx context.Context, r Redelivery) ([]partner.Delivery, error)

	// Planning turns events into deliveries. Each event that has not all its deliveries is in
	// the outbox. The events of a business are planned in the order in which they are numbered,
	// by the holder of the plan shard of the business.

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

	// Shards record which node does which work. Each shard has one holder at a time, under a
	// lease, and an epoch that grows each time the holder changes. Leases are kept by the clock
	// of the database, so that the clocks of the nodes do not matter.

	// Beat registers a node for the length of a lease, renews the leases of its shards and
	// returns all nodes that are alive and the holders of all shards.
	Beat(ctx context.Context, node string, lease time.Duration) (Fleet, error)
	// TakeShard takes a shard that has no holder, or whose lease has ended, if it
	// still has the epoch that it was seen with. It reports whether it did.
	TakeShard(ctx context.Context, node string, seen Shard, lease time.Duration) (bool, error)
	// ReleaseShards gives up shards; it is not an error when the node has lost one already.
	ReleaseShards(ctx context.Context, node string, shards []ShardID) error
	// LeaveShards gives up all shards of a node that has stopped. It is no longer among those
	// that are alive.
	LeaveShards(ctx context.Context, node string) error

	// The queue of deliveries. Its order within a webhook is by due time.

	// News returns the webhooks that got deliveries, due at once, since a place. From nil it
	// returns the present place and no webhooks.
	News(ctx context.Context, since NewsPlace) (News, error)
	// DueWebhooks returns webhooks of send shards that have attempts to repeat, due later than
	// after and not later than until.
	DueWebhooks(ctx context.Context, shards []int, after, until time.Time) ([]DueWebhook, error)
	// ForgetDue deletes what DueWebhooks would return for the shards, up to a time: the
	// webhooks were looked at, and those that still have deliveries queued are found by
	// QueuedWebhooks.
	ForgetDue(ctx context.Context, shards []int, until time.Time) error
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

	// Purge deletes a batch of records of the kind [storage.PurgeDeliveries] or
	// [storage.PurgeHealth], and returns how many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)

	// Hints make the planner and the dispatchers look at once. They may be lost: webhooks look
	// about once a second without any.

	// Watch returns the hints about what was committed on a topic: [TopicQueued],
	// [TopicChallenges], [TopicShards] or the topic of package eventstore, whose keys are the
	// businesses of the events. Nil means that the store gives none.
	Watch(topic string) *storage.Hints
	// Wake gives a hint on a topic to every node, for what was committed without one.
	Wake(topic string)
}

// ChallengeRequest asks for a challenge.
type ChallengeRequest struct {
	AppID, WebhookID string
	Now              time.Time
	Limit            int
	Window           time.Duration
	Check            func(Standing) error
}

// Target is a webhook to which a test is sent.
type Target struct {
	Webhook       partner.Webhook
	PinnedVersion string // of its app
	Standing      Standing
}

// Redelivery asks for deliveries to be sent again, or sooner.
type Redelivery struct {
	AppID, WebhookID string
	DeliveryIDs      []string
	// From is the status of deliveries that can be queued. Failed ones begin another round:
	// they are due at once, with no attempts, no response code and no last error. The next
	// attempt of Retrying ones is moved to Now, unless it is due within a second.
	From  partner.DeliveryStatus
	Now   time.Time
	Check func(partner.Delivery, Standing) error
}

// Standing is all that decides whether a delivery may be sent, as it stands right
// now.
type Standing struct {
	IsDeleted   bool // the webhook
	IsEnabled   bool
	IsAppUsable bool // neither suspended nor deactivated
	// IsUnverified reports that the webhook's endpoint has not answered a challenge.
	IsUnverified bool
	Viewer       events.Viewer
}

// RatedFor is how far back [partner.WebhookHealth.FailureRate] looks.
const RatedFor = 24 * time.Hour
