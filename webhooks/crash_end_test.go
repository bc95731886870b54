//go:build unix

package webhooks_test

import (
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/webhooks"
)

// crashEnd is what the database has at the end.
type crashEnd struct {
	rows       map[string]bool // of the host's own, by event
	events     map[string]bool
	deliveries map[pair]*crashDelivery
	queued     int
}

type crashDelivery struct {
	id       string
	status   webhooks.Status
	counted  int // attempts
	attempts []crashAttempt
}

type crashAttempt struct {
	number    int
	signature string
	started   time.Time
	took      time.Duration
	code      int
}

// due is when the next attempt may be made at the earliest: the delay counts from the
// response, and the clock may have moved on meanwhile.
func (a crashAttempt) due() time.Time { return a.started.Add(a.took + retryDelays[a.number-1]) }

// readEnd reads all of it.
func (c *crash) readEnd() crashEnd {
	c.Helper()
	end := crashEnd{rows: map[string]bool{}, events: map[string]bool{}, deliveries: map[pair]*crashDelivery{}}
	byID := map[string]*crashDelivery{}
	store, err := c.host.open(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	defer store.Close()
	each := func(columns, table string, row func(scan func(...any) error) error) {
		c.Helper()
		if err := storage.Each(c.Context(), store, "SELECT "+columns+" FROM "+c.host.table(table)+" ORDER BY 1, 2", nil, row); err != nil {
			c.Fatal(err)
		}
	}
	each("event_id, 1", "crash_record", func(scan func(...any) error) error {
		var id string
		err := scan(&id, new(int))
		end.rows[id] = true
		return err
	})
	each("id, 1", "partnerkit_event", func(scan func(...any) error) error {
		var id string
		err := scan(&id, new(int))
		end.events[id] = true
		return err
	})
	each("id, status, attempts, event_id, webhook_id", "partnerkit_delivery", func(scan func(...any) error) error {
		d := new(crashDelivery)
		var event, webhook string
		err := scan(&d.id, &d.status, &d.counted, &event, &webhook)
		byID[d.id], end.deliveries[pair{event, c.address[webhook]}] = d, d
		return err
	})
	each("delivery_id, number, signature, started_at, took_ms, COALESCE(response_code, 0)", "partnerkit_attempt", func(scan func(...any) error) error {
		var (
			id            string
			a             crashAttempt
			started, took int64
		)
		err := scan(&id, &a.number, &a.signature, &started, &took, &a.code)
		a.started, a.took = time.UnixMilli(started), time.Duration(took)*time.Millisecond
		byID[id].attempts = append(byID[id].attempts, a)
		if a.code >= 200 && a.code <= 299 { // the attempt takes precedence over the row
			byID[id].status, byID[id].counted = "delivered", a.number
		}
		return err
	})
	each("delivery_id, 1", "partnerkit_delivery_queue", func(scan func(...any) error) error {
		end.queued++
		return scan(new(string), new(int))
	})
	return end
}

// checkDuplicates holds the posts that are not in the log against those that were in
// flight at a kill, or refused after a stall. It returns the figures.
func (l *ledger) checkDuplicates(end crashEnd) string {
	excused, refused := map[string]int{}, 0
	for s := range l.inFlight {
		if !s.by.isDead {
			l.complain("%s was posted by a process that stopped without recording it", s.delivery)
		}
		excused[s.delivery]++
	}
	for id, n := range l.refused {
		excused[id] += n
		refused += n
	}
	posts, duplicates := 0, 0
	for p, d := range end.deliveries {
		extra := len(l.posts[p]) - len(d.attempts)
		if extra > excused[d.id] {
			l.complain("%s was posted %d times, %d are in the log, and %d were in flight at a kill", d.id, len(l.posts[p]), len(d.attempts), excused[d.id])
		}
		posts += len(l.posts[p])
		duplicates += max(0, extra)
	}
	return fmt.Sprintf("%d events, %d deliveries, %d posts, %d duplicates; %d were in flight at the kills, %d refused after the lease",
		len(end.events), len(end.deliveries), posts, duplicates, len(l.inFlight), refused)
}
