package limittest

import (
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

const (
	ms   = time.Millisecond
	sec  = time.Second
	day  = 24 * time.Hour
	last = time.Minute - ms // the last millisecond of a window
)

func epoch() time.Time { return time.UnixMilli(1_900_000_000_000) }

// windowStart returns the first millisecond of one of the counter's windows.
func windowStart(c ratelimit.Counter) time.Time { return windowAfter(c, epoch()) }

func windowAfter(c ratelimit.Counter, now time.Time) time.Time {
	_, ends := c.Window(now)
	return time.UnixMilli(ends)
}

// counting returns a request with these counters.
func counting(counters ...ratelimit.Counter) ratelimit.Request {
	var req ratelimit.Request
	copy(req.Counters[:], counters)
	return req
}

// windowScripts prove LIM-06 and what LIM-01 says of two counters.
func windowScripts() []script {
	three := ratelimit.Counter{Key: ratelimit.NewKey("three"), Limit: ratelimit.PerMinute(3)}
	two := ratelimit.Counter{Key: ratelimit.NewKey("two"), Limit: ratelimit.PerMinute(2)}
	tenMinutes := ratelimit.Counter{Key: three.Key, Limit: ratelimit.Limit{Count: 1, Window: 10 * time.Minute}}
	gaps := ratelimit.Request{}
	gaps.Counters[3] = three

	// What is left of the others when a window of three begins.
	twoLeft := windowAfter(two, windowStart(three)).Sub(windowStart(three))
	tenLeft := windowAfter(tenMinutes, windowStart(three)).Sub(windowStart(three))

	return []script{
		{name: "nothing asked", start: epoch(), steps: []step{
			{want: "allowed"},
		}},
		{name: "LIM-06 limit and one more", start: windowStart(three), steps: []step{
			{check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
			{check: counting(three), want: "allowed; 1 of 3 left for 1m0s"},
			{check: counting(three), want: "allowed; 0 of 3 left for 1m0s"},
			{check: counting(three), times: 5, want: "counter 0 for 1m0s; 0 of 3 left for 1m0s"},
		}},
		{name: "LIM-06 borders of a window", start: windowStart(three), steps: []step{
			{at: -ms, check: counting(three), want: "allowed; 2 of 3 left for 1ms"},
			{at: -ms, check: counting(three), times: 2},
			{at: -ms, check: counting(three), want: "counter 0 for 1ms; 0 of 3 left for 1ms"},
			{at: 0, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
			{at: 0, check: counting(three), times: 2},
			{at: last, check: counting(three), want: "counter 0 for 1ms; 0 of 3 left for 1ms"},
			{at: last + ms, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
		}},
		{name: "time is cut to milliseconds", start: windowStart(three), steps: []step{
			{at: -time.Nanosecond, check: counting(three), want: "allowed; 2 of 3 left for 1ms"},
			{at: time.Nanosecond, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
		}},
		{name: "LIM-01 refused requests count", start: windowStart(three), steps: []step{
			{check: counting(two, three), times: 2},
			{check: counting(three, two), want: "counter 1 for " + twoLeft.String() +
				"; 0 of 3 left for 1m0s; 0 of 2 left for " + twoLeft.String()},
			{check: counting(three), want: "counter 0 for 1m0s; 0 of 3 left for 1m0s"},
		}},
		{name: "the longest wait of several", start: windowStart(three), steps: []step{
			{check: counting(three, tenMinutes), times: 3},
			{check: counting(three, tenMinutes), want: "counter 1 for " + tenLeft.String() +
				"; 0 of 3 left for 1m0s; 0 of 1 left for " + tenLeft.String()},
		}},
		{name: "windows of two lengths are two counters", start: windowStart(three), steps: []step{
			{check: counting(tenMinutes), want: "allowed; 0 of 1 left for " + tenLeft.String()},
			{check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
		}},
		{name: "places may stay empty", start: windowStart(three), steps: []step{
			{check: gaps, times: 3},
			{check: gaps, want: "counter 3 for 1m0s; 0 of 3 left for 1m0s"},
		}},
		{name: "time travel", start: windowStart(three), steps: []step{
			{check: counting(three), times: 4},
			{at: time.Hour, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
			{at: time.Hour, check: counting(three), times: 3},
			{at: 400 * day, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
		}},
		{name: "a late request counts in its own window", start: windowStart(three), steps: []step{
			{at: -ms, check: counting(three), times: 3},
			{at: 0, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
			{at: -ms, check: counting(three), want: "counter 0 for 1ms; 0 of 3 left for 1ms"},
			{at: 0, check: counting(three), want: "allowed; 1 of 3 left for 1m0s"},
		}},
		{name: "before 1970", start: windowAfter(three, time.Time{}), steps: []step{
			{at: -ms, check: counting(three), want: "allowed; 2 of 3 left for 1ms"},
			{at: 0, check: counting(three), want: "allowed; 2 of 3 left for 1m0s"},
			{at: last, check: counting(three), want: "allowed; 1 of 3 left for 1ms"},
		}},
	}
}
