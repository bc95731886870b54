package ratelimit

import (
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"sync"
)

const (
	ways   = 8  // entries that compete for the same places
	shards = 64 // locks; a power of two

	// lockedOut is added to the window of an entry that is a lockout. No counter has a
	// window that long: MaxWindow is less.
	lockedOut = 1 << 31
)

// setBytes is the size of one set and of the pointer to it.
var setBytes = sizeOf[set]() + sizeOf[*set]()

func sizeOf[T any]() int64 { return int64(reflect.TypeFor[T]().Size()) }

// table is a hash table of fixed size whose keys compete for places within
// sets of eight. Where a key goes depends on a seed of this process, so that clients
// cannot choose keys that crowd one set.
type table struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu   sync.Mutex
	sets []*set   // allocated when first used
	_    [32]byte // a cache line for each lock
}

type set [ways]entry

// entry is a counter's window, the failures of a key, or its lockout. A count of zero is
// a free place.
type entry struct {
	key   Key
	ends  int64  // Unix milliseconds; of the window, of the time failures are counted in, or of the lockout
	count uint32 // of requests or failures

	// window is the length of a counter's window, in milliseconds. It is zero for failures,
	// and for a lockout it is lockedOut plus the time that was left to count failures in.
	window uint32
}

func (e *entry) isLockout() bool { return e.window >= lockedOut }

func newTable(maxBytes int64) *table {
	t := &table{seed: maphash.MakeSeed()}
	room := maxBytes - sizeOf[table]()
	for i := range t.shards {
		t.shards[i].sets = make([]*set, room/setBytes/shards)
	}
	return t
}

// count adds one to the counter's current window and returns the sum, and when
// that window ends.
func (t *table) count(c *Counter, ms int64) (sum, ends int64) {
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
	return int64(e.count), e.ends
}

// read returns the sum of the counter's current window and counts nothing.
func (t *table) read(c *Counter, ms int64) int64 {
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

// lockedUntil returns when the key's lockout ends, or ended; zero for none.
func (t *table) lockedUntil(key *Key) int64 {
	shard, i := t.place(key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.sets[i]
	if set == nil {
		return 0
	}
	if e := set.lockout(key); e != nil && e.isLockout() {
		return e.ends
	}
	return 0
}

// fail counts one failure, and reports whether it began a lockout because it was one too
// many. When the key is locked out already it counts nothing, and returns when that ends.
func (t *table) fail(l *Lockout, ms int64) (until int64, began bool) {
	shard, i := t.place(&l.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.set(i)
	e := set.lockout(&l.Key)
	switch {
	case e == nil:
		if e = set.victim(ms); e == nil {
			return 0, false
		}
		*e = entry{key: l.Key, ends: ms + l.Rule.Within.Milliseconds()}
	case ms >= e.ends:
		*e = entry{key: l.Key, ends: ms + l.Rule.Within.Milliseconds()}
	case e.isLockout():
		return e.ends, false
	}
	e.count++
	if int64(e.count) <= int64(l.Rule.MoreThan) {
		return 0, false
	}
	e.window = lockedOut + uint32(e.ends-ms)
	e.ends = ms + l.Rule.For.Milliseconds()
	return 0, true
}

// forgive takes back one failure, and the lockout that it began. The failures that remain
// count until the time that they would have counted without it.
func (t *table) forgive(l *Lockout, ms int64) {
	shard, i := t.place(&l.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.sets[i]
	if set == nil {
		return
	}
	e := set.lockout(&l.Key)
	if e == nil || ms >= e.ends {
		return
	}
	e.count--
	if e.isLockout() && int64(e.count) <= int64(l.Rule.MoreThan) {
		began := e.ends - l.Rule.For.Milliseconds()
		e.ends = began + int64(e.window-lockedOut)
		e.window = 0
	}
}

// place returns the shard of a key and the index of its set there.
func (t *table) place(key *Key) (*shard, int) {
	h := maphash.Bytes(t.seed, key[:])
	s := &t.shards[h%shards]
	i, _ := bits.Mul64(h, uint64(len(s.sets))) // by the upper bits; the lower chose the shard
	return s, int(i)
}

func (s *shard) set(i int) *set {
	if s.sets[i] == nil {
		s.sets[i] = new(set)
	}
	return s.sets[i]
}

// window finds the entry of the counter's window that the time falls into. A late
// request for the window before finds that one, if it is still there: windows
// never mix.
func (s *set) window(key *Key, length uint32, ms int64) *entry {
	for i := range s {
		e := &s[i]
		if e.key == *key && e.window == length && e.ends > ms && e.ends-int64(length) <= ms && e.count > 0 {
			return e
		}
	}
	return nil
}

func (s *set) lockout(key *Key) *entry {
	for i := range s {
		if s[i].key == *key && s[i].count > 0 {
			return &s[i]
		}
	}
	return nil
}

// victim returns the place to give to a new key: a free one, else the one that
// has been over for longest, else the one with the smallest count, of equals the
// one that ends first. It is nil when live lockouts hold all places.
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
		case e.isLockout():
		case least == nil || e.count < least.count || e.count == least.count && e.ends < least.ends:
			least = e
		}
	}
	if over != nil {
		return over
	}
	return least
}
