package analytics

import (
	"crypto/rand"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/text"
)

// shards is how many locks the buckets are spread over. A lock is held for an
// addition and never while anything is written.
const shards = 16

const (
	secondsPerHour = 3600
	secondsPerDay  = 24 * secondsPerHour

	// maxWaitingRequests is how many entries of the request log may wait in memory.
	maxWaitingRequests = 10_000
	// maxGroupsPerBucket is how many groups may wait in memory for each bucket that may.
	maxGroupsPerBucket = 4
)

// Counter counts calls and reads what was counted. It is safe for concurrent
// use.
type Counter struct {
	cfg    Config
	writer string
	seed   maphash.Seed
	shards [shards]shard
	uses   uses

	waiting atomic.Int64 // buckets in memory: in the shards and in unsent
	dropped atomic.Int64 // calls

	grouped  atomic.Int64  // groups in memory
	logged   atomic.Int64  // entries of the request log in memory
	unlogged atomic.Int64  // calls for which the request log had no room
	full     chan struct{} // has a value when half of the room is taken

	flushing chan struct{}     // holds a value while a flush runs; it guards the fields below
	unsent   []callstore.Batch // taken from the shards and not known to be stored
	number   int64             // of the last batch
	told     int64             // how many dropped calls the log knows of

	toldUnlogged int64          // likewise, of the request log
	written      map[string]int // entries of the request log, by app, since it was trimmed
}

type shard struct {
	mu      sync.Mutex
	buckets map[key]*callstore.Bucket
	groups  map[groupKey]*tally
	calls   []Call   // for the request log
	_       [16]byte // a cache line for each lock
}

type key struct {
	appID string
	hour  int64 // Unix seconds of its beginning
}

// New checks the configuration and returns a counter. It starts nothing:
// [Counter.Run] writes what was counted.
func New(cfg Config) (*Counter, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Counter{
		cfg: cfg.withDefaults(), writer: rand.Text(), seed: maphash.MakeSeed(),
		full: make(chan struct{}, 1), flushing: make(chan struct{}, 1), written: make(map[string]int),
	}
	if err := c.observe(); err != nil {
		return nil, err
	}
	return c, nil
}

// Count counts one call of an app and notes it for the request log. It only adds to
// memory, so that it neither waits for anything nor fails. Calls of no app, those with a
// session, are not counted; nor are calls with a dead token, which are in the log alone.
func (c *Counter) Count(call Call) {
	if call.AppID == "" {
		return
	}
	if !call.HasDeadToken {
		c.Use(call.InstallationID, call.At)
	}
	s := &c.shards[maphash.String(c.seed, call.AppID)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if text.IsStorable(call.AppID) && c.reserve(&c.logged, maxWaitingRequests) {
		s.calls = append(s.calls, call)
	} else {
		c.unlogged.Add(1)
	}
	if call.HasDeadToken {
		return
	}
	k := key{appID: call.AppID, hour: hourOf(call.At)}
	b := s.buckets[k]
	if b == nil {
		if b = c.open(s, k); b == nil {
			c.dropped.Add(1)
			return
		}
	}
	b.Count(call.Status, call.RateLimited)
	b.Latency.Count(call.Took)
	c.group(s, &call)
}

// open adds a bucket to a locked shard. It returns nil when the bucket does not fit.
func (c *Counter) open(s *shard, k key) *callstore.Bucket {
	if !text.IsStorable(k.appID) || !c.reserve(&c.waiting, c.cfg.MaxBuckets) {
		return nil
	}
	k.appID = strings.Clone(k.appID) // it may be a piece of something larger
	b := &callstore.Bucket{AppID: k.appID, Hour: time.Unix(k.hour, 0).UTC()}
	if s.buckets == nil {
		s.buckets = make(map[key]*callstore.Bucket)
	}
	s.buckets[k] = b
	return b
}

// reserve takes room for one more of most. Taking the last of one half wakes Run: a store
// that works then empties memory before the other half is taken.
func (c *Counter) reserve(used *atomic.Int64, most int) bool {
	now := used.Add(1)
	if now > int64(most) {
		used.Add(-1)
		return false
	}
	if now == int64(most+1)/2 {
		select {
		case c.full <- struct{}{}:
		default:
		}
	}
	return true
}

// hourOf rounds down, before 1970 too.
func hourOf(t time.Time) int64 {
	second := t.Unix()
	return second - (second%secondsPerHour+secondsPerHour)%secondsPerHour
}

// taken holds counts that were taken from memory to be written.
type taken struct {
	buckets  []callstore.Bucket
	groups   []callstore.Group
	requests []callstore.Request
	uses     map[string]time.Time
}

func (t *taken) addCalls(calls []Call) {
	for _, call := range calls {
		t.requests = append(t.requests, call.request())
	}
}

// take removes what all apps have from the shards, and adds what was used.
func (c *Counter) take() (all taken) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		buckets, groups, calls := s.buckets, s.groups, s.calls
		s.buckets, s.groups, s.calls = nil, nil, nil
		s.mu.Unlock()
		for _, b := range buckets {
			all.buckets = append(all.buckets, *b)
		}
		for k, counts := range groups {
			all.groups = append(all.groups, k.group(*counts))
		}
		all.addCalls(calls)
	}
	all.uses = c.unsentUses()
	return all
}

// takeOf removes what one app has.
func (c *Counter) takeOf(appID string) (own taken) {
	s := &c.shards[maphash.String(c.seed, appID)%shards]
	var calls, others []Call
	s.mu.Lock()
	for k, b := range s.buckets {
		if k.appID == appID {
			own.buckets = append(own.buckets, *b)
			delete(s.buckets, k)
		}
	}
	for k, counts := range s.groups {
		if k.appID == appID {
			own.groups = append(own.groups, k.group(*counts))
			delete(s.groups, k)
		}
	}
	for _, call := range s.calls {
		if call.AppID == appID {
			calls = append(calls, call)
		} else {
			others = append(others, call)
		}
	}
	s.calls = others
	s.mu.Unlock()
	own.addCalls(calls)
	return own
}
