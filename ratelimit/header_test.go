package ratelimit_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/ratelimit"
)

// TestRetryAfter proves that OLIM-04's N is at least 1 and rounded up.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		res  ratelimit.Result
		want int
	}{
		{"allowed", ratelimit.Result{Allowed: true}, 0},
		{"the zero Result", ratelimit.Result{}, 1},
		{"1 ms", ratelimit.Result{Wait: time.Millisecond}, 1},
		{"1 s", ratelimit.Result{Wait: time.Second}, 1},
		{"1 s and 1 ms", ratelimit.Result{Wait: 1001 * time.Millisecond}, 2},
		{"59.999 s", ratelimit.Result{Wait: 59_999 * time.Millisecond}, 60},
		{"60 s", ratelimit.Result{Wait: time.Minute}, 60},
	}
	for _, tt := range tests {
		if got := tt.res.RetryAfter(); got != tt.want {
			t.Errorf("%s: RetryAfter = %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestWriteHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		res  ratelimit.Result
		want http.Header
	}{
		{"allowed without counters", ratelimit.Result{Allowed: true}, http.Header{}},
		{
			"allowed",
			ratelimit.Result{Allowed: true, Counters: [ratelimit.MaxCounters]ratelimit.Quota{
				{Allowed: true, Limit: 300, Remaining: 299, Reset: 1001 * time.Millisecond},
			}},
			http.Header{"Ratelimit-Limit": {"300"}, "Ratelimit-Remaining": {"299"}, "Ratelimit-Reset": {"2"}},
		},
		{
			"refused by another counter",
			ratelimit.Result{Wait: 30 * time.Second, Counters: [ratelimit.MaxCounters]ratelimit.Quota{
				{Allowed: true, Limit: 300, Remaining: 0, Reset: time.Millisecond},
			}},
			http.Header{
				"Ratelimit-Limit": {"300"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"1"},
				"Retry-After": {"30"},
			},
		},
	}
	for _, tt := range tests {
		got := http.Header{}
		tt.res.Counters[0].WriteHeader(got)
		tt.res.WriteHeader(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		got, want any
	}{
		{"PerMinute", ratelimit.PerMinute(300), ratelimit.Limit{Count: 300, Window: time.Minute}},
		{"LOCK-01", ratelimit.DefaultLimits().AuthFailures, ratelimit.LockoutRule{MoreThan: 30, Within: time.Minute, For: time.Minute}},
		{"LOCK-02", ratelimit.DefaultLimits().AuthFailuresPerIP, ratelimit.LockoutRule{MoreThan: 100, Within: time.Minute, For: time.Minute}},
		{"user codes", ratelimit.DefaultLimits().UserCodes, ratelimit.LockoutRule{MoreThan: 19, Within: 10 * time.Minute, For: 10 * time.Minute}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
