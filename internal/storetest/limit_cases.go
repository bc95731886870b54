package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
)

// limitCases are the store of the windows of rate limits.
var limitCases = []testCase[partnerkit.Store]{
	{"LIM-08 Windows come back in order, each with its greatest count", func(t *testing.T, e partnerkit.Store) {
		window := func(key byte, length time.Duration, ends time.Time, count int64) ratelimit.WindowCount {
			return ratelimit.WindowCount{Key: ratelimit.Key{key, 0, 0xff}, Length: length, Ends: ends, Count: count}
		}
		later := noon.Add(time.Hour)
		a, b, c := window(1, time.Hour, later, 5), window(1, 24*time.Hour, later, 6), window(0xff, time.Hour, later, 7)
		old := window(2, time.Hour, noon, 8)
		must(t, e.SaveLimitWindows(t.Context(), []ratelimit.WindowCount{c, old, b, a}))
		must(t, e.SaveLimitWindows(t.Context(), []ratelimit.WindowCount{window(1, time.Hour, later, 4)})) // came late
		must(t, e.SaveLimitWindows(t.Context(), []ratelimit.WindowCount{window(0xff, time.Hour, later, 9)}))
		c.Count = 9
		list := func(q ratelimit.WindowQuery) []ratelimit.WindowCount {
			return get[[]ratelimit.WindowCount](t)(e.LimitWindows(t.Context(), q))
		}
		for name, test := range map[string]struct {
			q    ratelimit.WindowQuery
			want []ratelimit.WindowCount
		}{
			"all":          {ratelimit.WindowQuery{Limit: 10}, []ratelimit.WindowCount{a, b, old, c}},
			"live":         {ratelimit.WindowQuery{EndsAfter: noon, Limit: 10}, []ratelimit.WindowCount{a, b, c}},
			"a page":       {ratelimit.WindowQuery{EndsAfter: noon, Limit: 2}, []ratelimit.WindowCount{a, b}},
			"another page": {ratelimit.WindowQuery{EndsAfter: noon, After: b, Limit: 2}, []ratelimit.WindowCount{c}},
		} {
			if diff := cmp.Diff(test.want, list(test.q)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
		if n := get[int](t)(purge(e, storage.PurgeLimitWindows)(t.Context(), noon.Add(time.Millisecond), 10)); n != 1 {
			t.Errorf("purged %d", n)
		}
		if diff := cmp.Diff([]ratelimit.WindowCount{a, b, c}, list(ratelimit.WindowQuery{Limit: 10})); diff != "" {
			t.Errorf("purged (-want +got)\n%s", diff)
		}
	}},
	{"LIM-08 Race of nodes that save windows", func(t *testing.T, e partnerkit.Store) {
		const nodes = 8
		testdb.Race(nodes, func(i int) {
			var windows []ratelimit.WindowCount
			for key := range 20 {
				windows = append(windows, ratelimit.WindowCount{Key: ratelimit.Key{byte((key + i) % 20)}, Length: time.Hour, Ends: noon, Count: int64(i + 1)})
			}
			if err := e.SaveLimitWindows(t.Context(), windows); err != nil {
				t.Error(err)
			}
		})
		for _, w := range get[[]ratelimit.WindowCount](t)(e.LimitWindows(t.Context(), ratelimit.WindowQuery{Limit: 100})) {
			if w.Count != nodes {
				t.Errorf("window %v has %d", w.Key[0], w.Count)
			}
		}
	}},
}

// limitOperations are the operations on the windows of rate limits.
var limitOperations = []Operation{
	{Name: "LIM-08 Save windows", Of: "guard", IsAlone: true, Prepare: func(_ testing.TB, s *Scene) Act {
		windows := []ratelimit.WindowCount{
			{Key: ratelimit.NewKey("first", s.app.ID), Length: time.Hour, Ends: noon, Count: 5},
			{Key: ratelimit.NewKey("second", s.app.ID), Length: 24 * time.Hour, Ends: noon, Count: 6},
		}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.SaveLimitWindows(ctx, windows))
			},
			Check: func(t testing.TB, happened bool) {
				found := map[ratelimit.Key]int64{}
				for _, w := range get[[]ratelimit.WindowCount](t)(s.LimitWindows(t.Context(), ratelimit.WindowQuery{Limit: 10_000})) {
					found[w.Key] = w.Count
				}
				for _, w := range windows {
					if count := found[w.Key]; (count == w.Count) != happened || count != 0 && !happened {
						t.Errorf("happened %v: %d of %d", happened, count, w.Count)
					}
				}
			},
		}
	}},
}
