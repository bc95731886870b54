package limittest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// caller is one address at one endpoint.
type caller struct {
	endpoint string
	ip       netip.Addr
}

func (c caller) pair(client string) ratelimit.Lockouts {
	return ratelimit.Lockouts{
		{Key: ratelimit.NewIPKey(c.endpoint, c.ip, client), Rule: ratelimit.DefaultLimits().AuthFailures},
		{Key: ratelimit.NewIPKey(c.endpoint, c.ip), Rule: ratelimit.DefaultLimits().AuthFailuresPerIP},
	}
}

func (c caller) alone() ratelimit.Lockouts {
	return ratelimit.Lockouts{c.pair("")[1]}
}

func checking(lockouts ratelimit.Lockouts) ratelimit.Request {
	return ratelimit.Request{Lockouts: lockouts}
}

// locks describes the failure that begins a lockout.
const locks = "allowed, and began a lockout"

// lockoutScripts prove LOCK-01, LOCK-02, LOCK-04 and LOCK-05.
func lockoutScripts() []script {
	token := caller{"token", netip.MustParseAddr("192.0.2.1")}
	revoke := caller{"revoke", token.ip}
	a, b := token.pair("a"), token.pair("b")
	counter := ratelimit.Counter{Key: a[0].Key, Limit: ratelimit.PerMinute(3)}
	both := checking(a)
	both.Counters[0] = counter
	short := ratelimit.Lockouts{{Key: ratelimit.NewKey("short"), Rule: ratelimit.LockoutRule{
		MoreThan: 2, Within: 10 * time.Minute, For: time.Second,
	}}}
	long := ratelimit.Lockouts{{Key: ratelimit.NewKey("long"), Rule: ratelimit.LockoutRule{
		MoreThan: 2, Within: 10 * time.Second, For: time.Minute,
	}}}

	many := ratelimit.Lockouts{{Key: ratelimit.NewKey("many"), Rule: ratelimit.LockoutRule{
		MoreThan: 300, Within: time.Minute, For: time.Minute,
	}}}

	scripts := []script{
		{name: "LOCK-01 the 31st failure locks the pair", start: epoch(), steps: []step{
			{fail: a, times: 30, want: "allowed"},
			{check: checking(a), want: "allowed"},
			{at: sec, fail: a, want: locks},
			{at: sec, fail: a, want: "lockout 0 for 1m0s"},
			{at: sec, check: checking(a), want: "lockout 0 for 1m0s"},
			{at: sec, check: checking(b), want: "allowed"},
			{at: sec + last, check: checking(a), want: "lockout 0 for 1ms"},
			{at: sec + last + ms, check: checking(a), want: "allowed"},
		}},
		{name: "LOCK-05 refusals do not extend a lockout", start: epoch(), steps: []step{
			{fail: a, times: 31},
			{at: 30 * sec, check: checking(a), times: 50, want: "lockout 0 for 30s"},
			{at: 30 * sec, fail: a, times: 31},
			{at: last, check: checking(a), want: "lockout 0 for 1ms"},
			{at: last + ms, check: checking(a), want: "allowed"},
		}},
		{name: "the count starts afresh after a lockout", start: epoch(), steps: []step{
			{fail: a, times: 31},
			{at: time.Minute, fail: a, times: 30},
			{at: time.Minute, check: checking(a), want: "allowed"},
			{at: time.Minute, fail: a},
			{at: time.Minute, check: checking(a), want: "lockout 0 for 1m0s"},
		}},
		{name: "the count starts afresh after a short lockout", start: epoch(), steps: []step{
			{fail: short, times: 3},
			{check: checking(short), want: "lockout 0 for 1s"},
			{at: sec, fail: short, times: 2},
			{at: sec, check: checking(short), want: "allowed"},
		}},
		{name: "LOCK-05 a failure counts for a minute", start: epoch(), steps: []step{
			{at: 0, fail: a, times: 30},
			{at: last + ms, fail: a, times: 30, want: "allowed"},
			{at: last + ms, check: checking(a), want: "allowed"},
			{at: last + ms + last, fail: a, want: locks},
			{at: last + ms + last, check: checking(a), want: "lockout 0 for 1m0s"},
		}},
		{name: "LOCK-05 any minute counts", start: epoch(), steps: []step{
			{at: 0, fail: a, want: "allowed"},
			{at: 56 * sec, fail: a, times: 29, want: "allowed"},
			{at: 61 * sec, fail: a, want: "allowed"},
			{at: 61 * sec, fail: a, want: locks},
			{at: 61 * sec, fail: a, want: "lockout 0 for 1m0s"},
			{at: 120 * sec, check: checking(a), want: "lockout 0 for 1s"},
			{at: 121 * sec, check: checking(a), want: "allowed"},
		}},
		{name: "LOCK-05 at the border of a minute", start: epoch(), steps: []step{
			{at: 0, fail: a, want: "allowed"},
			{at: sec, fail: a, times: 29, want: "allowed"},
			{at: last + ms, fail: a, want: "allowed"},
			{at: sec + last, fail: a, want: locks},
		}},
		{name: "LOCK-05 a failure every two seconds never locks out", start: epoch(), steps: slowFailures(a, 2*sec, 200)},
		{name: "LOCK-05 a rule of many failures", start: epoch(), steps: append(slowFailures(many, 100*ms, 300),
			step{at: 30 * sec, fail: many, want: locks},
			step{at: 30 * sec, check: checking(many), want: "lockout 0 for 1m0s"},
		)},
		{name: "LOCK-05 a failure that is forgiven is the one of its time", start: epoch(), steps: []step{
			{at: 0, fail: long, want: "allowed"},
			{at: 9 * sec, fail: long, want: "allowed"},
			{at: 0, forgive: long},
			{at: 10 * sec, fail: long, want: "allowed"},
			{at: 18 * sec, fail: long, want: locks},
		}},
		{name: "LOCK-05 a failure without a client counts for the address", start: epoch(), steps: []step{
			{fail: token.alone(), times: 101},
			{check: checking(token.alone()), want: "lockout 0 for 1m0s"},
			{check: checking(a), want: "lockout 1 for 1m0s"},
		}},
		{name: "LOCK-04 endpoints keep separate lockouts", start: epoch(), steps: []step{
			{fail: a, times: 31},
			{check: checking(a), want: "lockout 0 for 1m0s"},
			{check: checking(revoke.pair("a")), want: "allowed"},
		}},
		{name: "the longest of several lockouts", start: epoch(), steps: []step{
			{fail: a, times: 31},
			{at: sec, fail: token.alone(), times: 70},
			{at: sec, check: checking(a), want: "lockout 1 for 1m0s"},
		}},
		{name: "a locked out request counts", start: windowStart(counter), steps: []step{
			{fail: a, times: 31},
			{check: both, want: "lockout 0 for 1m0s; 2 of 3 left for 1m0s"},
			{check: both, times: 2},
			{at: sec, check: both, want: "lockout 0 for 59s; 0 of 3 left for 59s"},
			{at: sec, check: counting(counter), want: "counter 0 for 59s; 0 of 3 left for 59s"},
		}},
		{name: "a lockout and a counter of one key are apart", start: windowStart(counter), steps: []step{
			{check: both, want: "allowed; 2 of 3 left for 1m0s"},
			{fail: a},
			{check: both, want: "allowed; 1 of 3 left for 1m0s"},
		}},
		{name: "SIGN-01 an attempt that is forgiven does not count", start: epoch(), steps: []step{
			{fail: short, times: 2, want: "allowed"},
			{fail: short, want: locks},
			{fail: short, want: "lockout 0 for 1s"},
			{check: checking(short), want: "lockout 0 for 1s"},
			{forgive: short},
			{check: checking(short), want: "allowed"},
			{fail: short, want: locks},
			{fail: short, want: "lockout 0 for 1s"},
			{at: sec, forgive: short},
			{at: sec, fail: short, times: 2, want: "allowed"},
			{at: sec, fail: short, want: locks},
			{at: sec, fail: short, want: "lockout 0 for 1s"},
		}},
		{name: "SIGN-01 any number of attempts that are forgiven", start: epoch(), steps: slices.Repeat([]step{{fail: short, want: "allowed"}, {forgive: short}}, 40)},
		{name: "SIGN-01 a forgiven attempt does not change how long the others count", start: epoch(), steps: []step{
			{fail: long, times: 2, want: "allowed"},
			{at: 9 * sec, fail: long, want: locks},
			{at: 9 * sec, forgive: long},
			{at: 10*sec - ms, fail: long, want: locks},
			{at: 10*sec - ms, forgive: long},
			{at: 10 * sec, fail: long, times: 2, want: "allowed"},
			{at: 10 * sec, fail: long, want: locks},
		}},
		{name: "nothing is forgiven that did not happen", start: epoch(), steps: []step{
			{forgive: short, times: 3},
			{fail: short, times: 2, want: "allowed"},
			{fail: short, want: locks},
			{fail: short, want: "lockout 0 for 1s"},
		}},
		{name: "LOCK-05 a failure that a lockout refuses does not count for the other", start: epoch(), steps: []step{
			{fail: a, times: 30, want: "allowed"},
			{fail: a, want: locks},
			{fail: a, times: 200, want: "lockout 0 for 1m0s"},
			{check: checking(token.alone()), want: "allowed"},
			{fail: b, times: 30, want: "allowed"},
			{fail: b, want: locks},
			{fail: token.pair("c"), times: 30, want: "allowed"},
			{fail: token.pair("c"), want: locks},
			{check: checking(token.alone()), want: "allowed"},
			{fail: token.alone(), times: 7, want: "allowed"},
			{fail: token.alone(), want: locks},
			{check: checking(token.alone()), want: "lockout 0 for 1m0s"},
		}},
		{name: "time travel over a lockout", start: epoch(), steps: []step{
			{fail: a, times: 31},
			{at: 400 * day, check: checking(a), want: "allowed"},
			{at: 400 * day, fail: a, times: 30},
			{at: 400 * day, check: checking(a), want: "allowed"},
			{at: 400 * day, fail: a},
			{at: 400 * day, check: checking(a), want: "lockout 0 for 1m0s"},
		}},
	}

	anyMinute := script{name: "LOCK-05 any minute counts for the address", start: epoch()}
	for i := range 130 {
		anyMinute.steps = append(anyMinute.steps, step{at: time.Duration(i) * 610 * ms, fail: token.pair(fmt.Sprint("client ", i)), want: "allowed"})
	}
	end := 129 * 610 * ms // the 98 failures before it lie within a minute
	anyMinute.steps = append(anyMinute.steps,
		step{at: end, fail: token.alone(), want: "allowed"},
		step{at: end, fail: token.alone(), want: locks},
		step{at: end, check: checking(a), want: "lockout 1 for 1m0s"},
	)
	scripts = append(scripts, anyMinute)

	across := script{name: "LOCK-02 the 101st failure locks the address", start: epoch()}
	for i := range 100 {
		across.steps = append(across.steps, step{fail: token.pair(fmt.Sprint("client ", i))})
	}
	across.steps = append(across.steps,
		step{check: checking(a), want: "allowed"},
		step{at: sec, fail: a, want: locks},
		step{at: sec, check: checking(b), want: "lockout 1 for 1m0s"},
		step{at: sec, check: checking(caller{"token", netip.MustParseAddr("192.0.2.2")}.pair("a")), want: "allowed"},
		step{at: sec + last, check: checking(b), want: "lockout 1 for 1ms"},
		step{at: sec + last + ms, check: checking(b), want: "allowed"},
	)
	return append(scripts, across)
}

// slowFailures are failures at intervals, each of them allowed.
func slowFailures(lockouts ratelimit.Lockouts, every time.Duration, n int) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = step{at: time.Duration(i) * every, fail: lockouts, want: "allowed"}
	}
	return steps
}
