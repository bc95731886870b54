package redislimit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// maxKeys bounds one call: Redis does nothing else while a script runs.
	maxKeys = 256

	// maxFlights is the maximum number of concurrent calls. With more calls, fewer
	// checks share one. A single call is no faster, and a connection that hangs
	// would delay all checks.
	maxFlights = 4
)

// flight is one call to Redis that the checks of several callers share. Keys
// come in under the mutex of flights until it departs; reply and err may be
// read when done is closed.
type flight struct {
	ctx  context.Context // the first caller's, for traces; it does not end with it
	due  time.Time
	keys keys

	done  chan struct{}
	reply []int64
	err   error
}

// seat is the index of the first key of one check within those of its flight.
type seat struct{ counter, lockout int }

// flights gathers the checks that arrive while others are under way, so that
// one round trip is enough for all of them. There is a goroutine for each call and none
// besides.
type flights struct {
	timeout time.Duration
	call    func(*flight) // fills in the response

	mu       sync.Mutex
	underWay int
	waiting  []*flight // in their order; empty unless maxFlights are under way
}

// errNoCall stands until the call returns. A hook of the client may end the
// goroutine instead.
var errNoCall = errors.New("the call to redis did not return")

// board takes the keys of one check into a flight: one that waits and has room,
// or a new one, which departs at once unless too many are under way.
func (q *flights) board(ctx context.Context, k keys) (*flight, seat) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.waiting); n > 0 && q.waiting[n-1].keys.len()+k.len() <= maxKeys {
		f := q.waiting[n-1]
		at := seat{counter: len(f.keys.counters), lockout: len(f.keys.lockouts)}
		f.keys.add(k)
		return f, at
	}
	f := &flight{
		ctx:  context.WithoutCancel(ctx),
		due:  time.Now().Add(q.timeout), // the others of this flight come later
		keys: k,
		done: make(chan struct{}),
		err:  errNoCall,
	}
	if q.underWay < maxFlights {
		q.underWay++
		go q.fly(f)
	} else {
		q.waiting = append(q.waiting, f)
	}
	return f, seat{}
}

func (q *flights) fly(f *flight) {
	defer q.land(f) // wakes the waiting checks, however the call ends
	q.call(f)
}

// land gives all checks of the flight their results and starts the next flight.
func (q *flights) land(f *flight) {
	close(f.done)
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.underWay--
		return
	}
	next := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	go q.fly(next)
}
