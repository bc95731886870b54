package webhooks

import (
	"context"
	"maps"
	"slices"
	"time"
)

// How far back looks for due deliveries go: who queues one may have read the clock
// a little before it commits. What is later still, a search finds.
const (
	lookBack = 5 * time.Second // when it is time to look
	hintBack = time.Second     // after a hint, of which there can be many
)

// look finds webhooks that have deliveries due.
func (d *dispatcher) look(ctx context.Context, now time.Time) {
	var (
		due []DueWebhook
		err error
	)
	isHintOnly := false
	switch real := time.Now(); {
	case real.Sub(d.searched) >= searchEvery, (d.isTime || d.isHinted) && real.Sub(d.jumped) < lookBack:
		if due, err = d.store.QueuedWebhooks(ctx); err == nil {
			d.searched = real
			d.trim()
		}
	case d.isTime:
		due, err = d.store.DueWebhooks(ctx, slices.Sorted(maps.Keys(d.held)), d.seen.Add(-lookBack), now)
	case d.isHinted:
		isHintOnly = true
		due, err = d.store.DueWebhooks(ctx, slices.Sorted(maps.Keys(d.held)), d.seen.Add(-hintBack), now)
	default:
		return
	}
	d.isTime, d.isHinted = false, false
	if err != nil {
		d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot look for due deliveries", "err", err)
		return
	}
	d.seen = now
	for _, one := range due {
		if !d.isMine(ShardOf(one.WebhookID)) || one.Due.After(now) {
			continue
		}
		// After a hint most of what is found is being sent. A delivery that was committed
		// late, behind one that is being sent, is found when it is time to look.
		if isHintOnly && d.isTakenUntil(one.WebhookID, one.Latest) {
			continue
		}
		d.add(one.WebhookID, one.Due)
	}
}

// noteOldest keeps the oldest due time for the metrics. Those who wait for a place of
// their own are not in line.
func (d *dispatcher) noteOldest() {
	var oldest time.Time
	for _, one := range d.byID {
		if one.hasWork && (oldest.IsZero() || one.at.due.Before(oldest)) {
			oldest = one.at.due
		}
	}
	d.telemetry.oldest.Store(max(0, oldest.UnixMilli()))
}

// claim gives the free places to webhooks, in turn, and sends what is due there. When
// outcomes come faster than they are recorded it waits: what is sent and not recorded
// is sent again after a crash.
func (d *dispatcher) claim(ctx context.Context, now time.Time) {
	if len(d.finished) >= finishBatch || len(d.first)+len(d.last) == 0 || !d.isTimeFor(&d.claimed, claimGather, d.wanted() >= claimEnough) {
		return
	}
	for d.claimSome(ctx, now) {
	}
}

// claimSome claims once. It reports whether to claim again at once: some webhooks had
// less work than places, and others are waiting.
func (d *dispatcher) claimSome(ctx context.Context, now time.Time) (again bool) {
	claims, asked := d.choose()
	if len(claims) == 0 {
		return false
	}
	due, err := d.store.DueDeliveries(ctx, Claim{Webhooks: claims, Now: now, IsTaken: d.taken.has})
	if err != nil {
		d.cfg.Logger.ErrorContext(ctx, "webhooks: cannot read due deliveries", "err", err)
		for _, one := range asked {
			d.wait(one) // the next turn is not far
		}
		return false
	}
	got := map[string]int{}
	for _, one := range due {
		got[one.WebhookID]++
		d.send(ctx, one, now)
	}
	for i, one := range asked {
		one.hasWork = got[one.webhookID] == claims[i].Limit // there may be more
		again = again || !one.hasWork
		d.wait(one)
	}
	return again && len(d.first)+len(d.last) > 0
}

// wanted is how many deliveries those in line could be given.
func (d *dispatcher) wanted() int {
	n := 0
	for _, some := range []line{d.first, d.last} {
		for _, one := range some {
			n += one.limit - one.inFlight
		}
	}
	return min(n, d.cfg.MaxInFlight-d.places)
}

// choose hands out the free places. The first line gets up to half of all places before
// the last line gets any. In a line all get one before one gets all.
func (d *dispatcher) choose() (claims []WebhookClaim, asked []*lane) {
	free := d.cfg.MaxInFlight - d.places
	suspects := d.cfg.MaxInFlight/suspectsShare - d.suspect
	var later []*lane
	from := func(l *line, places int) {
		each := max(1, places/max(1, len(*l)))
		for range len(*l) {
			if places <= 0 {
				return
			}
			one := l.pop()
			n := min(one.limit-one.inFlight, each, places)
			switch {
			case !one.hasWork || !d.isMine(one.shard) || n <= 0:
				continue // it comes back when there is work, or a place of its own
			case one.isSuspect() && suspects <= 0:
				later = append(later, one)
				continue
			case one.isSuspect():
				suspects -= n
			}
			places -= n
			free -= n
			claims = append(claims, one.ask(n))
			asked = append(asked, one)
		}
	}
	from(&d.first, min(free, d.cfg.MaxInFlight/firstShare-d.firstPlaces))
	from(&d.last, free)
	from(&d.first, free)
	for _, one := range later {
		d.wait(one)
	}
	return claims, asked
}

// send begins an attempt, or drops a delivery whose gate has closed.
func (d *dispatcher) send(ctx context.Context, due Due, now time.Time) {
	one := d.byID[due.WebhookID]
	isFirst := !d.usage.isAboveShare(due.BusinessID)
	one.take(place{due.DueAt, due.ID})
	one.business = due.BusinessID
	d.usage.add(due.BusinessID, time.Now())
	d.takenOf[one.shard]++
	d.taken.add(due.ID)
	epoch := d.held[one.shard]
	if closed := d.gate(due.Delivery, due.Standing); closed != gateOpen {
		d.telemetry.drop(ctx, closed)
		d.finished = append(d.finished, Outcome{
			Due: due, Epoch: epoch, Status: Failed, Attempts: due.Attempts, LastError: closed.text(),
		})
		return
	}
	one.inFlight++
	d.places++
	f := &flight{lane: one, started: time.Now(), isSuspect: one.isSuspect(), isFirst: isFirst}
	if f.isSuspect {
		d.suspect++
	}
	if f.isFirst {
		d.firstPlaces++
	}
	d.running[due.ID] = f
	d.telemetry.begin(ctx, due, now)
	go func() { d.results <- d.attempt(ctx, due, epoch) }()
}
