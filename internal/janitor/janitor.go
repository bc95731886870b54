// Package janitor runs the periodic work of a feature, most of which deletes old records.
package janitor

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/storage"
)

// BatchSize is how many records are deleted in one transaction: few, so that no request waits
// for a purge.
const BatchSize = 200

// Janitor does the tasks of a feature at regular times. Any number of nodes may run it on one
// database.
type Janitor struct {
	Feature string // begins the log messages
	Every   time.Duration
	Clock   clock.Clock
	Logger  *slog.Logger
	Tasks   func(now time.Time) []Task
}

// Task is a piece of periodic work.
type Task struct {
	Name string // names the task in the log: "events: purge failed"
	// Do does a batch of the work and reports whether more of it is left.
	Do func(ctx context.Context) (more bool, err error)
}

// Store deletes old records, as the store of every feature does.
type Store interface {
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Purge is the task that deletes the records that p selects, until a batch is not full. Its Limit
// is [BatchSize].
func Purge(store Store, p storage.Purge) Task {
	p.Limit = BatchSize
	return Task{"purge", func(ctx context.Context) (bool, error) {
		n, err := store.Purge(ctx, p)
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.Kind, err)
		}
		return n >= p.Limit, nil
	}}
}

// Run does the tasks at once and then each time the clock shows that Every has passed, until
// ctx ends.
func (j Janitor) Run(ctx context.Context) {
	for ctx.Err() == nil {
		now := j.Clock.Now()
		j.Tidy(ctx, now)
		_ = clock.Wait(ctx, j.Clock, now.Add(j.Every)) // its error is the end of ctx
	}
}

// Tidy does each task until nothing is left of it or ctx ends. A task that fails is logged, and
// done again at the next turn; the other tasks are done all the same.
func (j Janitor) Tidy(ctx context.Context, now time.Time) {
	for _, task := range j.Tasks(now) {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = task.Do(ctx); err != nil && ctx.Err() == nil {
				j.Logger.ErrorContext(ctx, j.Feature+": "+task.Name+" failed", "err", err)
			}
			more = more && err == nil
		}
	}
}
