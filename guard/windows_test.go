package guard_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// LIM-08: all windows of a limit hold, in one question to the limiter, and the headers tell
// the one of the business with the least left.
func TestSeveralWindows_LIM08(t *testing.T) {
	t.Parallel()
	limiter := newCounting(t)
	k := newAPI(t, func(c *guard.Config) {
		c.Limiter = limiter
		c.Limits.PerBusiness, c.Limits.PerBusinessAlso = ratelimit.PerMinute(4), ratelimit.Windows{ratelimit.PerDay(10), ratelimit.PerHour(8)}
		c.Limits.PerAppAlso = ratelimit.Windows{ratelimit.PerDay(100)}
	})
	key := ratelimit.NewKey("api business", k.app.ID, business)
	left := func(limit ratelimit.Limit) time.Duration {
		_, ends := ratelimit.Counter{Key: key, Limit: limit}.Window(k.Clock.Now())
		return time.UnixMilli(ends).Sub(k.Clock.Now())
	}
	k.Clock.Advance(left(ratelimit.PerDay(10))) // windows begin together
	seconds := func(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
	want := func(a response, limit ratelimit.Limit, remaining int) {
		t.Helper()
		if a.number("RateLimit-Limit") != limit.Count || a.number("RateLimit-Remaining") != remaining || a.Header.Get("RateLimit-Reset") != seconds(left(limit)) {
			t.Errorf("LIM-08: header %v, want %d of %v", a.Header, remaining, limit)
		}
	}
	minute, hour, day := ratelimit.PerMinute(4), ratelimit.PerHour(8), ratelimit.PerDay(10)
	refused := func(by ratelimit.Limit, most ratelimit.Limit) {
		t.Helper()
		a := k.send("GET /invoices", bearer(k.token())).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code)
		if a.Header.Get("Retry-After") != seconds(left(by)) {
			t.Errorf("LIM-08: Retry-After %s, want that of %v", a.Header.Get("Retry-After"), by)
		}
		want(a, most, 0)
	}
	for i := range 4 {
		want(k.send("GET /invoices", bearer(k.token())).ok(), minute, 3-i)
	}
	refused(minute, minute) // the fifth call of the hour and of the day
	k.Clock.Advance(left(minute))
	for i := range 3 {
		want(k.send("GET /invoices", bearer(k.token())).ok(), hour, 2-i)
	}
	refused(hour, hour) // it used up both the hour and the minute: the hour is named
	k.Clock.Advance(left(hour))
	want(k.send("GET /invoices", bearer(k.token())).ok(), day, 0)
	refused(day, day)
	k.Clock.Advance(left(hour))
	refused(day, day)
	k.Clock.Advance(left(day))
	want(k.send("GET /invoices", bearer(k.token())).ok(), minute, 3)
	if limiter.asked != 13 {
		t.Errorf("LIM-08: the limiter was asked %d times for 13 calls", limiter.asked)
	}
}
