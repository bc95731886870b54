package guard_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// counting is a limiter that counts how often it is asked, and can fail.
type counting struct {
	*ratelimit.Memory
	asked int
	fault error
}

func newCounting(t testing.TB) *counting {
	t.Helper()
	memory, err := ratelimit.NewMemory(ratelimit.MemoryConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return &counting{Memory: memory}
}

func (l *counting) Check(ctx context.Context, now time.Time, req ratelimit.Request) (ratelimit.Result, error) {
	l.asked++
	if l.fault != nil {
		return ratelimit.Result{}, l.fault
	}
	return l.Memory.Check(ctx, now, req)
}

func (a response) number(name string) int {
	a.Helper()
	n, err := strconv.Atoi(a.Header.Get(name))
	if err != nil {
		a.Fatalf("%s: %s: %v", a.Request, name, err)
	}
	return n
}

// LIM-01 to LIM-04: 300 calls of an app in a business pass, the next does not, until
// the window ends; one question to the limiter each.
func TestLimitOfABusiness(t *testing.T) {
	t.Parallel()
	limiter := newCounting(t)
	k := newAPI(t, func(c *guard.Config) { c.Limiter = limiter })
	token := k.token()
	calls := []struct {
		call string
		want int
	}{{"GET /invoices", 200}, {"GET /nothing", 403}, {"GET /invoices/inv_x", 404}, {"GET /panic", 500}, {"GET /broken", 500}}
	for i := range 300 {
		c := calls[i%len(calls)]
		a := k.send(c.call, bearer(token))
		if a.Status != c.want {
			t.Fatalf("call %d: %d, want %d", i+1, a.Status, c.want)
		}
		reset := a.number("RateLimit-Reset")
		if a.number("RateLimit-Limit") != 300 || a.number("RateLimit-Remaining") != 299-i || reset < 1 || reset > 60 {
			t.Fatalf("call %d: header %v", i+1, a.Header)
		}
	}
	for _, changes := range [][]with{nil, {version("nothing")}, {k.session(user, business)}} {
		a := k.send("GET /invoices", append(changes, bearer(token))...).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code)
		if a.number("RateLimit-Remaining") != 0 || a.number("RateLimit-Limit") != 300 || a.number("Retry-After") != a.number("RateLimit-Reset") {
			t.Errorf("refused: header %v", a.Header)
		}
	}
	if limiter.asked != 303 {
		t.Errorf("the limiter was asked %d times for 303 calls", limiter.asked)
	}
	// Another business of the same app has a window of its own.
	if a := k.send("GET /invoices", bearer(k.grant("biz_2", allScopes).Access)).ok(); a.number("RateLimit-Remaining") != 299 {
		t.Errorf("another business: header %v", a.Header)
	}
	counter := ratelimit.Counter{Key: ratelimit.NewKey("api business", k.app.ID, business), Limit: ratelimit.PerMinute(300)}
	_, ends := counter.Window(k.Clock.Now())
	k.Clock.Advance(time.UnixMilli(ends - 1).Sub(k.Clock.Now()))
	if a := k.send("GET /invoices", bearer(token)).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code); a.number("Retry-After") != 1 {
		t.Errorf("a millisecond before: %v", a.Header)
	}
	k.Clock.Advance(time.Millisecond)
	if a := k.send("GET /invoices", bearer(token)).ok(); a.number("RateLimit-Remaining") != 299 || a.number("RateLimit-Reset") != 60 {
		t.Errorf("in the next window: %v", a.Header)
	}
}

// LIM-01, LIM-02, LIM-04: 10,000 calls of an app in all businesses together pass. The next
// one is rejected with the remaining time of that limit; its headers are those of the
// business.
func TestLimitOfAnApp(t *testing.T) {
	t.Parallel()
	limiter := newCounting(t)
	k := newAPI(t, func(c *guard.Config) { c.Limiter = limiter })
	first, second := k.token(), k.grant("biz_2", allScopes).Access
	app := ratelimit.Counter{Key: ratelimit.NewKey("api app", k.app.ID), Limit: ratelimit.PerMinute(10_000)}
	for range 9_998 { // in other businesses
		_, err := limiter.Memory.Check(t.Context(), k.Clock.Now(), ratelimit.Request{Counters: ratelimit.Counters{app}})
		k.Must(err)
	}
	k.send("GET /invoices", bearer(first)).ok()
	k.send("GET /invoices", bearer(second)).ok()
	_, ends := app.Window(k.Clock.Now())
	left := time.UnixMilli(ends).Sub(k.Clock.Now())
	for i, token := range []string{first, second, first} {
		a := k.send("GET /invoices", bearer(token)).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code)
		if a.number("Retry-After") != int((left+time.Second-1)/time.Second) {
			t.Errorf("Retry-After %s, want %v", a.Header.Get("Retry-After"), left)
		}
		want := []int{298, 298, 297}[i] // a refused call counts for the business too
		if a.number("RateLimit-Limit") != 300 || a.number("RateLimit-Remaining") != want {
			t.Errorf("header %v, want %d remaining", a.Header, want)
		}
	}
	// Another app is not affected.
	k.app = k.addApp("cli_2")
	k.send("GET /invoices", bearer(k.token())).ok()
	k.Clock.Advance(left)
	k.send("GET /invoices", bearer(first)).ok()
}

// LIM-05: requests with a session, with invalid credentials and without credentials count
// together for their address, and calls with a token do not.
func TestDefaultLimit(t *testing.T) {
	t.Parallel()
	limiter := newCounting(t)
	k := newAPI(t, func(c *guard.Config) { c.Limiter = limiter })
	token, signedIn := k.token(), k.session(user, business)
	k.send("GET /invoices", bearer(token), from("192.0.2.1")).ok()
	// Others on this host count under the same name.
	_, err := limiter.Memory.Check(t.Context(), k.Clock.Now(), ratelimit.Request{Counters: ratelimit.Counters{{
		Key: new(ratelimit.Limits).DefaultAPI(mustIP("192.0.2.1")).Key, Limit: ratelimit.PerMinute(600),
	}}})
	k.Must(err)
	for i := range 599 {
		who := []with{bearer("wrong"), signedIn, header("X-Nobody", "")}[i%3]
		a := k.send("GET /invoices", who, from("192.0.2.1"), header("X-Forwarded-For", "198.51.100."+strconv.Itoa(i%250)))
		if a.Status == http.StatusTooManyRequests || a.limited() {
			t.Fatalf("call %d: %d %v", i+1, a.Status, a.Header)
		}
	}
	for _, who := range []with{bearer("wrong"), signedIn, header("X-Nobody", "")} {
		for _, call := range []string{"GET /invoices", "GET /profile", "GET /events", "GET /nothing", "POST /settings"} {
			a := k.send(call, who, from("192.0.2.1")).refused(http.StatusTooManyRequests, "")
			if wait := a.number("Retry-After"); wait < 1 || wait > 60 || a.limited() {
				t.Errorf("header %v", a.Header)
			}
		}
	}
	k.send("GET /invoices", bearer(token), from("192.0.2.1")).ok()
	k.send("GET /invoices", signedIn, from("192.0.2.2")).ok()
	k.Clock.Advance(time.Minute)
	k.send("GET /invoices", signedIn, from("192.0.2.1")).ok()
}

// LIM-07: an error of the limiter is an internal error.
func TestLimiterFaults(t *testing.T) {
	t.Parallel()
	limiter := newCounting(t)
	k := newAPI(t, func(c *guard.Config) { c.Limiter = limiter })
	token := k.token()
	limiter.fault = ratelimit.ErrUnavailable
	k.send("GET /invoices", bearer(token)).refused(http.StatusServiceUnavailable, "")
	limiter.fault = context.DeadlineExceeded
	k.send("GET /invoices").refused(http.StatusInternalServerError, "")
}

// AN-01: each call with a token counts once, refused ones too; others do not.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token, now := k.token(), k.Clock.Now()
	k.send("GET /invoices", bearer(token))
	k.send("GET /nothing", bearer(token))
	k.send("GET /invoices", bearer(token), version("nothing"))
	k.send("GET /panic", bearer(token))
	k.send("GET /invoices", bearer("wrong"))
	k.send("GET /invoices", k.session(user, business))
	k.send("GET /invoices")
	want := []counted{{k.app.ID, now, 200, false}, {k.app.ID, now, 403, false}, {k.app.ID, now, 400, false}, {k.app.ID, now, 500, false}}
	if diff := cmp.Diff(want, k.calls.calls, cmp.AllowUnexported(counted{})); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	installation, err := k.Store.ActiveInstallation(t.Context(), k.app.ID, business)
	if err != nil {
		t.Fatal(err)
	}
	if at := k.calls.used[installation.ID]; !at.Equal(now) || len(k.calls.used) != 1 {
		t.Errorf("used: %v", k.calls.used)
	}
	for range 296 {
		k.send("GET /nothing", bearer(token))
	}
	k.calls.calls = nil
	k.send("GET /invoices", bearer(token))
	if diff := cmp.Diff([]counted{{k.app.ID, now, 429, true}}, k.calls.calls, cmp.AllowUnexported(counted{})); diff != "" {
		t.Errorf("a refused one (-want +got):\n%s", diff)
	}
}

// Exceptions by app, business and route. The RateLimit headers tell the limit that
// applied.
func TestLimitsFor(t *testing.T) {
	t.Parallel()
	var seen []ratelimit.Call
	k := newAPI(t, func(c *guard.Config) {
		c.Limits.PerBusiness = ratelimit.PerMinute(5)
		c.Limits.LimitsFor = func(_ context.Context, call ratelimit.Call) ratelimit.CallLimits {
			seen = append(seen, call)
			var exceptions ratelimit.CallLimits
			if call.BusinessID == "biz_2" {
				exceptions.PerBusiness = ratelimit.PerMinute(7)
			}
			if call.Pattern == "GET /invoices/{id}" {
				exceptions.PerRoute = ratelimit.PerMinute(2)
			}
			return exceptions
		}
	})
	first, second := k.token(), k.grant("biz_2", allScopes).Access
	want := func(a response, limit, remaining int) {
		t.Helper()
		if a.number("RateLimit-Limit") != limit || a.number("RateLimit-Remaining") != remaining {
			t.Errorf("%s: header %v, want %d of %d", a.Request, a.Header, remaining, limit)
		}
	}
	want(k.send("GET /invoices", bearer(first)).ok(), 5, 4)
	want(k.send("GET /invoices", bearer(second)).ok(), 7, 6)
	want(k.send("GET /invoices/inv_x", bearer(first)), 2, 1)
	want(k.send("GET /invoices/inv_x", bearer(first)), 2, 0)
	want(k.send("GET /invoices/inv_x", bearer(first)).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code), 2, 0)
	want(k.send("GET /invoices", bearer(first)).ok(), 5, 0) // the route's calls counted here too
	want(k.send("GET /invoices", bearer(first)).refused(http.StatusTooManyRequests, codes.AppRateLimited.Code), 5, 0)
	want(k.send("GET /nothing", bearer(second)), 7, 5)
	if last := seen[len(seen)-1]; last.AppID != k.app.ID || last.BusinessID != "biz_2" || last.UserID == "" || last.ClientID == "" || last.Pattern != "" {
		t.Errorf("the last call was seen as %+v", last)
	}
}
