package webhooks_test

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-06: a business is served after the others while it has more than its fair share of
// the recent deliveries.
func TestUsage_DLV06(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	u := webhooks.NewUsage()
	if u.IsAboveShare("busy") {
		t.Error("a business without deliveries is above its share")
	}
	add := func(business string, n int, at time.Time) {
		for range n {
			u.Add(business, at)
		}
	}
	add("busy", 100, start)
	if !u.IsAboveShare("busy") || u.IsAboveShare("quiet") {
		t.Error("a business that is alone is not above its share, or one without deliveries is")
	}
	add("quiet", 10, start)
	add("other", 20, start)
	for business, want := range map[string]bool{"busy": true, "quiet": false, "other": false} {
		if got := u.IsAboveShare(business); got != want {
			t.Errorf("%s is above its share: %v, want %v", business, got, want)
		}
	}
	add("quiet", 1, start.Add(1500*time.Millisecond))
	if !u.IsAboveShare("busy") {
		t.Error("the deliveries of the window before do not count")
	}
	add("quiet", 1, start.Add(3*time.Second))
	if u.IsAboveShare("busy") {
		t.Error("old deliveries count")
	}
	add("quiet", 1, start.Add(time.Minute))
	add("busy", 1, start.Add(time.Minute))
	add("third", 1, start.Add(time.Minute))
	add("fourth", 1, start.Add(time.Minute))
	if u.IsAboveShare("busy") || u.IsAboveShare("quiet") {
		t.Error("a business with as much as the others is above its share")
	}
}
