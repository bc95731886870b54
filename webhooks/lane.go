package webhooks

import "time"

// lane is what a dispatcher remembers of a webhook that has, or had, work.
type lane struct {
	webhookID string
	shard     int
	hasWork   bool  // deliveries that are due and that nobody sends yet
	at        place // and none of them stands before it
	furthest  place // of those that were taken
	isWaiting bool  // in line for its turn
	inFlight  int
	taken     int // in flight, or not recorded yet
	// business is the business of the last delivery that was taken.
	business string
	// limit is how many attempts it may have at a time: one to begin with, twice
	// as many after each that went well, and one again after one that did not.
	limit int
}

// isSuspect reports an endpoint that nobody knows to be well.
func (l *lane) isSuspect() bool { return l.limit <= 1 }

func (l *lane) isIdle() bool { return !l.hasWork && l.taken == 0 }

// learn adapts the limit to what came of an attempt.
func (l *lane) learn(succeeded bool, most int) { //nolint:revive // the outcome, not a switch
	if succeeded {
		l.limit = min(2*l.limit, most)
	} else {
		l.limit = 1
	}
}

// lanes are all of them, and two lines of those that have work: the second is for
// webhooks whose deliveries come from businesses that have had more than their share.
type lanes struct {
	byID  map[string]*lane
	usage usage
	first line
	last  line
}

// line is a queue of lanes.
type line []*lane

func (l *line) push(one *lane) {
	one.isWaiting = true
	*l = append(*l, one)
}

// pop takes the first of the line, which is not empty.
func (l *line) pop() *lane {
	one := (*l)[0]
	(*l)[0] = nil
	*l = (*l)[1:]
	one.isWaiting = false
	return one
}

// maxIdleLanes is how many webhooks without work are remembered, some 200 bytes
// each; more than that, and how well they answered is forgotten.
const maxIdleLanes = 50_000

// add says that a webhook has deliveries that are due, since then.
func (l *lanes) add(webhookID string, due time.Time) {
	one := l.byID[webhookID]
	if one == nil {
		one = &lane{webhookID: webhookID, shard: ShardOf(webhookID), limit: 1}
		l.byID[webhookID] = one
	}
	if !one.hasWork && one.taken == 0 || !due.After(one.at.due) { // it may have come late
		one.at = place{due: due}
	}
	one.hasWork = true
	l.wait(one)
}

// isTakenUntil reports whether the webhook's deliveries that are due by then are being
// sent, unless one of them was committed late.
func (l *lanes) isTakenUntil(webhookID string, due time.Time) bool {
	one := l.byID[webhookID]
	return one != nil && !one.hasWork && one.taken > 0 && !due.After(one.furthest.due)
}

// place is one in the queue of a webhook.
type place struct {
	due time.Time
	id  string // of a delivery; empty: before all that are due then
}

func (p place) isBefore(other place) bool {
	return p.due.Before(other.due) || p.due.Equal(other.due) && p.id < other.id
}

// take says that a delivery there is being sent: what comes next stands behind it.
func (l *lane) take(there place) {
	l.taken++
	l.at = there
	if l.furthest.isBefore(there) {
		l.furthest = there
	}
}

// ask is the wish for so many deliveries.
func (l *lane) ask(n int) WebhookClaim {
	claim := WebhookClaim{WebhookID: l.webhookID, From: l.at.due, After: l.at.id, Limit: n}
	if l.at.isBefore(l.furthest) {
		claim.Taken = l.taken
	}
	return claim
}

// wait puts a lane with work at the end of its line.
func (l *lanes) wait(one *lane) {
	switch {
	case !one.hasWork || one.isWaiting:
	case l.usage.isAboveShare(one.business):
		l.last.push(one)
	default:
		l.first.push(one)
	}
}

// forget drops the work of a shard.
func (l *lanes) forget(shard int) {
	for _, one := range l.byID {
		if one.shard == shard {
			one.hasWork = false
		}
	}
}

// trim keeps the number of remembered webhooks in bounds.
func (l *lanes) trim() {
	if len(l.byID) <= maxIdleLanes {
		return
	}
	for id, one := range l.byID {
		if one.isIdle() {
			delete(l.byID, id)
		}
	}
}
