//go:build unix

package webhooks_test

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/webhooks"
)

// retryDelays are DLV-01's.
var retryDelays = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// check checks the state that is left when all work has settled.
func (c *crash) check() {
	c.Helper()
	end := c.readEnd()
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checkEvents(end)
	l.checkPairs(end)
	c.Log(l.checkDuplicates(end))
	if end.queued != 0 {
		l.complain("%d deliveries are left in the queue", end.queued)
	}
	for i, text := range l.wrong {
		if i == 20 {
			c.Errorf("and %d more", len(l.wrong)-i)
			break
		}
		c.Error(text)
	}
}

// checkEvents settles what was committed: it is what writers said, and where a kill
// did not let them say it, what the row of the host's own says.
func (l *ledger) checkEvents(end crashEnd) {
	for id, e := range l.events {
		switch row := end.rows[id]; {
		case row != end.events[id]:
			l.complain("%s: the host's row is there: %v; the event: %v", id, row, end.events[id])
		case e.said == "begin" && row:
			l.events[id] = crashEvent{e.name, "commit"}
		case row != (e.said == "commit"):
			l.complain("%s: its writer said %s; it is there: %v", id, e.said, row)
		}
	}
}

// checkPairs looks at each event and endpoint.
func (l *ledger) checkPairs(end crashEnd) {
	promised := 0
	for id, e := range l.events {
		for _, to := range crashEndpoints {
			p := pair{id, to.address}
			switch d := end.deliveries[p]; {
			case e.said != "commit" || !to.hears(e.name):
				if d != nil || len(l.posts[p]) > 0 {
					l.complain("%v: %d posts, and the event was rolled back or is not subscribed to", p, len(l.posts[p]))
				}
			case d == nil:
				promised++
				l.complain("%v: no delivery, %d posts", p, len(l.posts[p]))
			default:
				promised++
				l.checkAttempts(d)
				l.checkPosts(d, l.posts[p])
			}
		}
	}
	if len(end.deliveries) != promised {
		l.complain("%d deliveries, want %d", len(end.deliveries), promised)
	}
	for p := range l.posts {
		if l.events[p.event].said == "" {
			l.complain("%v: posted, but no such event was recorded", p)
		}
	}
}

// checkAttempts looks at the log of a delivery.
func (l *ledger) checkAttempts(d *crashDelivery) {
	if d.status != webhooks.Delivered || len(d.attempts) != d.counted || d.counted < 1 || d.counted > webhooks.MaxAttempts {
		l.complain("%s is %s, with %d attempts, of which %d in the log", d.id, d.status, d.counted, len(d.attempts))
	}
	for i, a := range d.attempts {
		if isLast := i == len(d.attempts)-1; a.number != i+1 || (a.code == http.StatusNoContent) != isLast {
			l.complain("%s: attempt %d is the %d. and was answered with %d", d.id, a.number, i+1, a.code)
		}
		if i > 0 && a.started.Before(d.attempts[i-1].due()) {
			l.complain("%s: attempt %d was made at %v, and due at %v", d.id, a.number, a.started, d.attempts[i-1].due())
		}
	}
}

// checkPosts checks the posts of a delivery, including posts that were not recorded: they
// follow the schedule too. Only a process that was stopped may repeat an attempt at any
// time, since it does not know that another process has made it meanwhile.
func (l *ledger) checkPosts(d *crashDelivery, posts []*crashPost) {
	hasArrived := false
	for _, post := range posts {
		if post.delivery != d.id {
			l.complain("%v: delivered as %s and as %s", post.pair, post.delivery, d.id)
		}
		hasArrived = hasArrived || post.status == http.StatusNoContent
		sent := sentAt(post.signature)
		for _, a := range d.attempts[:max(0, len(d.attempts)-1)] {
			if sent > sentAt(a.signature) && sent < a.due().Unix() && !post.by.hasStalled {
				l.complain("%s: posted at %d, %v too early", d.id, sent, a.due().Sub(time.Unix(sent, 0)))
			}
		}
	}
	if !hasArrived {
		l.complain("%s: %d posts, and none was answered well", d.id, len(posts))
	}
}

// sentAt is t of a signature, by the platform's clock.
func sentAt(signature string) int64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",")
	t, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return t
}
