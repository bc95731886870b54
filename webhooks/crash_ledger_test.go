//go:build unix

package webhooks_test

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// crashEndpoint is a receiver.
type crashEndpoint struct {
	address   string
	takes     time.Duration // at most
	isFailing bool          // it refuses the first post of a delivery, or the first two
}

const slow = 200 * time.Millisecond

var crashEndpoints = []crashEndpoint{
	{address: "127.0.1.1", takes: 2 * time.Millisecond},
	{address: "127.0.1.2", takes: 2 * time.Millisecond},
	{address: "127.0.1.3", takes: 20 * time.Millisecond},
	{address: "127.0.1.4", takes: 20 * time.Millisecond},
	{address: "127.0.2.1", takes: slow},
	{address: "127.0.2.2", takes: slow},
	{address: "127.0.3.1", takes: 2 * time.Millisecond, isFailing: true},
	{address: "127.0.3.2", takes: 20 * time.Millisecond, isFailing: true},
}

// subscribes returns the events of an endpoint. Endpoints that are slow, or fail,
// subscribe to the rare event only, so that they keep up.
func (e crashEndpoint) subscribes() []string {
	if e.isFailing || e.takes >= slow {
		return crashEvents[1:]
	}
	return crashEvents
}

func (e crashEndpoint) hears(name string) bool { return slices.Contains(e.subscribes(), name) }

// refusals is how many posts of a delivery an endpoint refuses.
func (e crashEndpoint) refusals(delivery string) int {
	if !e.isFailing {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(delivery))
	return 1 + int(h.Sum32()%2)
}

// pair is what is promised: this event reaches that address.
type pair struct{ event, address string }

// crashPost is a request that arrived.
type crashPost struct {
	by        *crashNode
	pair      pair
	delivery  string
	signature string
	status    int // 0: not answered
}

type crashEvent struct {
	name string
	said string // begin, commit or rollback: the last that its writer could say
}

// sending is a delivery in the hands of a process.
type sending struct {
	by       *crashNode
	delivery string
}

// ledger is what arrived and what the processes said.
type ledger struct {
	mu       sync.Mutex
	events   map[string]crashEvent
	posts    map[pair][]*crashPost
	unposted map[pair]bool // committed, and not posted yet
	// inFlight is what was posted and has not been said to be recorded. What is left
	// of a process that was killed was in flight at the kill.
	inFlight map[sending]*crashPost
	recorded map[string]bool // by delivery: an outcome
	refused  map[string]int  // by delivery: outcomes that came after the lease
	recovery *recovery       // from the last kill
	wrong    []string
}

func newLedger() *ledger {
	return &ledger{
		events: map[string]crashEvent{}, posts: map[pair][]*crashPost{}, unposted: map[pair]bool{},
		inFlight: map[sending]*crashPost{}, recorded: map[string]bool{}, refused: map[string]int{}, recovery: new(recovery),
	}
}

func (l *ledger) complain(format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// wrote takes notice of what a writer said about an event.
func (l *ledger) wrote(word, id, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[id] = crashEvent{name, word}
	for _, e := range crashEndpoints {
		if p := (pair{id, e.address}); word == "commit" && e.hears(name) && len(l.posts[p]) == 0 {
			l.unposted[p] = true
		}
	}
}

// finished takes notice of what became of an outcome.
func (l *ledger) finished(by *crashNode, word, delivery string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	post := l.inFlight[sending{by, delivery}]
	switch {
	case post == nil:
		l.complain("%s was never posted, and is %s", delivery, word)
	case word == "recorded":
		l.recorded[delivery] = true
		l.recovery.posted(post.pair)
	}
	delete(l.inFlight, sending{by, delivery})
	if word != "recorded" {
		l.refused[delivery]++
		by.hasStalled = true
	}
	if word == "foreign" {
		l.complain("%s was sent by a process that had given its shard away, or from which it was taken while the lease ran", delivery)
	}
}

// stalls takes notice of a process that will stand still.
func (l *ledger) stalls(n *crashNode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n.hasStalled = true
}

// door is where the requests of a process arrive.
func (l *ledger) door(by *crashNode) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := slices.IndexFunc(crashEndpoints, func(e crashEndpoint) bool { return e.address == r.Host })
		if _, err := io.Copy(io.Discard, r.Body); err != nil || at < 0 {
			return // the process was killed while it wrote
		}
		to := crashEndpoints[at]
		post, status := l.arrived(by, to, r.Header)
		time.Sleep(to.takes - rand.N(to.takes/2))
		l.mu.Lock()
		post.status = status
		l.mu.Unlock()
		w.WriteHeader(status)
	}
}

// arrived records a request and returns the response for it.
func (l *ledger) arrived(by *crashNode, to crashEndpoint, h http.Header) (*crashPost, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := pair{h.Get("X-Webhook-Event-Id"), to.address}
	post := &crashPost{by: by, pair: p, delivery: h.Get("X-Webhook-Id"), signature: h.Get(signature.Header)}
	if l.inFlight[sending{by, post.delivery}] != nil {
		l.complain("%s was posted twice by one process that has not recorded the first", post.delivery)
	}
	l.inFlight[sending{by, post.delivery}] = post
	l.posts[p] = append(l.posts[p], post)
	delete(l.unposted, p)
	if !by.isDead { // else it is late
		l.recovery.posted(p)
	}
	if len(l.posts[p]) <= to.refusals(post.delivery) {
		return post, http.StatusInternalServerError
	}
	return post, http.StatusNoContent
}

// isQuiet reports whether all that was committed has been sent, and all that was sent
// has been recorded.
func (l *ledger) isQuiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.inFlight {
		if !s.by.isDead {
			return false
		}
	}
	return len(l.unposted) == 0
}

// missing describes what is not settled yet, and earlier complaints.
func (l *ledger) missing() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := slices.Collect(maps.Keys(l.unposted))
	return fmt.Sprintf("%d were committed and not posted, such as %v\n%s", len(some), some[:min(len(some), 3)], strings.Join(l.wrong, "\n"))
}
