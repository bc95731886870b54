package ratelimit

import (
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

const (
	ways   = 8  // entries that compete for the same places
	shards = 64 // locks; a power of two

)

func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }

// table is a hash table of fixed size whose keys compete for places within
// sets of eight. Where a key goes depends on a seed of this process, so that clients
// cannot choose keys that crowd one set.
type table[S any] struct {
	seed   maphash.Seed
	shards [shards]shard[S]
}

type shard[S any] struct {
	mu   sync.Mutex
	sets []*S     // allocated when first used
	_    [32]byte // a cache line for each lock
}

// newTable returns a table whose sets take setBytes each, at most.
func newTable[S any](maxBytes, setBytes int64) *table[S] {
	t := &table[S]{seed: maphash.MakeSeed()}
	room := maxBytes - sizeOf[table[S]]()
	for i := range t.shards {
		t.shards[i].sets = make([]*S, room/(setBytes+sizeOf[*S]())/shards)
	}
	return t
}

// place returns the shard of a key and the index of its set there.
func (t *table[S]) place(key *Key) (*shard[S], int) {
	h := maphash.Bytes(t.seed, key[:])
	s := &t.shards[h%shards]
	i, _ := bits.Mul64(h, uint64(len(s.sets))) // by the upper bits; the lower chose the shard
	return s, int(i)
}

func (s *shard[S]) set(i int) *S {
	if s.sets[i] == nil {
		s.sets[i] = new(S)
	}
	return s.sets[i]
}

// counterTable has the counters.
type counterTable struct {
	*table[set]
	hasLong atomic.Bool // a long window has counted a request since the last look
}

type set [ways]entry

// entry is a counter's window. A count of zero is a free place.
type entry struct {
	key    Key
	ends   int64  // Unix milliseconds
	count  uint32 // of requests
	window uint32 // its length in milliseconds, and perhaps unsaved
}

// unsaved marks a long window that has counted a request. No length is that great.
const unsaved = 1 << 31

const longWindow = uint32(time.Hour / time.Millisecond)

func newCounterTable(maxBytes int64) *counterTable {
	return &counterTable{table: newTable[set](maxBytes, sizeOf[set]())}
}

// count adds one to the counter's current window and returns the sum, and when
// that window ends.
func (t *counterTable) count(c *Counter, ms int64) (sum, ends int64) {
	length := uint32(c.Limit.Window.Milliseconds())
	shard, i := t.place(&c.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.set(i)
	e := set.window(&c.Key, length, ms)
	if e == nil {
		e = set.victim(ms)
		*e = entry{key: c.Key, window: length}
		_, e.ends = c.window(ms)
	}
	e.count = min(e.count, math.MaxUint32-1) + 1
	if length >= longWindow {
		e.window |= unsaved
		t.hasLong.Store(true)
	}
	return int64(e.count), e.ends
}

// read returns the sum of the counter's current window and counts nothing.
func (t *counterTable) read(c *Counter, ms int64) int64 {
	shard, i := t.place(&c.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	if set := shard.sets[i]; set != nil {
		if e := set.window(&c.Key, uint32(c.Limit.Window.Milliseconds()), ms); e != nil {
			return int64(e.count)
		}
	}
	return 0
}

// window finds the entry of the counter's window that the time falls into. A late
// request for the window before finds that one, if it is still there: windows
// never mix.
func (s *set) window(key *Key, length uint32, ms int64) *entry {
	for i := range s {
		e := &s[i]
		if e.key == *key && e.window&^unsaved == length && e.ends > ms && e.ends-int64(length) <= ms && e.count > 0 {
			return e
		}
	}
	return nil
}

// victim returns the place to give to a new key: a free one, else the one that
// has been over for longest, else the one with the smallest count, of equals the
// one that ends first.
func (s *set) victim(ms int64) *entry {
	var over, least *entry
	for i := range s {
		e := &s[i]
		switch {
		case e.count == 0:
			return e
		case e.ends <= ms:
			if over == nil || e.ends < over.ends {
				over = e
			}
		case least == nil || e.count < least.count || e.count == least.count && e.ends < least.ends:
			least = e
		}
	}
	if over != nil {
		return over
	}
	return least
}
