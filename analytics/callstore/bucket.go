package callstore

import (
	"time"
)

// Counts holds the counters of calls. A call that a rate limit refused counts in all
// three.
type Counts struct {
	Calls       int64 `json:"calls"`
	Errors      int64 `json:"errors"` // responded with status 400 or above
	RateLimited int64 `json:"rateLimited"`
}

// Add adds others to these.
func (c *Counts) Add(others Counts) {
	c.Calls += others.Calls
	c.Errors += others.Errors
	c.RateLimited += others.RateLimited
}

// Latency counts calls by how long they took, each in one element: those of at most 5, 10, 25,
// 50, 100, 250 and 500 ms, 1, 2.5, 5 and 10 s, and of more than the bound before; the last
// element those of more.
type Latency [12]int64

// latencyBounds are also the names of columns: changing them takes a migration.
var latencyBounds = [len(Latency{}) - 1]time.Duration{
	5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Count adds one call.
func (l *Latency) Count(took time.Duration) {
	for i, bound := range latencyBounds {
		if took <= bound {
			l[i]++
			return
		}
	}
	l[len(l)-1]++
}

// Add adds others to these.
func (l *Latency) Add(others Latency) {
	for i, n := range others {
		l[i] += n
	}
}

// Percentile returns a duration that percent of the calls did not exceed; 0 if there are no
// calls. It is an estimate: the calls of an element are taken to be spread evenly between its
// bounds, and those beyond the last bound to have taken as long as that bound.
func (l *Latency) Percentile(percent int) time.Duration {
	var calls int64
	for _, n := range l {
		calls += n
	}
	rank := max(1, (calls*int64(percent)+99)/100) // of the slowest call that counts
	lower := time.Duration(0)
	for i, upper := range latencyBounds {
		if n := l[i]; rank <= n {
			return lower + time.Duration(float64(upper-lower)*float64(rank)/float64(n))
		}
		rank -= l[i]
		lower = upper
	}
	if l[len(l)-1] == 0 {
		return 0
	}
	return lower
}

// Bucket is the calls of one app in one hour.
type Bucket struct {
	AppID string
	Hour  time.Time // its beginning, in UTC
	Counts
	Latency Latency
}

// Count adds one call.
func (c *Counts) Count(status int, rateLimited bool) {
	c.Calls++
	if status >= 400 || rateLimited {
		c.Errors++
	}
	if rateLimited {
		c.RateLimited++
	}
}

// AttemptHour is how the attempts of a webhook that started in an hour have ended, and how long
// they took. Attempts of tests count too.
type AttemptHour struct {
	Start             time.Time // its beginning, in UTC
	Succeeded, Failed int64
	Latency           Latency
}
