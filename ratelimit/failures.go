package ratelimit

import "slices"

const (
	// maxRuns is how many runs a log of failures has, at most: with up to that many
	// failures each of them has a run of its own.
	maxRuns = 128
	// freeRuns is how many runs of each log do not count for setRuns.
	freeRuns = 4
	// setRuns bounds the runs of all logs of a set.
	setRuns = 160
)

// failureTable has the failures and the lockouts of keys.
type failureTable struct{ *table[failureSet] }

type failureSet [ways]failing

// failing are the failures of a key, or its lockout. A count of zero is a free place.
type failing struct {
	key   Key
	until int64 // when the lockout ends or ended, in Unix milliseconds; zero for none
	ends  int64 // when nothing of it matters any more
	base  int64 // Unix milliseconds; the times of the log are relative to it
	count uint32
	log   []run
}

// run are failures that are counted at one time. In a log they are in order: a failure that
// is recorded late, as those of concurrent requests are, counts at the time of the last one.
type run struct {
	at int32 // milliseconds after the base, which is at least the time of the last failure: never positive
	n  uint32
}

func newFailureTable(maxBytes int64) *failureTable {
	return &failureTable{newTable[failureSet](maxBytes, sizeOf[failureSet]()+(setRuns+ways*freeRuns)*sizeOf[run]())}
}

// lockedUntil returns when the key's lockout ends, or ended; zero for none.
func (t *failureTable) lockedUntil(key *Key) int64 {
	shard, i := t.place(key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	if set := shard.sets[i]; set != nil {
		if e := set.find(key); e != nil {
			return e.until
		}
	}
	return 0
}

// fail counts one failure, and reports whether it began a lockout because it was one too
// many. When the key is locked out already it counts nothing, and returns when that ends.
func (t *failureTable) fail(l *Lockout, ms int64) (until int64, began bool) {
	shard, i := t.place(&l.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.set(i)
	e := set.find(&l.Key)
	switch {
	case e == nil:
		if e = set.victim(ms); e == nil {
			return 0, false
		}
		e.reset(l.Key)
	case ms < e.until:
		return e.until, false
	case e.until > 0: // a lockout that is over
		e.reset(l.Key)
	}
	within := l.Rule.Within.Milliseconds()
	e.forget(ms, within)
	set.add(e, l.Rule.MoreThan)
	e.ends = e.base + within
	if int64(e.count) <= int64(l.Rule.MoreThan) {
		return 0, false
	}
	e.until = ms + l.Rule.For.Milliseconds()
	e.ends = e.until
	return 0, true
}

// forgive takes back one failure, and the lockout that it began. The failures that remain
// count for as long as they would have counted without it.
func (t *failureTable) forgive(l *Lockout, ms int64) {
	shard, i := t.place(&l.Key)

	shard.mu.Lock()
	defer shard.mu.Unlock()
	set := shard.sets[i]
	if set == nil {
		return
	}
	e := set.find(&l.Key)
	if e == nil || ms >= e.ends {
		return
	}
	e.takeBack(ms)
	if e.until > 0 && int64(e.count) <= int64(l.Rule.MoreThan) {
		e.until = 0
	}
	if e.until == 0 {
		e.ends = e.base + int64(e.last()) + l.Rule.Within.Milliseconds()
	}
}

// reset makes the place one of a key without failures. The room of its log remains.
func (e *failing) reset(key Key) { *e = failing{key: key, log: e.log[:0]} }

// forget makes ms the base, or the last failure if that is later, and drops the failures that
// do not count any more.
func (e *failing) forget(ms, within int64) {
	if len(e.log) > 0 {
		ms = max(ms, e.base+int64(e.last()))
	}
	kept := e.log[:0]
	e.count = 0
	for _, r := range e.log {
		if at := e.base + int64(r.at) - ms; at > -within {
			kept = append(kept, run{int32(at), r.n})
			e.count += r.n
		}
	}
	e.base, e.log = ms, kept
}

// takeBack removes the failure of that time, or else the last one.
func (e *failing) takeBack(ms int64) {
	i := len(e.log) - 1
	for j, r := range e.log {
		if e.base+int64(r.at) == ms {
			i = j
		}
	}
	e.count--
	if e.log[i].n--; e.log[i].n == 0 {
		e.log = slices.Delete(e.log, i, i+1)
	}
}

// add adds a failure at the base of the log. Without room for another run, two runs become
// one: what is remembered is then less exact, but no failure is forgotten early.
func (s *failureSet) add(e *failing, moreThan int) {
	e.count++
	if n := len(e.log); n > 0 && e.log[n-1].at == 0 { // the same time
		e.log[n-1].n++
		return
	}
	if len(e.log) == cap(e.log) && !s.grow(e, moreThan) {
		e.merge()
	}
	e.log = append(e.log, run{0, 1})
}

// grow doubles the room of the log, if the set has room.
func (s *failureSet) grow(e *failing, moreThan int) bool {
	room := max(freeRuns, min(2*cap(e.log), maxRuns, moreThan+1))
	if room <= cap(e.log) {
		return false
	}
	if room > freeRuns && s.taken(e)+room > setRuns {
		for i := range s { // what is over, or is a lockout, needs no log
			if o := &s[i]; o != e && cap(o.log) > freeRuns && (o.until > 0 || o.ends <= e.base) {
				o.log = append(make([]run, 0, freeRuns), run{o.last(), o.count})
			}
		}
		if s.taken(e)+room > setRuns {
			return false
		}
	}
	e.log = append(make([]run, 0, room), e.log...)
	return true
}

// last returns the time of the last failure, relative to the base.
func (e *failing) last() int32 {
	if len(e.log) == 0 {
		return 0
	}
	return e.log[len(e.log)-1].at
}

// taken returns how many runs the other logs of the set have room for.
func (s *failureSet) taken(e *failing) int {
	sum := 0
	for i := range s {
		if o := &s[i]; o != e && cap(o.log) > freeRuns {
			sum += cap(o.log)
		}
	}
	return sum
}

// merge makes one of the two runs that are closest to each other, with the later time.
func (e *failing) merge() {
	best := 1
	for i := 2; i < len(e.log); i++ {
		if e.log[i].at-e.log[i-1].at < e.log[best].at-e.log[best-1].at {
			best = i
		}
	}
	e.log[best].n += e.log[best-1].n
	e.log = slices.Delete(e.log, best-1, best)
}

func (s *failureSet) find(key *Key) *failing {
	for i := range s {
		if s[i].key == *key && s[i].count > 0 {
			return &s[i]
		}
	}
	return nil
}

// victim returns the place to give to a new key: a free one, else the one that
// has been over for longest, else the one with the fewest failures, of equals the
// one that ends first. It is nil when live lockouts hold all places.
func (s *failureSet) victim(ms int64) *failing {
	var over, least *failing
	for i := range s {
		e := &s[i]
		switch {
		case e.count == 0:
			return e
		case e.ends <= ms:
			if over == nil || e.ends < over.ends {
				over = e
			}
		case e.until > 0:
		case least == nil || e.count < least.count || e.count == least.count && e.ends < least.ends:
			least = e
		}
	}
	if over != nil {
		return over
	}
	return least
}
