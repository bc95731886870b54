package events_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// EVT-06: events older than 30 days are removed once an hour, in batches. An error
// is logged, and the next hour's run tries again.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := testdb.NewEnv(t, testdb.SQLite)
		now, text := clock.NewManual(harness.Start), &strings.Builder{}
		log, err := events.New(events.Config{Store: store, Clock: now, Logger: slog.New(slog.NewTextHandler(text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		drafts := slices.Repeat([]events.Draft{{Type: "invoice.paid", BusinessID: "biz_1", Data: struct{}{}}}, 450)
		for _, later := range []time.Duration{0, 2 * time.Hour} {
			now.Advance(later)
			if _, err := log.Record(t.Context(), drafts...); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- log.Run(ctx) }()
		left := func() int {
			synctest.Wait()
			if _, err := store.NumberEvents(context.WithoutCancel(t.Context()), "biz_1"); err != nil {
				t.Fatal(err)
			}
			found, err := store.Events(t.Context(), eventstore.Query{BusinessID: "biz_1", Types: []string{"invoice.paid"}, Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		now.Advance(events.Retention - 2*time.Hour) // the first ones are as old as that now
		if n := left(); n != 900 {
			t.Errorf("%d left after 30 days", n)
		}
		now.Advance(59 * time.Minute)
		if n := left(); n != 900 {
			t.Errorf("%d left within the hour", n)
		}
		store.Tap.Arm(testdb.FaultError, 1)
		now.Advance(time.Minute)
		if n := left(); n != 900 || strings.Count(text.String(), "events: purge failed") != 1 {
			t.Errorf("%d left after a fault, log %s", n, text)
		}
		store.Tap.Reset()
		now.Advance(time.Hour)
		if n := left(); n != 450 {
			t.Errorf("%d left an hour later", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
