package limittest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// testPeek proves that a read counts nothing and returns what was counted in the current
// window (CON-11). A limiter that is not a ratelimit.Peeker is not tested.
func testPeek(t *testing.T, limiter ratelimit.Limiter) {
	peeker, ok := limiter.(ratelimit.Peeker)
	if !ok {
		t.Skip("the limiter is no ratelimit.Peeker")
	}
	three := ratelimit.Counter{Key: ratelimit.NewKey("peek three"), Limit: ratelimit.PerMinute(3)}
	longer := ratelimit.Counter{Key: three.Key, Limit: ratelimit.Limit{Count: 3, Window: time.Hour}}
	unused := ratelimit.Counter{Key: ratelimit.NewKey("peek unused"), Limit: ratelimit.PerMinute(5)}
	start := windowStart(three)
	left := func(c ratelimit.Counter, now time.Time) time.Duration { return windowAfter(c, now).Sub(now) }
	expect := func(at time.Duration, remaining int, isAllowed bool) {
		t.Helper()
		now := start.Add(at)
		want := []ratelimit.Quota{
			{Allowed: isAllowed, Limit: 3, Remaining: remaining, Reset: left(three, now)},
			{Allowed: true, Limit: 5, Remaining: 5, Reset: left(unused, now)},
			{Allowed: true, Limit: 3, Remaining: 3, Reset: left(longer, now)},
		}
		for range 2 { // the second time shows that the first counted nothing
			got, err := peeker.Peek(t.Context(), now, []ratelimit.Counter{three, unused, longer})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Peek at %v: %v (-want +got)\n%s", at, err, diff)
			}
		}
	}
	check := func(times int) {
		for range times {
			if _, err := limiter.Check(t.Context(), start, counting(three)); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(0, 3, true)
	check(2)
	expect(0, 1, true)
	check(2)
	expect(last, 0, false)
	expect(last+ms, 3, true)
	if quotas, err := peeker.Peek(t.Context(), start, nil); err != nil || len(quotas) != 0 {
		t.Errorf("Peek of nothing = %v, %v", quotas, err)
	}
	if _, err := peeker.Peek(t.Context(), start, []ratelimit.Counter{{}}); !errors.Is(err, ratelimit.ErrInvalid) {
		t.Errorf("Peek of no limit: %v, want ErrInvalid", err)
	}
}
