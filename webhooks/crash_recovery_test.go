//go:build unix

package webhooks_test

import (
	"maps"
	"time"
)

// recovery goes on until every address that was owed something at a kill has got the
// first of it.
type recovery struct {
	owed  map[pair]bool
	first map[string]time.Time // by address; zero: not yet
}

// died begins a recovery. A delivery is owed if it was committed and not posted, or if its
// response was pending when the process died, so that this process cannot have recorded it.
// If the process had stalled, another one may have sent and recorded the delivery in the
// meantime: then it is not owed, or no longer. Deliveries left by an earlier kill count too.
func (l *ledger) died(node *crashNode) *recovery {
	l.mu.Lock()
	defer l.mu.Unlock()
	node.isDead = true
	r := &recovery{owed: maps.Clone(l.unposted), first: map[string]time.Time{}}
	maps.Copy(r.owed, l.recovery.owed)
	for s, post := range l.inFlight {
		if s.by == node && post.status == 0 && !l.recorded[s.delivery] {
			r.owed[post.pair] = true
		}
	}
	for _, e := range crashEndpoints {
		if e.isFailing { // what is tried there one at a time may wait for its turn
			maps.DeleteFunc(r.owed, func(p pair, _ bool) bool { return p.address == e.address })
		}
	}
	for p := range r.owed {
		r.first[p.address] = time.Time{}
	}
	l.recovery = r
	return r
}

// posted takes notice of a post. The ledger's lock is held.
func (r *recovery) posted(p pair) {
	if r.owed[p] && r.first[p.address].IsZero() {
		r.first[p.address] = time.Now()
	}
	delete(r.owed, p)
}

// recovered returns when the last address got the first of what it was owed; false
// when one has not. It is zero when nothing was owed.
func (l *ledger) recovered(r *recovery) (last time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range r.first {
		if at.IsZero() {
			return last, false
		}
		if at.After(last) {
			last = at
		}
	}
	return last, true
}
