package ratelimit

import "time"

// What can refuse, see [Result].
const (
	refusedByCounter = "counter"
	refusedByLockout = "lockout"
)

// Result is the decision about one request. The zero Result is not allowed.
type Result struct {
	// Allowed is true when nothing refused.
	Allowed bool

	// Refusal and Index name the counter or lockout that refused, by its place
	// in the Request. When several refuse it is the one that lasts longest, of
	// equals a lockout before a counter.
	Refusal string
	Index   int

	// Wait is how long that refusal lasts, zero when allowed.
	Wait time.Duration

	// Counters are the states after this request, in the order of the Request.
	Counters [MaxCounters]Quota

	// Lockouts holds the remaining time of each lockout, zero where none is live.
	Lockouts [MaxLockouts]time.Duration

	// BeganLockout is true when a failure was allowed and began a lockout. Exactly
	// one failure begins it.
	BeganLockout bool
}

// Quota is the state of one counter. The zero Quota belongs to an unused place.
type Quota struct {
	Allowed   bool          // this counter did not refuse
	Limit     int           // the limit's Count
	Remaining int           // how many more this window allows
	Reset     time.Duration // until the window ends: more than zero, at most its length
}

// Tally is the result of an implementation of Limiter for a Request, place by
// place.
type Tally struct {
	Counts      [MaxCounters]int64 // in the current window, this request included
	LockedUntil [MaxLockouts]int64 // in Unix milliseconds, zero when not locked out
	// BeganLockout is set by a failure that was counted and began a lockout.
	BeganLockout bool
}

// Decide turns a tally into the Result, for implementations of Limiter. The
// request must be valid.
func Decide(now time.Time, req Request, tally Tally) Result {
	ms := now.UnixMilli()
	var ends [MaxCounters]int64
	for i := range req.Counters {
		if c := &req.Counters[i]; c.isUsed() {
			_, ends[i] = c.window(ms)
		}
	}
	return decide(ms, &req, &tally, &ends)
}

// decide is Decide for callers that know when the counters' windows end.
func decide(ms int64, req *Request, tally *Tally, ends *[MaxCounters]int64) Result {
	var res Result
	for i := range req.Lockouts {
		left := tally.LockedUntil[i] - ms
		if tally.LockedUntil[i] == 0 || left <= 0 || !req.Lockouts[i].isUsed() {
			continue
		}
		res.Lockouts[i] = time.Duration(left) * time.Millisecond
		res.refuse(refusedByLockout, i, res.Lockouts[i])
	}
	for i := range req.Counters {
		c := &req.Counters[i]
		if !c.isUsed() {
			continue
		}
		quota := &res.Counters[i]
		*quota = c.quota(tally.Counts[i], ends[i]-ms)
		if !quota.Allowed {
			res.refuse(refusedByCounter, i, quota.Reset)
		}
	}
	res.Allowed = res.Refusal == ""
	res.BeganLockout = res.Allowed && tally.BeganLockout
	return res
}

func (r *Result) refuse(by string, index int, wait time.Duration) {
	if wait > r.Wait {
		r.Refusal, r.Index, r.Wait = by, index, wait
	}
}
