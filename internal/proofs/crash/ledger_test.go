//go:build linux

package crash_test

import (
	"fmt"
	"sync"
)

// ledger records the responses that clients got and the requests without a response.
type ledger struct {
	lmu     sync.Mutex
	acks    map[string]int     // by kind of act
	records map[string]*record // by mark
	fresh   []*record          // acknowledged since the last look
	dead    []deadToken
	checked int               // of dead
	sent    map[string]string // test deliveries that were promised: id, and what for
	next    int
}

// record is a write that the events of the business report.
type record struct {
	mark     string // unique, in the record and in its event
	event    string // the type
	business string
	writer   string
	seq      int
	total    int64  // of an invoice
	id       string // as it was answered
	isAcked  bool
	isClean  bool // at the first attempt: its place among the writer's others is known
}

// deadToken is a token whose revocation was acknowledged: no client can use it.
type deadToken struct {
	as    *app
	token string
	why   string
}

func newLedger() *ledger {
	return &ledger{acks: map[string]int{}, records: map[string]*record{}, sent: map[string]string{}}
}

// acked counts an acknowledged act.
func (l *ledger) acked(kind string) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	l.acks[kind]++
}

// total is how many acts were acknowledged.
func (l *ledger) total() (n int) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	for _, count := range l.acks {
		n += count
	}
	return n
}

// asks records a request before it is sent.
func (l *ledger) asks(writer, business, event string, total int64) *record {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	l.next++
	r := &record{mark: fmt.Sprintf("m%d", l.next), event: event, business: business, writer: writer, seq: l.next, total: total}
	l.records[r.mark] = r
	return r
}

// wrote records that a request was acknowledged.
func (l *ledger) wrote(r *record, id string, isClean bool) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	r.isAcked, r.isClean, r.id = true, isClean, id
	l.fresh = append(l.fresh, r)
}

// takeFresh returns the records that were acknowledged since its last call.
func (l *ledger) takeFresh() []*record {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	fresh := l.fresh
	l.fresh = nil
	return fresh
}

// died records that tokens are revoked.
func (l *ledger) died(as *app, why string, tokens ...string) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	for _, token := range tokens {
		l.dead = append(l.dead, deadToken{as, token, why})
	}
}

// takeDead returns the tokens that were revoked since its last call, and all revoked
// tokens.
func (l *ledger) takeDead() (fresh, all []deadToken) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	all = l.dead[:len(l.dead):len(l.dead)]
	fresh = all[l.checked:]
	l.checked = len(l.dead)
	return fresh, all
}

// promised records a test delivery that was acknowledged.
func (l *ledger) promised(deliveryID, what string) {
	l.lmu.Lock()
	defer l.lmu.Unlock()
	l.sent[deliveryID] = what
}
