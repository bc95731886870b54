package analytics

import (
	"crypto/rand"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
)

// shards is how many locks the buckets are spread over. A lock is held for an
// addition and never while anything is written.
const shards = 16

const secondsPerHour = 3600

// Counter counts calls and reads what was counted. It is safe for concurrent
// use.
type Counter struct {
	cfg    Config
	writer string
	seed   maphash.Seed
	shards [shards]shard
	uses   uses

	waiting atomic.Int64  // buckets in memory: in the shards and in unsent
	dropped atomic.Int64  // calls
	full    chan struct{} // has a value when half of the room is taken

	flushing chan struct{} // holds a value while somebody flushes; it guards the rest
	unsent   []Batch       // taken from the shards and not known to be stored
	number   int64         // of the last batch
	told     int64         // how many dropped calls the log knows of
}

type shard struct {
	mu      sync.Mutex
	buckets map[key]*Bucket
	_       [48]byte // a cache line for each lock
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
		full: make(chan struct{}, 1), flushing: make(chan struct{}, 1),
	}
	if err := c.observe(); err != nil {
		return nil, err
	}
	return c, nil
}

// Count counts one call of an app: when it came, the status of its answer,
// whether a rate limit refused it, and how long it took. It only adds to memory,
// so that it neither waits for anything nor fails. Calls of no app, those with a
// session, are not counted.
func (c *Counter) Count(appID string, at time.Time, status int, rateLimited bool, took time.Duration) {
	if appID == "" {
		return
	}
	s := &c.shards[maphash.String(c.seed, appID)%shards]
	k := key{appID: appID, hour: hourOf(at)}

	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[k]
	if b == nil {
		if b = c.open(s, k); b == nil {
			c.dropped.Add(1)
			return
		}
	}
	b.count(status, rateLimited, took)
}

// open adds a bucket to a locked shard; nil when there is no room for it.
func (c *Counter) open(s *shard, k key) *Bucket {
	if !text.IsStorable(k.appID) || !c.reserve() {
		return nil
	}
	k.appID = strings.Clone(k.appID) // it may be a piece of something larger
	b := &Bucket{AppID: k.appID, Hour: time.Unix(k.hour, 0).UTC()}
	if s.buckets == nil {
		s.buckets = make(map[key]*Bucket)
	}
	s.buckets[k] = b
	return b
}

// reserve takes room for one bucket. Whoever takes the last of one half wakes
// Run: a store that works then empties memory before the other half is taken.
func (c *Counter) reserve() bool {
	room := int64(c.cfg.MaxBuckets)
	taken := c.waiting.Add(1)
	if taken > room {
		c.waiting.Add(-1)
		return false
	}
	if taken == (room+1)/2 {
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

// take removes the buckets of all apps from the shards.
func (c *Counter) take() []Bucket {
	var taken []Bucket
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		buckets := s.buckets
		s.buckets = nil
		s.mu.Unlock()
		for _, b := range buckets {
			taken = append(taken, *b)
		}
	}
	return taken
}

// takeOf removes the buckets of one app.
func (c *Counter) takeOf(appID string) []Bucket {
	s := &c.shards[maphash.String(c.seed, appID)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []Bucket
	for k, b := range s.buckets {
		if k.appID == appID {
			taken = append(taken, *b)
			delete(s.buckets, k)
		}
	}
	return taken
}
