package janitor_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// records are what a store has of each kind. Its failing kind cannot be purged.
type records struct {
	left    map[storage.PurgeKind]int
	failing storage.PurgeKind
	deleted []int
}

var errDown = errors.New("the store is down")

func (r *records) Purge(_ context.Context, p storage.Purge) (int, error) {
	if p.Kind == r.failing {
		return 0, errDown
	}
	n := min(r.left[p.Kind], p.Limit)
	r.left[p.Kind] -= n
	r.deleted = append(r.deleted, n)
	return n, nil
}

func newJanitor(r *records, c clock.Clock, log *strings.Builder) janitor.Janitor {
	return janitor.Janitor{
		Feature: "events", Every: time.Hour, Clock: c, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Tasks: func(time.Time) []janitor.Task {
			return []janitor.Task{janitor.Purge(r, storage.Purge{Kind: storage.PurgeEvents}), janitor.Purge(r, storage.Purge{Kind: storage.PurgeHealth})}
		},
	}
}

// Run tidies at once and then every hour of the clock, in batches; a task that fails is logged
// once a turn, delays no other task and is done at the next turn.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now, log := clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)), &strings.Builder{}
		r := &records{left: map[storage.PurgeKind]int{storage.PurgeEvents: 450, storage.PurgeHealth: 1}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); newJanitor(r, now, log).Run(ctx) }()
		turn := func(after time.Duration, want ...int) {
			t.Helper()
			r.deleted = nil
			now.Advance(after)
			synctest.Wait()
			if !slices.Equal(r.deleted, want) {
				t.Errorf("deleted %v, want %v", r.deleted, want)
			}
		}
		synctest.Wait()
		if want := []int{200, 200, 50, 1}; !slices.Equal(r.deleted, want) {
			t.Errorf("deleted %v at first, want %v", r.deleted, want)
		}
		r.left[storage.PurgeEvents], r.left[storage.PurgeHealth] = 200, 7
		turn(59 * time.Minute)
		r.failing = storage.PurgeEvents
		turn(time.Minute, 7)
		if n := strings.Count(log.String(), `msg="events: purge failed" err="events: the store is down"`); n != 1 {
			t.Errorf("the log has %d lines of the failed purge: %s", n, log)
		}
		r.failing = ""
		turn(time.Hour, 200, 0, 0)
		cancel()
		<-done
	})
}

// The end of the context ends a turn between two batches. It is not logged as a failure.
func TestTidyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	batches, log := 0, &strings.Builder{}
	janitor.Janitor{
		Feature: "events", Logger: slog.New(slog.NewTextHandler(log, nil)),
		Tasks: func(time.Time) []janitor.Task {
			return []janitor.Task{
				{Name: "purge", Do: func(ctx context.Context) (bool, error) {
					if batches++; batches == 3 {
						cancel()
					}
					return true, ctx.Err()
				}},
				{Name: "rotation", Do: func(context.Context) (bool, error) {
					t.Error("a task was begun after the end")
					return false, nil
				}},
			}
		},
	}.Tidy(ctx, time.Time{})
	if batches != 3 || log.String() != "" {
		t.Errorf("%d batches, log %s", batches, log)
	}
}
