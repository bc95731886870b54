package analytics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// A store that is down loses no count, and counts none twice when it is back.
func TestFailedFlushKeepsCounts(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.down.Store(true)
	for range 3 {
		r.call("app_1")
		if err := r.Flush(t.Context()); !errors.Is(err, errDown) {
			t.Fatalf("Flush = %v", err)
		}
	}
	if n := r.observed(t, "buckets"); n != 2 { // one on its way, one for the rest
		t.Errorf("%d buckets for one app and hour", n)
	}
	if _, err := r.Report(t.Context(), "app_1", 1); !errors.Is(err, errDown) {
		t.Errorf("a report that lacks calls: %v", err)
	}
	r.down.Store(false)
	r.call("app_1")
	for range 2 {
		r.flush(t)
		if n := r.storedCalls(t, "app_1"); n != 4 {
			t.Errorf("%d calls, want 4", n)
		}
	}
}

// A commit whose response was lost is not repeated: what the store has counts once.
func TestLostResponseCountsOnce(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.call("app_1")
	r.env.Tap.Arm(testdb.FaultLostCommit, 1)
	if err := r.Flush(t.Context()); !errors.Is(err, testdb.ErrInjected) {
		t.Fatalf("Flush = %v", err)
	}
	r.call("app_1")
	r.flush(t)
	if n := r.storedCalls(t, "app_1"); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// Many buckets are written in several transactions. After an error in one of them, the
// buckets that were not written are kept.
func TestBatches(t *testing.T) {
	t.Parallel()
	const apps = 450
	r := newHarness(t, analytics.Config{})
	for i := range apps {
		r.call(fmt.Sprint("app_", i))
	}
	r.env.Tap.Arm(testdb.FaultError, 600) // in the second batch
	if err := r.Flush(t.Context()); !errors.Is(err, testdb.ErrInjected) {
		t.Fatalf("Flush = %v", err)
	}
	if n := r.observed(t, "buckets"); n != apps-200 {
		t.Errorf("%d buckets wait after the first batch", n)
	}
	r.env.Tap.Reset()
	r.flush(t)
	if _, commits := r.env.Tap.Counts(); commits != 6 { // as many as the groups, three of each app, need
		t.Errorf("%d commits for the rest", commits)
	}
	for i := range apps {
		if n := r.storedCalls(t, fmt.Sprint("app_", i)); n != 1 {
			t.Errorf("app_%d has %d calls", i, n)
		}
	}
}

func TestFlushOfNothingWritesNothing(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.env.Tap.Reset()
	r.flush(t)
	if statements, _ := r.env.Tap.Counts(); statements != 0 {
		t.Errorf("%d statements", statements)
	}
}

// Memory has a limit: beyond it, calls without a bucket are dropped and reported, and
// calls with a bucket are still counted.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const room, apps = 10, 25
	r := newHarness(t, analytics.Config{MaxBuckets: room})
	r.down.Store(true)
	for range 2 { // the second time what was taken for a flush counts too
		for i := range apps {
			r.call(fmt.Sprint("app_", i))
		}
		if err := r.Flush(t.Context()); err == nil {
			t.Fatal("no error")
		}
		if n := r.observed(t, "buckets"); n != room {
			t.Errorf("%d buckets, room for %d", n, room)
		}
	}
	if n := r.observed(t, "dropped"); n != apps-room+apps {
		t.Errorf("%d calls dropped", n)
	}
	if n := r.log.Count("calls dropped"); n != 2 {
		t.Errorf("%d lines in the log, want one a flush", n)
	}

	r.down.Store(false)
	r.flush(t)
	for i := range room {
		app := fmt.Sprint("app_", i)
		r.call(app)
		r.call(app)
	}
	r.call("app_11") // no room
	r.flush(t)
	for i := range apps {
		want := int64(0)
		if i < room {
			want = 3
		}
		if n := r.storedCalls(t, fmt.Sprint("app_", i)); n != want {
			t.Errorf("app_%d has %d calls, want %d", i, n, want)
		}
	}
	if n := r.observed(t, "dropped"); n != apps-room+apps+1 {
		t.Errorf("%d calls dropped", n)
	}
}

// An id that the database rejects does not delay the counts of other apps.
func TestUnstorableApp(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.call("app_\x00")
	r.call("app_\xff")
	r.call("app_1")
	r.flush(t)
	if n, dropped := r.storedCalls(t, "app_1"), r.observed(t, "dropped"); n != 1 || dropped != 2 {
		t.Errorf("%d calls, %d dropped", n, dropped)
	}
}

// A flush waits neither for another one nor for the database beyond its context.
func TestFlushHonoursItsContext(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.call("app_1")
	tx, err := r.env.BeginTx(t.Context()) // blocks all other writes
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { first <- r.Flush(ctx) }()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.Flush(ended); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "flush") {
		t.Errorf("Flush under an ended context = %v", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("Flush whose context ended = %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	r.flush(t)
	if n := r.storedCalls(t, "app_1"); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// Counting continues while a flush hangs.
func TestCountDoesNotWaitForAFlush(t *testing.T) {
	t.Parallel()
	r := newHarness(t, analytics.Config{})
	r.call("app_1")
	tx, err := r.env.BeginTx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	flushed := make(chan error, 1)
	go func() { flushed <- r.Flush(t.Context()) }()
	for range 1000 {
		r.Count(analytics.Call{AppID: "app_1", At: noon, Status: 200, Took: time.Millisecond})
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-flushed; err != nil {
		t.Fatal(err)
	}
	r.flush(t)
	if n := r.storedCalls(t, "app_1"); n != 1001 {
		t.Errorf("%d calls", n)
	}
}
