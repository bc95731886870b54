package pages_test

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/console/pages"
)

// Pages write the host's numbers in the largest unit that fits.
func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		30 * 24 * time.Hour: "30 days", 24 * time.Hour: "24 hours", 36 * time.Hour: "36 hours", 90 * time.Minute: "90 minutes", time.Hour: "1 hour",
	} {
		if got := pages.Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}
