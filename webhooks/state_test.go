package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
)

// DLV-01: the table of SPEC, row by row: what an attempt makes of a delivery.
func TestNext(t *testing.T) {
	t.Parallel()
	type delivery = partner.Delivery
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	queued := func(attempts int) delivery {
		status := partner.DeliveryRetrying
		if attempts == 0 {
			status = partner.DeliveryQueued
		}
		return delivery{ID: "dlv_1", Body: []byte("{}"), Status: status, Attempts: attempts, NextAttemptAt: now.Add(-time.Second), CreatedAt: now.Add(-time.Hour)}
	}
	for before, pause := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 0} {
		want := queued(before)
		want.Attempts, want.Status, want.NextAttemptAt = before+1, partner.DeliveryDelivered, time.Time{}
		if diff := cmp.Diff(want, webhooks.Next(queued(before), true, now)); diff != "" {
			t.Errorf("success after %d attempts (-want +got):\n%s", before, diff)
		}
		want.Status, want.NextAttemptAt = partner.DeliveryRetrying, now.Add(pause)
		if before == 5 {
			want.Status, want.NextAttemptAt = partner.DeliveryFailed, time.Time{}
		}
		if diff := cmp.Diff(want, webhooks.Next(queued(before), false, now)); diff != "" {
			t.Errorf("failure after %d attempts (-want +got):\n%s", before, diff)
		}
	}
}
