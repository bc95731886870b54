// Package longwindows keeps the counts of long rate limits over a restart.
package longwindows

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/internal/janitor"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/storage"
)

// Store is what guard.WindowStore is.
type Store interface {
	SaveLimitWindows(ctx context.Context, windows []ratelimit.WindowCount) error
	LimitWindows(ctx context.Context, q ratelimit.WindowQuery) ([]ratelimit.WindowCount, error)
	Purge(ctx context.Context, p storage.Purge) (int, error)
}

// Config is the configuration of [Windows]. Store and Limiter are required.
type Config struct {
	Store   Store
	Limiter *ratelimit.Memory
	Clock   clock.Clock  // nil: the real time
	Logger  *slog.Logger // nil: discards
}

const (
	saveWindowsEvery  = 30 * time.Second
	purgeWindowsEvery = time.Hour
	windowsTimeout    = 10 * time.Second // of one call to the store, in real time
)

// Windows keeps the windows of a limiter in memory that are an hour or longer: a
// process that starts again goes on with their counts, to within the last minute's calls if it
// was killed. It is for a single node; several nodes share their counts through Redis. While no
// limit has a long window nothing is written.
type Windows struct {
	cfg     Config
	loaded  bool                               // all that the store had
	after   ratelimit.WindowCount              // how far it was loaded
	unsaved map[windowID]ratelimit.WindowCount // not known to be stored
}

// windowID names a window.
type windowID struct {
	key    ratelimit.Key
	length time.Duration
	ends   int64
}

// New returns windows that [Windows.Run] keeps.
func New(cfg Config) *Windows {
	cfg.Clock = clock.From(cfg.Clock)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Windows{cfg: cfg, unsaved: make(map[windowID]ratelimit.WindowCount)}
}

// Run adds the counts of the process before to the limiter, saves those of this one twice a minute
// and once more when ctx has ended, and deletes those of windows that have ended. It returns nil
// after that, or the error of the last save. A call to the store that fails is logged and
// repeated at the next turn.
func (w *Windows) Run(ctx context.Context) error {
	var purges sync.WaitGroup
	purges.Go(func() { w.janitor().Run(ctx) })
	defer purges.Wait()
	for ctx.Err() == nil {
		now := w.cfg.Clock.Now()
		if err := w.keep(ctx, now); err != nil && ctx.Err() == nil {
			w.cfg.Logger.ErrorContext(ctx, "limits: keeping the windows of limits failed", "err", err)
		}
		_ = clock.Wait(ctx, w.cfg.Clock, now.Add(saveWindowsEvery)) // its error is the end of ctx
	}
	own := context.WithoutCancel(ctx)
	if err := w.save(own, w.cfg.Clock.Now()); err != nil {
		return fmt.Errorf("save the windows of limits: %w", err)
	}
	return nil
}

// keep saves only what includes the counts before: until they are loaded the stored ones are
// right.
func (w *Windows) keep(ctx context.Context, now time.Time) error {
	if !w.loaded {
		if err := w.load(ctx, now); err != nil {
			return err
		}
	}
	return w.save(ctx, now)
}

// load goes on where it failed, so that it adds nothing twice.
func (w *Windows) load(ctx context.Context, now time.Time) error {
	for !w.loaded {
		limited, cancel := context.WithTimeout(ctx, windowsTimeout)
		found, err := w.cfg.Store.LimitWindows(limited, ratelimit.WindowQuery{EndsAfter: now, After: w.after, Limit: janitor.BatchSize})
		cancel()
		if err != nil {
			return err
		}
		w.cfg.Limiter.RestoreWindows(now, found)
		if w.loaded = len(found) < janitor.BatchSize; !w.loaded {
			w.after = found[len(found)-1]
		}
	}
	return nil
}

// save stores what has changed, and what an earlier save could not.
func (w *Windows) save(ctx context.Context, now time.Time) error {
	for _, one := range w.cfg.Limiter.ChangedWindows(now) {
		w.unsaved[windowID{one.Key, one.Length, one.Ends.UnixMilli()}] = one
	}
	var due []ratelimit.WindowCount
	for id, one := range w.unsaved {
		if !one.Ends.After(now) {
			delete(w.unsaved, id)
			continue
		}
		due = append(due, one)
	}
	for batch := range slices.Chunk(due, janitor.BatchSize) {
		limited, cancel := context.WithTimeout(ctx, windowsTimeout)
		err := w.cfg.Store.SaveLimitWindows(limited, batch)
		cancel()
		if err != nil {
			return err
		}
		for _, one := range batch {
			delete(w.unsaved, windowID{one.Key, one.Length, one.Ends.UnixMilli()})
		}
	}
	return nil
}

func (w *Windows) janitor() janitor.Janitor {
	return janitor.Janitor{
		Feature: "limits", Every: purgeWindowsEvery, Clock: w.cfg.Clock, Logger: w.cfg.Logger,
		Tasks: func(now time.Time) []janitor.Task {
			return []janitor.Task{janitor.Purge(w.cfg.Store, storage.Purge{Kind: storage.PurgeLimitWindows, Before: now})}
		},
	}
}
