package webhooks

import (
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
	"time"
)

const (
	// An attempt that runs for longer than slowAfter gives up its slot and goes on
	// without one. There are at most slowPerSlot of these for each slot.
	slowAfter   = 500 * time.Millisecond
	slowPerSlot = 4
	// Endpoints that may be dead have at most half of the slots, and so has the first
	// wait list while queues of the last list wait.
	suspectShare = 2
	firstShare   = 2
	// maxIdleQueues is how many queues without work are remembered, about 200 bytes
	// each. Beyond that the limits of idle queues are forgotten.
	maxIdleQueues = 50_000
)

// scheduler decides which webhooks may send next. It knows queues and slots, no database
// and no HTTP, and is not safe for concurrent use.
//
// A queue with work waits in one of two lists: in the last one if its business has had more
// than its fair share of the recent deliveries, and in the first one otherwise. Within a
// list every queue gets one slot before one of them gets two.
type scheduler struct {
	slots       int // attempts at a time
	perEndpoint int // of one queue

	queues      map[string]*queue // by webhook
	usage       usage
	first, last waitList

	flights   map[string]*flight // attempts, by delivery
	used      int                // slots
	suspects  int                // slots used by endpoints that may be dead
	firstUsed int                // slots used by the first list
	slow      int                // attempts without a slot
}

// flight is an attempt that is under way.
type flight struct {
	queue     *queue
	started   time.Time // real
	isSlow    bool      // it gave up its slot
	isSuspect bool
	isFirst   bool
}

func newScheduler(slots, perEndpoint int) *scheduler {
	return &scheduler{
		slots: slots, perEndpoint: perEndpoint,
		queues: map[string]*queue{}, usage: newUsage(), flights: map[string]*flight{},
	}
}

// add notes that a webhook of a shard has deliveries that are due.
func (s *scheduler) add(due webhookstore.DueWebhook, shard int, now time.Time) {
	q := s.queues[due.WebhookID]
	if q == nil {
		q = &queue{webhookID: due.WebhookID, shard: shard, limit: 1}
		s.queues[due.WebhookID] = q
	}
	if q.isIdle() || !due.First.After(q.next.due) { // it may have been committed late
		q.next = position{due: due.First}
	}
	if due.Last.After(now) && due.Last.After(q.until) {
		q.until = due.Last
	}
	q.hasWork = true
	s.wait(q)
}

// wait puts a queue with work at the end of its list.
func (s *scheduler) wait(q *queue) {
	switch {
	case !q.hasWork || q.isWaiting:
	case s.usage.isAboveShare(q.business):
		s.last.push(q)
	default:
		s.first.push(q)
	}
}

func (s *scheduler) isWaiting() bool { return len(s.first)+len(s.last) > 0 }

// wanted returns how many deliveries the waiting queues could be given now.
func (s *scheduler) wanted() int {
	n := 0
	for _, list := range []waitList{s.first, s.last} {
		for _, q := range list {
			n += q.limit - q.inFlight
		}
	}
	return min(n, s.slots-s.used)
}

// turn is a queue that may claim deliveries.
type turn struct {
	queue *queue
	claim webhookstore.WebhookClaim
}

// choose hands out the free slots to waiting queues of the shards that isMine reports.
func (s *scheduler) choose(isMine func(shard int) bool) []turn {
	free := s.slots - s.used
	suspects := s.slots/suspectShare - s.suspects
	var turns []turn
	var later []*queue
	from := func(list *waitList, slots int) {
		each := max(1, slots/max(1, len(*list)))
		for range len(*list) {
			if slots <= 0 {
				return
			}
			q := list.pop()
			n := min(q.limit-q.inFlight, each, slots)
			switch {
			case !q.hasWork || !isMine(q.shard) || n <= 0:
				continue // it waits again when it has work and a slot of its own
			case q.isSuspect() && suspects <= 0:
				later = append(later, q)
				continue
			case q.isSuspect():
				suspects -= n
			}
			slots -= n
			free -= n
			turns = append(turns, turn{q, q.claim(n)})
		}
	}
	from(&s.first, min(free, s.slots/firstShare-s.firstUsed))
	from(&s.last, free)
	from(&s.first, free)
	for _, q := range later {
		s.wait(q)
	}
	return turns
}

// claimed notes that the store returned a delivery to be sent.
func (s *scheduler) claimed(due webhookstore.Due) { s.queues[due.WebhookID].claimed(due) }

// finishTurns notes how many deliveries each turn got; nil means that claiming failed. It
// reports whether to choose again at once: some queues had less work than slots, and
// others wait.
func (s *scheduler) finishTurns(turns []turn, got map[string]int) (again bool) {
	for _, t := range turns {
		if got != nil {
			t.queue.hasWork = got[t.queue.webhookID] == t.claim.Limit // there may be more
			again = again || !t.queue.hasWork
		}
		s.wait(t.queue)
	}
	return again && s.isWaiting()
}

// start begins an attempt of a claimed delivery, in a slot.
func (s *scheduler) start(due webhookstore.Due, now time.Time) {
	q := s.queues[due.WebhookID]
	f := &flight{queue: q, started: now, isSuspect: q.isSuspect(), isFirst: !s.usage.isAboveShare(due.BusinessID)}
	s.usage.add(due.BusinessID, now)
	s.flights[due.ID] = f
	q.inFlight++
	s.occupy(f, 1)
}

// occupy uses slots for an attempt, or frees them if n is negative.
func (s *scheduler) occupy(f *flight, n int) {
	s.used += n
	if f.isSuspect {
		s.suspects += n
	}
	if f.isFirst {
		s.firstUsed += n
	}
}

// complete ends an attempt. Its delivery stays outstanding until it is recorded.
func (s *scheduler) complete(deliveryID string, succeeded bool) { //nolint:revive // the outcome, not a switch
	f := s.flights[deliveryID]
	delete(s.flights, deliveryID)
	if f.isSlow {
		s.slow--
	} else {
		s.occupy(f, -1)
	}
	f.queue.inFlight--
	f.queue.learn(succeeded, s.perEndpoint)
	s.wait(f.queue)
}

// age takes the slots of attempts that take long. Their endpoints get one attempt at a
// time until they have responded.
func (s *scheduler) age(now time.Time) {
	for _, f := range s.flights {
		if !f.isSlow && now.Sub(f.started) >= slowAfter && s.slow < slowPerSlot*s.slots {
			s.occupy(f, -1)
			s.slow++
			f.isSlow, f.queue.limit = true, 1
		}
	}
}

// recorded notes that the outcome of a claimed delivery is in the database.
func (s *scheduler) recorded(webhookID string) { s.queues[webhookID].outstanding-- }

// forget drops the work of a shard, which another node has now.
func (s *scheduler) forget(shard int) {
	for _, q := range s.queues {
		if q.shard == shard {
			q.hasWork = false
		}
	}
}

// trim bounds the number of queues.
func (s *scheduler) trim() {
	if len(s.queues) <= maxIdleQueues {
		return
	}
	for id, q := range s.queues {
		if q.isIdle() {
			delete(s.queues, id)
		}
	}
}

// oldest returns when the oldest delivery that is due became due; zero if none is due.
func (s *scheduler) oldest() time.Time {
	var oldest time.Time
	for _, q := range s.queues {
		if q.hasWork && (oldest.IsZero() || q.next.due.Before(oldest)) {
			oldest = q.next.due
		}
	}
	return oldest
}
