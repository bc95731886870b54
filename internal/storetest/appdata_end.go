package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/partner"
)

// redact records what is due after the installation has ended.
func (f *dataFixture) redact(ctx context.Context) error { return f.redactOn(ctx, f) }

func (f *dataFixture) redactOn(ctx context.Context, on partnerkit.Store) error {
	n, err := on.RecordRedactions(ctx, noon.Add(lifetimes.RedactDelay), 10, func(partner.Installation) []partner.Event {
		return f.event(events.BusinessRedact, noon)
	})
	return outcome(err, n == 1)
}

// dataEndCases: what has ended is out of sight at once, and goes in batches.
var dataEndCases = []testCase[partnerkit.Store]{
	// INST-05, APD-08: an app that is reinstalled in time finds all its values.
	{"Values outlive an installation that is followed by another", func(t *testing.T, e partnerkit.Store) {
		f := newData(t, e)
		f.put(t, "inv_1", `"kept"`)
		must(t, f.end(t, partner.InstallationRevoked))
		f.code(t)
		must(t, f.redact(t.Context()))
		if n := f.recorded(t, events.BusinessRedact); n != 0 || len(f.seen(t, "inv_1")) != 1 {
			t.Errorf("%d events, %d values", n, len(f.seen(t, "inv_1")))
		}
	}},
}
