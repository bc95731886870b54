package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// sqlCallCases need what only sqlstore has.
var sqlCallCases = []testCase[*Env]{
	{"Calls under faults", func(t *testing.T, e *Env) {
		var number, want int64
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { number++ },
			Act: func(ctx context.Context) error {
				return e.AddCalls(ctx, batch("w", number, bucket("app_1", noon), bucket("app_2", noon)))
			},
			Check: func(t *testing.T, happened bool) {
				if happened {
					want = number
				}
				var one, two []callstore.Bucket
				if want > 0 {
					one, two = []callstore.Bucket{times(want, bucket("app_1", noon))}, []callstore.Bucket{times(want, bucket("app_2", noon))}
				}
				wantCalls(t, e, "app_1", one...)
				wantCalls(t, e, "app_2", two...)
			},
		})
	}},
	{"Uses under faults", func(t *testing.T, e *Env) {
		number, now, want := int64(0), noon, map[string]time.Time{}
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { number, now = number+1, now.Add(time.Second) },
			Act: func(ctx context.Context) error {
				return e.AddCalls(ctx, used(number, map[string]time.Time{"inst_1": now, "inst_2": now}))
			},
			Check: func(t *testing.T, happened bool) {
				if happened {
					want = map[string]time.Time{"inst_1": now, "inst_2": now}
				}
				if diff := cmp.Diff(want, get[map[string]time.Time](t)(e.LastUses(t.Context(), []string{"inst_1", "inst_2"}))); diff != "" {
					t.Error(diff)
				}
			},
		})
	}},
	// After any failure of a flush the next flush corrects the counts, even if the
	// commit happened and its reply was lost.
	{"A counter under faults counts exactly once", func(t *testing.T, e *Env) {
		counter, want := newCounter(t, e), int64(0)
		for _, fault := range []testdb.Fault{testdb.FaultError, testdb.FaultCancel, testdb.FaultLostCommit} {
			for place := 1; place <= 4; place++ {
				for _, app := range []string{"app_1", "app_2"} {
					counter.Count(analytics.Call{AppID: app, At: noon, Status: 200})
				}
				want++
				ctx, cancel := e.Tap.Cancellable(t.Context())
				e.Tap.Arm(fault, place)
				err := counter.Flush(ctx)
				if struck := e.Tap.Struck(); struck && fault != testdb.FaultCancel && err == nil {
					t.Errorf("%s at %d: no error", fault, place)
				}
				cancel()
				e.Tap.Reset()
				must(t, counter.Flush(t.Context()))
				wantCalls(t, e, "app_1", times(want, bucket("app_1", noon)))
				wantCalls(t, e, "app_2", times(want, bucket("app_2", noon)))
			}
		}
	}},
}
