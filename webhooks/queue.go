package webhooks

import (
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
	"time"
)

// queue is the scheduler's state of one webhook. The deliveries
// themselves stay in the database until they are claimed.
type queue struct {
	webhookID string
	shard     int
	business  string // of the delivery that was claimed last

	hasWork   bool      // there may be due deliveries that are not claimed
	next      position  // none of them stands before it
	furthest  position  // of the claimed deliveries
	until     time.Time // when first attempts may be due, if that is in the future
	isWaiting bool      // in a wait list

	inFlight    int // attempts
	outstanding int // deliveries that are claimed and not recorded
	// limit is how many attempts may be in flight: one to begin with, twice as many
	// after each attempt that succeeded, and one again after one that failed.
	limit int
}

// position is the place of a delivery in the queue of its webhook.
type position struct {
	due time.Time
	id  string // of a delivery; empty: before all that are due then
}

func (p position) isBefore(other position) bool {
	return p.due.Before(other.due) || p.due.Equal(other.due) && p.id < other.id
}

// isSuspect reports whether the endpoint is not known to work.
func (q *queue) isSuspect() bool { return q.limit <= 1 }

func (q *queue) isIdle() bool { return !q.hasWork && q.outstanding == 0 }

// claim asks the store for up to n deliveries.
func (q *queue) claim(n int) webhookstore.WebhookClaim {
	c := webhookstore.WebhookClaim{WebhookID: q.webhookID, From: q.next.due, After: q.next.id, Until: q.until, Limit: n}
	if q.next.isBefore(q.furthest) {
		c.Taken = q.outstanding
	}
	return c
}

// claimed notes that a delivery is to be sent. The next one stands behind it.
func (q *queue) claimed(due webhookstore.Due) {
	q.outstanding++
	q.business = due.BusinessID
	q.next = position{due.DueAt, due.ID}
	if q.furthest.isBefore(q.next) {
		q.furthest = q.next
	}
}

// learn adapts the limit to the result of an attempt.
func (q *queue) learn(succeeded bool, most int) { //nolint:revive // the outcome, not a switch
	if succeeded {
		q.limit = min(2*q.limit, most)
	} else {
		q.limit = 1
	}
}

// waitList is a list of queues that wait for their turn, first come, first served.
type waitList []*queue

func (l *waitList) push(q *queue) {
	q.isWaiting = true
	*l = append(*l, q)
}

// pop removes the first queue of the list, which is not empty.
func (l *waitList) pop() *queue {
	q := (*l)[0]
	(*l)[0] = nil
	*l = (*l)[1:]
	q.isWaiting = false
	return q
}
