package analytics_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
)

// Counting a call in a bucket that is there allocates nothing.
func TestCountAllocatesNothing(t *testing.T) {
	r := newHarness(t, analytics.Config{})
	r.call("app_1")
	if got := testing.AllocsPerRun(1000, func() { r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: time.Millisecond}) }); got != 0 {
		t.Errorf("%v allocations a call, want 0", got)
	}
}

// BenchmarkCount is what a call pays: one app that makes them all, and many.
func BenchmarkCount(b *testing.B) {
	for _, apps := range []int{1, 1000} {
		b.Run(fmt.Sprint(apps, " apps"), func(b *testing.B) {
			r := newHarness(b, analytics.Config{})
			ids := make([]string, apps)
			for i := range ids {
				ids[i] = fmt.Sprintf("app_%026d", i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					r.Count(analytics.Call{AppID: ids[i%apps], At: noon, Status: 200, Took: 3 * time.Millisecond})
				}
			})
		})
	}
}

// BenchmarkFlush is a thousand apps on SQLite.
func BenchmarkFlush(b *testing.B) {
	r := newHarness(b, analytics.Config{})
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			r.call(fmt.Sprintf("app_%026d", i))
		}
		r.flush(b)
	}
}
