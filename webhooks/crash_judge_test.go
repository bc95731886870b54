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

// judge looks at what is left when all has settled.
func (c *crash) judge() {
	c.Helper()
	end := c.readEnd()
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judgeEvents(end)
	l.judgePairs(end)
	c.Log(l.judgeDuplicates(end))
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

// judgeEvents settles what was committed: it is what writers said, and where a kill
// did not let them say it, what the row of the host's own says.
func (l *ledger) judgeEvents(end crashEnd) {
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

// judgePairs looks at each event and endpoint.
func (l *ledger) judgePairs(end crashEnd) {
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
				l.judgeAttempts(d)
				l.judgePosts(d, l.posts[p])
			}
		}
	}
	if len(end.deliveries) != promised {
		l.complain("%d deliveries, want %d", len(end.deliveries), promised)
	}
	for p := range l.posts {
		if l.events[p.event].said == "" {
			l.complain("%v: posted, and nobody recorded such an event", p)
		}
	}
}

// judgeAttempts looks at the log of a delivery.
func (l *ledger) judgeAttempts(d *crashDelivery) {
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

// judgePosts looks at the posts of a delivery, also at those that nobody could
// record: they kept the time too. Only a process that stood still may repeat an
// attempt at any time, since it does not know that another has made it meanwhile.
func (l *ledger) judgePosts(d *crashDelivery, posts []*crashPost) {
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
